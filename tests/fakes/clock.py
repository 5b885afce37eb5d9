"""A clock that stands still until it is told to go on."""

from __future__ import annotations

from datetime import UTC, datetime


class FakeClock:
    """Implements ``ports.Clock``: always 2026-01-02 03:04:05.678 UTC, the same nonce, seconds by ``advance``."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> datetime:
        return datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds

    def nonce(self) -> str:
        return "0123456789ab"

    def advance(self, seconds: float) -> None:
        self.seconds += seconds
