"""The evaluator that replays the rules of a file."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, shell, starting

from upbeat.core.contract.effect import Deny
from upbeat.core.contract.event import ToolStarting
from upbeat.core.rules.backtest import RuleEvaluationError, rules_evaluator
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
