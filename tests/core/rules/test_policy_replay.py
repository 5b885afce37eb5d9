"""Policies are replayed between the best and the worst answers to what the past cannot tell."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from policy_play import shell, starting

from upbeat.core.contract.effect import ContinueTurn, Deny, Effect, InjectContext, NotifyUser, RequestApproval
from upbeat.core.contract.event import Event, ToolStarting
from upbeat.core.policies import POLICIES, POLICIES_BY_NAME
from upbeat.core.policy.definition import Handler, Notify, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ExistingPathsQuery, Query
from upbeat.core.rules import policy_replay
from upbeat.core.rules.backtest import BacktestReport, RuleEvaluationError, strength_of
from upbeat.core.rules.policy_replay import WORKFLOW, PolicyReplay, bounded_report

EVENT = starting(shell("rm a"))


def replays(policy: Policy) -> tuple[PolicyReplay, PolicyReplay]:
    """The one that does the least, and the one that does the most."""
    return PolicyReplay(policy, "en", does_most=False), PolicyReplay(policy, "en", does_most=True)


def both(policy: Policy, event: Event = EVENT) -> tuple[list[type[Effect]], list[type[Effect]]]:
    """The types of what it does at least and at most."""
    least, most = ([type(effect) for effect in replay(event, "/repo", 5.0)] for replay in replays(policy))
    return least, most


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_every_policy_can_be_replayed(policy: Policy) -> None:
    """No built-in policy is refused, and the least it does is never more than the most."""
    lines = ("git checkout .", "bash run.sh", "rm -rf build", "echo x > notes.md", "upbeat off", "vim a.py")
    for line in lines:
        least, most = (replay(starting(shell(line)), "/repo", 5.0) for replay in replays(policy))

        assert strength_of(least) <= strength_of(most)


def test_every_query_has_answers() -> None:
    """A new kind of query needs its answers here."""
    assert set(get_args(Query)) == set(policy_replay._ANSWERS)


@pytest.mark.parametrize(
    ("name", "line", "least", "most", "unknowns"),
    [
        ("block-destructive-commands", "rm -rf ~", Deny, Deny, set()),
        ("block-destructive-commands", "ls", None, None, set()),
        ("block-destructive-commands", "git checkout .", None, Deny, {"ChangedFilesQuery"}),
        ("block-destructive-commands", "bash clean.sh", None, Deny, {"ScriptFilesQuery"}),
        ("protect-own-controls", "upbeat trust --yes", Deny, Deny, set()),
        ("protect-own-controls", "upbeat workflow start quick x", None, Deny, {WORKFLOW}),
        ("protect-own-controls", "echo x > notes.md", None, None, set()),
        ("protect-own-controls", "echo x > ~/.claude/settings.json", RequestApproval, RequestApproval, set()),
        ("protect-own-controls", "bash run.sh", None, RequestApproval, {"OwnControlsQuery"}),
        ("require-read-before-write", "echo x > notes.md", None, Deny, {"ExistingPathsQuery"}),
    ],
)
def test_both_ends(
    name: str, line: str, least: type[Effect] | None, most: type[Effect] | None, unknowns: set[str]
) -> None:
    """What is certain is the same at both ends; what depends on the past differs, and the reason is named."""
    event = starting(shell(line))
    found = both(POLICIES_BY_NAME[name], event)
    replay = replays(POLICIES_BY_NAME[name])[1]
    replay(event, "/repo", 5.0)

    assert ([least] * bool(least), [most] * bool(most)) == found
    assert unknowns <= replay.unknowns
    assert bool(unknowns) == bool(replay.unknowns)


def test_notes_are_kept_for_each_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that acts once a session does so in the replay; the notes of the oldest session are dropped."""
    monkeypatch.setattr(policy_replay, "MAX_SESSIONS", 1)

    def handle(event: ToolStarting, context: PolicyContext) -> PolicyResult:
        return PolicyResult((InjectContext("once"),), notes=("told",)) if not context.notes else PolicyResult()

    replay = PolicyReplay(Policy("p", {ToolStarting: Handler(handle)}), "en", does_most=True)
    other = replace(EVENT, source=replace(EVENT.source, session_id="other"))
    counts = [len(replay(event, "/repo", 0.0)) for event in (EVENT, EVENT, other, other, EVENT)]

    assert [1, 0, 1, 0, 1] == counts


def test_a_policy_that_fails() -> None:
    """An error of the policy is an error of this event, unless other answers work."""

    def handle(_event: ToolStarting, context: PolicyContext) -> PolicyResult:
        if context.query_results[query]:
            return PolicyResult((ContinueTurn("go"),))
        raise ValueError("broken")

    query = ExistingPathsQuery(("/repo/a",))
    works = Policy("p", {ToolStarting: Handler(handle, lambda _event, _state: (query,))})
    assert ([ContinueTurn], [ContinueTurn]) == both(works)
    with pytest.raises(RuleEvaluationError, match="KeyError"):
        both(Policy("p", {ToolStarting: Handler(handle)}))


def test_what_is_done_on_the_machine_counts_as_a_message() -> None:
    """A notification is reported, although no effect goes to the client."""
    policy = Policy("p", {ToolStarting: Handler(lambda *_: PolicyResult(side_effects=(Notify("a", "b"),)))})

    assert ([NotifyUser], [NotifyUser]) == both(policy)


def test_the_report_names_events_that_the_history_lacks() -> None:
    """What is not recorded cannot be replayed, and is said to be so; equal ends are reported once."""
    replay = replays(POLICIES_BY_NAME["kill-tmux-sessions"])[1]
    replay(EVENT, "/repo", 0.0)
    report = bounded_report(BacktestReport("r", 1), BacktestReport("r", 1), replay)

    assert ("SessionEnded", "ToolFinished") == report.unrecorded
    assert report.at_least is None
