"""Which prompts ask to think hard, and which effort they get."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups

from upbeat.core.prompt.effort import choose_effort, requests_hard_thinking

CASES = read_groups(Path(__file__).with_name("effort_cases.tsv"))


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_requests_hard_thinking(answer: str) -> None:
    """The user's own words ask, in three scripts; words in code and quotes, negated and unrelated ones do not."""
    assert [] == [prompt for (prompt,) in CASES[answer] if requests_hard_thinking(prompt) != (answer == "yes")]
    assert not requests_hard_thinking("")


@pytest.mark.parametrize(
    ("default", "is_enabled", "effort"),
    [
        *((low, True, "high") for low in ("", "low", "high")),
        *((high, True, high) for high in ("xhigh", "ultra", "new-word")),
        *((same, False, same) for same in ("", "low")),
    ],
)
def test_an_effort_is_never_lowered(default: str, is_enabled: bool, effort: str) -> None:
    """The effort is at least high; a higher or unknown one stays; switched off, nothing changes."""
    assert (effort, default) == (
        choose_effort("ultrathink", default, is_enabled=is_enabled),
        choose_effort("go on", default, is_enabled=is_enabled),
    )
