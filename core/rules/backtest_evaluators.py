"""Evaluators that replay a policy or the rules of a file.

Invariant: only what depends on the event alone is replayed; a policy with queries or notes is rejected with a reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from upbeat.core.contract.effect import Effect
from upbeat.core.contract.event import Event
from upbeat.core.policy.definition import Policy, PolicyContext
from upbeat.core.policy.evaluate import evaluate_policies
from upbeat.core.rules.backtest import BacktestEvaluator, NotReplayableError, RuleEvaluationError
from upbeat.core.rules.match import evaluate_rule
from upbeat.core.rules.rule import MatchResult, Owner, Rule


def policy_evaluator(policy: Policy, language: str) -> BacktestEvaluator:
    """Return an evaluator of ``policy``.

    Raises:
        NotReplayableError: The policy has queries; raised by the evaluator when the policy takes notes.
    """
    if any(handler.queries for handler in policy.handlers.values()):
        raise NotReplayableError(
            f"the policy {policy.name} depends on the file system at the time, so it cannot be backtested"
        )

    def evaluate(event: Event, root: str, at: float) -> tuple[Effect, ...]:
        effects: tuple[Effect, ...] = ()
        for outcome in evaluate_policies(event, PolicyContext(now=at, language=language, root=root), (policy,)):
            if outcome.failure:
                raise RuleEvaluationError(outcome.failure)
            if outcome.result.notes is not None:
                raise NotReplayableError(
                    f"the policy {policy.name} keeps notes between events, so it cannot be backtested"
                )
            effects += outcome.result.effects
        return effects

    return evaluate


def rules_evaluator(rules: Iterable[Rule], language: str) -> BacktestEvaluator:
    """Return an evaluator of the rules of one file, as enabled rules of the user."""
    own = tuple(replace(rule, owner=Owner.USER, is_enabled=True) for rule in rules)

    def evaluate(event: Event, root: str, _at: float) -> tuple[Effect, ...]:
        outcomes = [evaluate_rule(rule, event, root, language=language) for rule in own]
        effects = tuple(outcome.effect for outcome in outcomes if outcome.effect)
        if not effects and any(outcome.match_result is MatchResult.UNKNOWN for outcome in outcomes):
            raise RuleEvaluationError("; ".join(outcome.reason for outcome in outcomes if outcome.reason))
        return effects

    return evaluate
