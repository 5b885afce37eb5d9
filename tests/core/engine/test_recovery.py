"""Recovery of threads that are nearly full or too long."""

from __future__ import annotations

import pytest

from upbeat.core.engine.recovery import retry_delay_seconds, should_compact


@pytest.mark.parametrize(
    ("tokens", "window", "expected"), [(779, 1000, False), (780, 1000, True), (999, 1000, True), (5000, 0, False)]
)
def test_should_compact(tokens: int, window: int, expected: bool) -> None:
    """A thread is summarized from 78 percent of its window on, and never if the window is unknown."""
    assert expected == should_compact(tokens, window)


def test_retry_delays() -> None:
    """The delays are two and four seconds; there is no third retry."""
    assert [None, 2.0, 4.0, None] == [retry_delay_seconds(attempt) for attempt in (-1, 0, 1, 2)]
