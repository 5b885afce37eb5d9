"""The backtest report as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from upbeat.core.rules.backtest import (
    BacktestDecision,
    BacktestExample,
    BacktestReport,
    CallCounts,
    CallStatus,
    LatencyStats,
)
from upbeat.core.rules.backtest_format import format_backtest

EXAMPLE = BacktestExample(
    "2026-11-22T04:00:00.000Z", "shop", "claude-code", "rm a", BacktestDecision.BLOCKED, CallStatus.SUCCEEDED
)
REPORT = BacktestReport(
    "no-rm",
    30,
    sessions=2,
    calls=1234,
    prompts=5,
    turn_ends=4,
    first="2026-11-01T00:00:00.000Z",
    last="2026-11-22T04:00:00.000Z",
    decided={
        BacktestDecision.BLOCKED: CallCounts(all=3, succeeded=2, failed=1),
        BacktestDecision.INFORMED: CallCounts(all=1),
    },
    examples=(EXAMPLE,),
    milliseconds=LatencyStats(0.01, 0.25),
    errors=2,
    unread=1,
    stopped="time",
)


def test_a_report() -> None:
    """Every part of the report has its line, and counts without outcomes have none."""
    expected = Path(__file__).with_name("backtest_en.txt").read_text(encoding="utf-8")

    assert expected.splitlines() == list(format_backtest(REPORT, "en"))


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (
            BacktestReport("r", 90),
            "  no history: neither the journal nor the clients' own records have a call in this time",
        ),
        (BacktestReport("r", 90, sessions=1), "  it would have done nothing"),
    ],
    ids=["no history", "no decision"],
)
def test_an_empty_report(report: BacktestReport, line: str) -> None:
    """A report without decisions ends with why."""
    assert line == list(format_backtest(report, "en"))[-1]


def test_both_ends_of_a_policy() -> None:
    """With answers that make a difference, the worst and the best counts are shown, and why."""
    report = replace(REPORT, at_least={}, unknowns=("ScriptFilesQuery", "Workflow"), unrecorded=("SessionStarted",))

    assert [
        "  the past cannot tell what scripts contained; whether a workflow was running",
        "  with the worst answers, at most:",
        "  would have blocked 3: 2 had succeeded, 1 failed, 0 were denied, 0 unknown",
        "  would have sent a message at 1",
        "  with the best answers, at least:",
        "  it would have done nothing",
        "  not in this history, so not replayed: SessionStarted",
    ] == list(format_backtest(report, "en"))[2:9]


def test_chinese_has_the_same_lines() -> None:
    """The report has as many lines in Chinese, with the same example."""
    english, chinese = (list(format_backtest(REPORT, language)) for language in ("en", "zh"))

    assert len(english) == len(chinese)
    assert "      rm a" == chinese[7]
