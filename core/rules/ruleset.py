"""Evaluate all rules of a repository. Invariant: an exception in one rule never affects the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from upbeat.core.contract.client import ClientTraits
from upbeat.core.contract.effect import Explanation, Proposal
from upbeat.core.contract.event import Event
from upbeat.core.rules.inputs import MatchInputs
from upbeat.core.rules.match import applies_to, evaluate_rule
from upbeat.core.rules.rule import MatchResult, Owner, Rule, RuleOutcome

RANK = 30
"""After the workflow and the prepared turn, before the policies: the user's rules come before upbeat's."""
NOTES_KEY = "rules"
"""The name of the notes about texts that are shown once."""
UNTRUSTED = "not trusted"


@dataclass(frozen=True, slots=True)
class RulesEvaluation:
    """The proposals of the rules for one event, and (part, mark) for each text that is shown only once."""

    proposals: tuple[Proposal, ...] = ()
    once_marks: tuple[tuple[str, str], ...] = ()


def applicable_rules(rules: Iterable[Rule], event: Event, foreign_rules: str, client: ClientTraits) -> tuple[Rule, ...]:
    """Return the rules that apply to ``event``.

    ``foreign_rules`` says where hookify's rules are evaluated: ``off``, ``auto`` (where the client does not run
    them itself), ``all``.
    """
    has_foreign = foreign_rules == "all" or (foreign_rules != "off" and not client.runs_hookify)
    return tuple(rule for rule in rules if (has_foreign or not rule.is_foreign) and applies_to(rule, event))


def evaluate_rules(
    rules: Iterable[Rule],
    event: Event,
    root: str,
    shown_marks: tuple[str, ...],
    language: str,
    *,
    is_held_out: bool = False,
) -> RulesEvaluation:
    """Evaluate ``rules`` for ``event`` in the repository at ``root``; texts in ``shown_marks`` are not repeated."""
    inputs = MatchInputs(event, root)
    proposals: list[Proposal] = []
    once_marks: list[tuple[str, str]] = []
    for rule in rules:
        outcome = evaluate_rule(rule, event, root, language=language, inputs=inputs)
        if outcome.match_result is MatchResult.NO_MATCH:
            continue
        if rule.is_shown_once and outcome.effect is not None:
            mark = f"{event.source.short_agent_id} {rule.file}".strip()  # per agent
            if mark in shown_marks:
                continue
            once_marks.append((f"rule {rule.name}", mark))
        proposals.append(_to_proposal(rule, outcome, is_held_out=is_held_out))
    return RulesEvaluation(tuple(proposals), tuple(once_marks))


def _to_proposal(rule: Rule, outcome: RuleOutcome, *, is_held_out: bool) -> Proposal:
    part = f"rule {rule.name}"
    effects = () if outcome.effect is None else (outcome.effect,)
    decision = type(outcome.effect).__name__ if outcome.effect else outcome.match_result.value
    if outcome.match_result is MatchResult.UNKNOWN:
        decision = outcome.match_result.value
    elif outcome.effect is None and rule.owner is Owner.UNTRUSTED:
        decision = UNTRUSTED
    explanation = Explanation(part, decision, outcome.reason, {}, rule.location)
    return Proposal(part, effects, RANK, (explanation,), is_held_out=is_held_out)
