"""The screen of ``upbeat stats``: the share with context first, a row for each source; golden in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from upbeat.core.journal.stats import (
    DropCounts,
    HoldoutComparison,
    HoldoutSummary,
    Significance,
    SourceStats,
    StageStats,
    StatsReport,
    wilson_interval,
)
from upbeat.core.journal.stats_screen import stats_screen
from upbeat.core.messages.catalogue import LANGUAGES
from upbeat.core.messages.layout import Screen, to_text

EXPECTED = Path(__file__).parent / "expected"
OPENED, EDITED = (HoldoutComparison(wilson_interval(count, 40), wilson_interval(4, 35)) for count in (30, 8))
SOURCES = (
    SourceStats("turn", 40, 71_234, 1_780.9, 8904.3, DropCounts(1, 2, 3, 4), OPENED, EDITED, 2.0),
    SourceStats("policy restore-context-after-compaction", 2, 512),
)
REPORT = StatsReport(
    30, "/repo", 8, 57, 41, "2026-01-02T03:04:05Z", "2026-01-09T03:04:05Z", SOURCES,
    stages=(StageStats("DEV", wilson_interval(3, 4), wilson_interval(4, 4)),),
)  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_golden(language: str) -> None:
    """Sources with what was dropped and how often it was used, stages, and what cannot be said."""
    expected = (EXPECTED / f"stats_{language}.txt").read_text(encoding="utf-8")

    assert expected == to_text(stats_screen(REPORT, Screen(language))) + "\n"


def test_a_comparison() -> None:
    """With a holdout both sides are compared, with what can be said of the difference."""
    compared = HoldoutComparison(OPENED.injected, OPENED.held_out, Significance.SIGNIFICANT)
    report = StatsReport(30, "", 8, 57, 41, "2026", "2026", SOURCES, HoldoutSummary(10, compared, compared))
    text = " ".join(to_text(stats_screen(report, Screen())).split())

    assert "opened in 30 of 40 (75 %, 60 to 86) with the context, in 4 of 35 (11 %, 5 to 26) without: the" in text


def test_empty_reports() -> None:
    """A journal without records, and one without context, say so."""
    assert "The journal has no record of the last 30 days.\nall repositories" == (
        to_text(stats_screen(StatsReport(30), Screen()))
    )
    silent = StatsReport(30, turns=1, first="2026-01-02", last="2026-01-02")
    assert to_text(stats_screen(silent, Screen())).endswith("\n  no context was added")


@given(st.text(max_size=90), st.integers(0, 10**15), st.integers(40, 100), st.sampled_from(LANGUAGES))
def test_no_line_is_wider_than_the_screen(name: str, count: int, columns: int, language: str) -> None:
    """Whatever the names and numbers are, every line fits."""
    source = SourceStats(name, count, count, dropped=DropCounts(count, count, count, count), opened=OPENED)
    report = StatsReport(30, name, count, count, count, name, name, (source,), stages=(StageStats(name),))

    assert [] == [x for x in stats_screen(report, Screen(language, columns)) if wcswidth(x.text) > columns]
