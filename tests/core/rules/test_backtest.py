"""Counts of what a rule would have done, with the actual outcome of each call."""

from __future__ import annotations

from itertools import count

import pytest
from past import AT, call, deny_rm, here

from upbeat.core.contract.effect import ContinueTurn, InjectContext, RequestApproval
from upbeat.core.contract.event import PromptSubmitted, TurnEnding
from upbeat.core.rules import backtest
from upbeat.core.rules.backtest import (
    Backtest,
    BacktestDecision,
    BacktestEvaluator,
    BacktestReport,
    CallCounts,
    CallStatus,
    HistoryItem,
    RecordedCallEnd,
    RecordedEvent,
    RuleEvaluationError,
    backtest_to_dict,
)


def report_on(*past: list[HistoryItem], judge: BacktestEvaluator = deny_rm) -> BacktestReport:
    """The report on a history, with a clock that advances with each reading."""
    ticks = count()
    found = Backtest(judge, lambda: next(ticks) / 1000)
    for part in past:
        for one in part:
            found.add(one)
    return found.report("rule", 90)


@pytest.mark.parametrize(
    ("fate", "expected"),
    [
        (CallStatus.SUCCEEDED, CallCounts(all=1, succeeded=1)),
        (CallStatus.FAILED, CallCounts(all=1, failed=1)),
        (CallStatus.DENIED, CallCounts(all=1, denied=1)),
        (CallStatus.UNKNOWN, CallCounts(all=1, unknown=1)),
        (None, CallCounts(all=1, unknown=1)),
    ],
)
def test_a_blocked_call_counts_with_what_became_of_it(fate: CallStatus | None, expected: CallCounts) -> None:
    """A blocked call is counted by its actual outcome; without an end it is unknown."""
    report = report_on(call("rm a", fate), call("ls", CallStatus.SUCCEEDED, "d"))

    assert (2, {BacktestDecision.BLOCKED: expected}) == (report.calls, report.decided)


SAYS_NOTHING_MORE = {
    "the same call of another record": (call("rm a"), call("rm a")),
    "its provider's id under another session's name": (
        call("rm a", name="toolu_0123456789abcdef"),
        call("rm a", name="toolu_0123456789abcdef", session="resumed"),
    ),
    "a call that the first record left open": (call("rm a", None), call("rm a")),
    "an answer that is told twice": (call("rm a"), [RecordedCallEnd("s", "c", CallStatus.FAILED)]),
}


@pytest.mark.parametrize("past", SAYS_NOTHING_MORE.values(), ids=SAYS_NOTHING_MORE)
def test_a_call_counts_once(past: tuple[list[HistoryItem], ...]) -> None:
    """A call in two records counts once, with the known outcome."""
    report = report_on(*past)

    assert (1, {BacktestDecision.BLOCKED: CallCounts(all=1, succeeded=1)}) == (report.calls, report.decided)


def test_short_ids_count_within_their_session() -> None:
    """Short ids are unique only within their session."""
    assert 2 == report_on(call("rm a", name="call_1"), call("rm a", name="call_1", session="t")).calls


def test_the_strongest_decision_counts() -> None:
    """The strongest decision before and after a call counts."""
    told = report_on(
        call("ls"),
        judge=lambda event, _root, _at: (InjectContext("x"),) if type(event).__name__ == "ToolFinished" else (),
    )
    asked = report_on(call("ls"), judge=lambda event, _root, _at: (RequestApproval("x"), InjectContext("y")))

    assert [BacktestDecision.INFORMED] == list(told.decided)
    assert {BacktestDecision.ASKED: CallCounts(all=1, succeeded=1)} == asked.decided


def test_prompts_and_ends_of_turns_have_no_outcome() -> None:
    """Prompts and turn ends are counted once per session."""
    past: list[HistoryItem] = [
        RecordedEvent(PromptSubmitted(here(), "fix it"), AT, "/r"),
        RecordedEvent(TurnEnding(here(), "done"), AT, "/r"),
    ]
    found = Backtest(
        lambda event, _root, _at: (ContinueTurn("x"),) if isinstance(event, TurnEnding) else (), lambda: 0.0
    )
    for one in past:
        found.add(one)
    found.skip_known_turns()
    for one in [*past, RecordedEvent(PromptSubmitted(here("t"), "else"), AT, "/r")]:
        found.add(one)
    report = found.report("rule", 90)

    assert (2, 1, {BacktestDecision.CONTINUED: CallCounts(all=1)}) == (report.prompts, report.turn_ends, report.decided)


def test_examples() -> None:
    """There are at most five examples, false alarms first, each once, redacted and on one line."""
    secret = "ghp_" + "a1B2" * 9
    past = [call(f"rm {n}", CallStatus.FAILED, f"f{n}") for n in range(9)]
    past += [call(f"rm \x1b[31m{n}\n{secret}", CallStatus.SUCCEEDED, f"s{n}") for n in (1, 2, 2)]
    report = report_on(*past)
    shown = [example.what for example in report.examples]

    assert [CallStatus.SUCCEEDED, CallStatus.SUCCEEDED, CallStatus.FAILED, CallStatus.FAILED, CallStatus.FAILED] == [
        example.outcome for example in report.examples
    ]
    assert 5 == len(set(shown))
    assert not any(secret in text or "\x1b" in text or "\n" in text for text in shown)


def test_a_failing_rule_is_counted() -> None:
    """A failing rule is counted as an error, and the replay continues."""

    def judge(event: object, _root: str, _at: float) -> tuple[()]:
        raise RuleEvaluationError("x")

    assert (2, 4) == ((report := report_on(call("a"), call("b", name="d"), judge=judge)).calls, report.errors)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of open calls is limited; the oldest counts as unknown."""
    monkeypatch.setattr(backtest, "MAX_OPEN_CALLS", 3)
    report = report_on(*[call("rm a", None, f"c{n}") for n in range(10)], call("rm b", CallStatus.FAILED, "last"))

    assert {BacktestDecision.BLOCKED: CallCounts(all=11, unknown=10, failed=1)} == report.decided


def test_latency() -> None:
    """Median and 95th percentile are within five percent; the first event of each type is not timed."""
    report = report_on(*[call("ls", name=f"c{n}") for n in range(20)])

    assert [1.0, 1.0] == [
        pytest.approx(value, rel=0.05) for value in (report.milliseconds.median, report.milliseconds.p95)
    ]


def test_an_empty_history() -> None:
    """Without a history all counts are 0."""
    report = report_on()

    assert (0, {}, (), 0.0) == (report.calls, report.decided, report.examples, report.milliseconds.median)
    assert "schema_version" == next(iter(backtest_to_dict(report)))
