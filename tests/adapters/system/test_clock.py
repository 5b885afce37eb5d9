"""The system clock gives times in UTC, and random numbers."""

from __future__ import annotations

from datetime import UTC

from upbeat.adapters.system.clock import SystemClock


def test_the_time_is_in_utc() -> None:
    """The time has the time zone UTC, and the monotonic clock never goes back."""
    clock = SystemClock()

    assert UTC is clock.now().tzinfo
    assert clock.monotonic() <= clock.monotonic()


def test_numbers_are_random() -> None:
    """Two numbers differ, and have twelve hexadecimal digits."""
    first, second = SystemClock().nonce(), SystemClock().nonce()

    assert first != second
    assert 12 == len(first) == len(f"{int(first, 16):012x}")
