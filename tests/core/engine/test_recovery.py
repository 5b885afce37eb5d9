"""What is decided about a thread that is nearly full or too long."""

from __future__ import annotations

import pytest

from upbeat.core.engine.recovery import retry_delay_seconds, should_compact


@pytest.mark.parametrize(
    ("tokens", "window", "wanted"), [(779, 1000, False), (780, 1000, True), (999, 1000, True), (5000, 0, False)]
)
def test_when_a_thread_is_summarised_before_its_next_turn(tokens: int, window: int, wanted: bool) -> None:
    """From 78 percent on, and never where the window is not known."""
    assert wanted == should_compact(tokens, window)


def test_pauses() -> None:
    """Two seconds, then four, and no third try."""
    assert [None, 2.0, 4.0, None] == [retry_delay_seconds(attempt) for attempt in (-1, 0, 1, 2)]
