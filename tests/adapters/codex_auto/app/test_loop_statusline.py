"""The status line: one line within the width, with the most important segments first."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from fakes.codex.conversation import CHINESE, ENGLISH
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from upbeat.adapters.codex.transport.base import WindowUsage
from upbeat.adapters.codex_auto.app.loop import abbreviate_count, budget_segment, context_segment, join_segments
from upbeat.core.settings import DEFAULTS

CASES = read_groups(Path(__file__).with_name("loop_statusline_cases.tsv"))


def test_it_is_clipped_at_the_right() -> None:
    """The repository and the session are kept longest."""
    parts = ["shop", "new session", "", "run/auto"]

    assert CASES["line"] == [(width, join_segments(parts, int(width))) for width, _ in CASES["line"]]


@given(st.lists(st.text(st.sampled_from("ab店 \n"))), st.integers(1, 60))
def test_it_is_never_too_wide(parts: list[str], width: int) -> None:
    """The status line is one line within the width, whatever its segments contain."""
    line = join_segments(parts, width)

    assert "\n" not in line
    assert wcswidth(line) <= width


def test_counts_are_abbreviated() -> None:
    """A number has five characters at most."""
    assert CASES["count"] == [(number, abbreviate_count(int(number))) for number, _ in CASES["count"]]


@pytest.mark.parametrize(
    ("used", "text"),
    [
        (None, ""),
        (WindowUsage(850), "context: 850"),
        (WindowUsage(12_900, 258_000), "context: 12.9k/258k (5%)"),
        (WindowUsage(300_000, 258_000), "context: 300k/258k (100%)"),
    ],
)
def test_the_context_segment(used: WindowUsage | None, text: str) -> None:
    """The segment has the known counts, and is empty without any."""
    assert text == context_segment(used, ENGLISH)


def test_the_budget_is_in_both_languages() -> None:
    """The budget has seconds and characters."""
    assert ["budget: 5 s, 12k", "预算 5 秒，12k"] == [budget_segment(DEFAULTS, texts) for texts in (ENGLISH, CHINESE)]
