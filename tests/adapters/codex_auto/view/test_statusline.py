"""The line below the prompt: one line, as wide as it may be, the most important first."""

from __future__ import annotations

import pytest
from fakes.codex.texts import CHINESE, ENGLISH
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from upbeat.adapters.codex.transport.base import WindowUsage
from upbeat.adapters.codex_auto.view.statusline import abbreviate_count, budget_segment, context_segment, join_segments
from upbeat.core.settings import DEFAULTS


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (40, " shop · new session · run/auto"),
        (21, " shop · new session …"),
        (8, " shop ·…"),
        (1, "…"),
    ],
)
def test_it_is_cut_at_the_right(width: int, line: str) -> None:
    """The repository and the session survive longest."""
    assert line == join_segments(["shop", "new session", "", "run/auto"], width)


@given(st.lists(st.text(st.sampled_from("ab店 \n"))), st.integers(1, 60))
def test_it_is_never_too_wide(parts: list[str], width: int) -> None:
    """One line, whatever stands in its parts."""
    line = join_segments(parts, width)

    assert "\n" not in line
    assert wcswidth(line) <= width


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1000, "1k"), (12_345, "12.3k"), (258_000, "258k"), (1_200_000, "1.2M")],
)
def test_numbers_are_short(number: int, text: str) -> None:
    """Five characters at the most."""
    assert text == abbreviate_count(number)


@pytest.mark.parametrize(
    ("used", "text"),
    [
        (None, ""),
        (WindowUsage(850), "context: 850"),
        (WindowUsage(12_900, 258_000), "context: 12.9k/258k (5%)"),
        (WindowUsage(300_000, 258_000), "context: 300k/258k (100%)"),
    ],
)
def test_the_context_is_told_as_far_as_it_is_known(used: WindowUsage | None, text: str) -> None:
    """With the exec transport nothing is known, and a dash says so."""
    assert text == context_segment(used, ENGLISH)


def test_the_budget_is_in_both_languages() -> None:
    """Seconds, and characters."""
    assert ["budget: 5 s, 12k", "预算 5 秒，12k"] == [budget_segment(DEFAULTS, texts) for texts in (ENGLISH, CHINESE)]
