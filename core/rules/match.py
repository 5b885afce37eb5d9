"""Evaluate one rule for one event.

Invariant: pure, and never raises; a rule that cannot be evaluated has the third outcome.

::

    matches               its effect; an untrusted rule has only restrictive effects, and its text is not shown
    could not evaluate    nothing, or with ``fail: closed`` what the rule would do
"""

from __future__ import annotations

import re

from upbeat.core.contract.effect import ContinueTurn, Deny, Effect, InjectContext, NotifyUser, RequestApproval
from upbeat.core.contract.event import Event, PromptOrigin, PromptSubmitted, SubagentEnding, TurnEnding
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.rules.inputs import BUDGET_EXCEEDED, MatchInputs
from upbeat.core.rules.rule import (
    NO_MATCH_OUTCOME,
    RULE_EVENTS,
    Action,
    Condition,
    FailMode,
    MatchResult,
    Owner,
    Rule,
    RuleOutcome,
)

_RESTRICTIVE_ACTIONS = (Action.DENY, Action.ASK)
_MAX_EXCERPT = 120
_UNSAFE_CHARS = re.compile(r"[^\w./-]+", re.ASCII)
_MAX_NAME_CHARS = 80


def evaluate_rule(
    rule: Rule, event: Event, root: str, *, language: str = "en", inputs: MatchInputs | None = None
) -> RuleOutcome:
    """Return the outcome of ``rule`` for ``event`` in the repository at ``root`` (real, absolute).

    ``inputs`` are those of the event that other rules share.
    """
    if not applies_to(rule, event):
        return NO_MATCH_OUTCOME
    try:
        result, reason = _match_rule(rule, inputs or MatchInputs(event, root))
    except Exception as error:  # the boundary of rules: an error in one never affects the others
        result, reason = MatchResult.UNKNOWN, f"{type(error).__name__}: {error}"[:200]
    if result is MatchResult.NO_MATCH:
        return NO_MATCH_OUTCOME
    return RuleOutcome(result, _select_effect(rule, event, result, reason, language), reason)


def applies_to(rule: Rule, event: Event) -> bool:
    """Return whether the rule is about this kind of event, from this client and this tool."""
    if not rule.is_enabled or type(event) not in RULE_EVENTS[rule.event].event_types:
        return False
    if rule.clients and event.source.client not in rule.clients:
        return False
    if isinstance(event, PromptSubmitted) and event.origin is not PromptOrigin.USER:
        return False
    if isinstance(event, TurnEnding | SubagentEnding) and event.was_continued and rule.action is Action.DENY:
        return False  # a turn is continued only once
    return not rule.tools or _matches_tool(rule, event)


def _matches_tool(rule: Rule, event: Event) -> bool:
    call = getattr(event, "call", None)
    if call is None:
        return False
    if call.kind.value in rule.tools or call.tool in rule.tools:
        return True
    return any(name.endswith("*") and call.tool.startswith(name[:-1]) for name in rule.tools)


def _match_rule(rule: Rule, inputs: MatchInputs) -> tuple[MatchResult, str]:
    """Return whether the paths and all conditions match, and why."""
    if rule.problem:
        return MatchResult.UNKNOWN, rule.problem
    reasons: list[str] = []
    gaps: list[str] = []
    for result, reason in (
        _match_paths(rule, inputs),
        *(_match_condition(rule, condition, inputs) for condition in rule.conditions),
    ):
        if result is MatchResult.NO_MATCH:
            return result, ""
        (gaps if result is MatchResult.UNKNOWN else reasons).append(reason)
    if gaps:
        return MatchResult.UNKNOWN, "; ".join(gaps)
    return MatchResult.MATCH, "; ".join(filter(None, reasons)) or f"every {rule.event}"


def _match_paths(rule: Rule, inputs: MatchInputs) -> tuple[MatchResult, str]:
    if rule.paths is None:
        return MatchResult.MATCH, ""
    files = inputs.files()
    for path in files.paths:
        if not inputs.try_spend(rule.paths.program_size, len(path), is_untrusted=rule.owner is Owner.UNTRUSTED):
            return MatchResult.UNKNOWN, BUDGET_EXCEEDED
        if rule.paths.match(path):
            return MatchResult.MATCH, f"path: {path[:_MAX_EXCERPT]}"
    return (MatchResult.UNKNOWN, files.gap) if files.gap else (MatchResult.NO_MATCH, "")


def _match_condition(rule: Rule, condition: Condition, inputs: MatchInputs) -> tuple[MatchResult, str]:
    inputs_at_target = inputs.texts(condition.target)
    compiled = condition.pattern.compile()
    for text in inputs_at_target.texts:
        if not inputs.try_spend(compiled.program_size, len(text), is_untrusted=rule.owner is Owner.UNTRUSTED):
            return MatchResult.UNKNOWN, BUDGET_EXCEEDED
        if compiled.find(text):
            if condition.is_negated:
                return MatchResult.NO_MATCH, ""
            return MatchResult.MATCH, f"{condition.target}: {text[:_MAX_EXCERPT].decode('utf-8', 'replace')}"
    if inputs_at_target.gap:
        return MatchResult.UNKNOWN, inputs_at_target.gap
    if condition.is_negated and inputs_at_target.texts:
        return MatchResult.MATCH, f"{condition.target}: not there"
    return MatchResult.NO_MATCH, ""


def _select_effect(rule: Rule, event: Event, match_result: MatchResult, reason: str, language: str) -> Effect | None:
    """Return the effect of a rule that matches or could not be evaluated."""
    messages = load_messages("rules", language)
    if match_result is MatchResult.UNKNOWN:
        if rule.fail_mode is FailMode.OPEN or rule.action not in _RESTRICTIVE_ACTIONS:
            return None
        # what is wrong in an untrusted rule may be what its author wants the model to read
        why = messages["unclear"] if rule.owner is Owner.UNTRUSTED else reason
        return _build_effect(rule, event, messages["not_evaluated"].format(rule=_display_name(rule), why=why))
    if rule.owner is Owner.UNTRUSTED:
        if rule.action not in _RESTRICTIVE_ACTIONS:
            return None
        return _build_effect(rule, event, messages["untrusted"].format(rule=_display_name(rule)))
    return _build_effect(rule, event, messages.group("headings")[rule.action].format(name=rule.name) + rule.text)


def _display_name(rule: Rule) -> str:
    """Return how messages name the rule: an untrusted one only by safe characters of its path."""
    if rule.owner is Owner.UNTRUSTED:
        return _UNSAFE_CHARS.sub("_", rule.file or rule.name)[:_MAX_NAME_CHARS]
    return f"{rule.name} ({rule.file})" if rule.file else rule.name


def _build_effect(rule: Rule, event: Event, text: str) -> Effect:
    if rule.action is Action.DENY and isinstance(event, TurnEnding | SubagentEnding):
        return ContinueTurn(text)
    kinds: dict[Action, type[Effect]] = {
        Action.TELL: NotifyUser,
        Action.ASK: RequestApproval,
        Action.DENY: Deny,
        Action.INJECT: InjectContext,
    }
    return kinds[rule.action](text)
