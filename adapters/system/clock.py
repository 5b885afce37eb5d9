"""Implement the clock port: time and random numbers of the system."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime


class SystemClock:
    """Implements ``core.engine.ports.Clock``."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def nonce(self) -> str:
        return os.urandom(6).hex()
