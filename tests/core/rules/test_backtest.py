"""What a rule would have done: each call once, with what really became of it."""

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
    NotReplayableError,
    RecordedCallEnd,
    RecordedEvent,
    RuleEvaluationError,
    backtest_to_dict,
)


def report_on(*past: list[HistoryItem], judge: BacktestEvaluator = deny_rm) -> BacktestReport:
    """The report on a past, with a clock that ticks once a look."""
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
    """A call that would have been blocked counts under what really became of it; without an end, as unknown."""
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
    """A call that two records know counts once, with the outcome that is known."""
    report = report_on(*past)

    assert (1, {BacktestDecision.BLOCKED: CallCounts(all=1, succeeded=1)}) == (report.calls, report.decided)


def test_short_ids_count_within_their_session() -> None:
    """Clients that number their calls have a call_1 in every session."""
    assert 2 == report_on(call("rm a", name="call_1"), call("rm a", name="call_1", session="t")).calls


def test_what_is_said_to_the_answer_counts_unless_the_call_is_blocked() -> None:
    """The strongest of what is said before and after counts; after a block nothing comes."""
    told = report_on(
        call("ls"),
        judge=lambda event, _root, _at: (InjectContext("x"),) if type(event).__name__ == "ToolFinished" else (),
    )
    asked = report_on(call("ls"), judge=lambda event, _root, _at: (RequestApproval("x"), InjectContext("y")))

    assert [BacktestDecision.INFORMED] == list(told.decided)
    assert {BacktestDecision.ASKED: CallCounts(all=1, succeeded=1)} == asked.decided


def test_prompts_and_ends_of_turns_have_no_outcome() -> None:
    """They count as such; those that a second record has of the same session do not count again."""
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


def test_examples_are_few_false_alarms_first_and_clean() -> None:
    """At most five, those that had succeeded first, each text once, without secrets and controls, on one line."""
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


def test_a_rule_that_fails_costs_that_event() -> None:
    """What goes wrong in a rule is counted, and the rest is looked at."""

    def judge(event: object, _root: str, _at: float) -> tuple[()]:
        raise RuleEvaluationError("x")

    assert (2, 4) == ((report := report_on(call("a"), call("b", name="d"), judge=judge)).calls, report.errors)


def test_what_cannot_be_replayed_is_told() -> None:
    """A rule whose answer depends on its past ends the backtest."""

    def judge(event: object, _root: str, _at: float) -> tuple[()]:
        raise NotReplayableError("why")

    with pytest.raises(NotReplayableError, match="why"):
        report_on(call("a"), judge=judge)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls without an end give way to later ones, and count as unknown."""
    monkeypatch.setattr(backtest, "MAX_OPEN_CALLS", 3)
    report = report_on(*[call("rm a", None, f"c{n}") for n in range(10)], call("rm b", CallStatus.FAILED, "last"))

    assert {BacktestDecision.BLOCKED: CallCounts(all=11, unknown=10, failed=1)} == report.decided


def test_times_are_those_of_the_rule() -> None:
    """Median and slowest twentieth, within a few per cent; the first event of each kind pays for what is loaded."""
    report = report_on(*[call("ls", name=f"c{n}") for n in range(20)])

    assert [1.0, 1.0] == [
        pytest.approx(value, rel=0.05) for value in (report.milliseconds.median, report.milliseconds.p95)
    ]


def test_nothing_comes_to_nothing() -> None:
    """Without a past everything is 0."""
    report = report_on()

    assert (0, {}, (), 0.0) == (report.calls, report.decided, report.examples, report.milliseconds.median)
    assert "schema_version" == next(iter(backtest_to_dict(report)))
