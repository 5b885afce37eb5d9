"""Evaluators that replay a policy or the rules of a file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from policy_play import HERE, shell, starting

from upbeat.core.contract.effect import Deny, NotifyUser
from upbeat.core.contract.event import Event, ToolStarting
from upbeat.core.policy.definition import Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.rules.backtest import NotReplayableError, RuleEvaluationError, policy_evaluator, rules_evaluator
from upbeat.core.rules.pattern import Pattern
from upbeat.core.rules.rule import Action, Condition, MatchTarget, Owner, Rule

EVENT = starting(shell("rm a"))
DENY = Rule(
    "no-rm",
    "before-tool",
    Action.DENY,
    "Use trash.",
    conditions=(Condition(MatchTarget.COMMAND, Pattern("rm ", is_anchored=True)),),
)


def policy(result: PolicyResult | Exception) -> Policy:
    """A policy that returns or raises ``result``."""

    def handle(_event: Event, context: PolicyContext) -> PolicyResult:
        assert ("/repo", 5.0, "zh") == (context.root, context.now, context.language)
        if isinstance(result, Exception):
            raise result
        return result

    return Policy("p", {ToolStarting: Handler(handle)})


def test_a_policy_is_replayed() -> None:
    """The effects of the policy at the time and place of the event are returned."""
    evaluate = policy_evaluator(policy(PolicyResult((NotifyUser("a"), Deny("b")))), "zh")

    assert (NotifyUser("a"), Deny("b")) == evaluate(EVENT, "/repo", 5.0)


@pytest.mark.parametrize(
    ("result", "error"),
    [(PolicyResult(notes=("n",)), NotReplayableError), (ValueError("broken"), RuleEvaluationError)],
)
def test_a_policy_that_cannot_be_replayed(result: Any, error: type[Exception]) -> None:
    """A policy that keeps notes is rejected, and one that fails is an error of this event."""
    with pytest.raises(error, match=r"keeps notes|ValueError: broken"):
        policy_evaluator(policy(result), "zh")(EVENT, "/repo", 5.0)


def test_a_policy_with_queries_is_rejected() -> None:
    """A policy that queries the world is rejected before any event."""
    with pytest.raises(NotReplayableError, match="file system"):
        policy_evaluator(Policy("p", {ToolStarting: Handler(print, lambda _event, _state: ())}), "en")


def test_rules_are_replayed_as_the_users_own() -> None:
    """A rule that is off or untrusted is replayed as an enabled rule of the user."""
    off = replace(DENY, owner=Owner.UNTRUSTED, is_enabled=False)
    evaluate = rules_evaluator([off], "en")

    assert rules_evaluator([DENY], "en")(EVENT, "/repo", 0.0) == evaluate(EVENT, "/repo", 0.0)
    assert [Deny] == [type(effect) for effect in evaluate(EVENT, "/repo", 0.0)]
    assert () == evaluate(ToolStarting(HERE, shell("ls"), "ls"), "/repo", 0.0)


def test_a_rule_that_cannot_be_evaluated() -> None:
    """A rule with a problem is an error of this event, with the reason."""
    broken = Rule("x", "before-tool", Action.DENY, "No.", problem="invalid pattern")

    with pytest.raises(RuleEvaluationError, match="invalid pattern"):
        rules_evaluator([broken], "en")(EVENT, "/repo", 0.0)
