"""Evaluate the enabled policies and the user's rules for an event.

``Evaluators.for_event`` selects them, ``with_query_results`` looks up what they need outside of any transaction, and
``evaluate`` evaluates them on a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from upbeat.core.contract import event as events
from upbeat.core.contract.arrival import Arrival
from upbeat.core.contract.client import UNKNOWN_CLIENT, ClientTraits
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.effect import Deny, Explanation, InjectContext, Proposal, RequestApproval
from upbeat.core.engine.merge import ContextBudget, MergeResult, merge_proposals
from upbeat.core.engine.ports import RepoContext
from upbeat.core.engine.runtime import NO_CAP, Runtime, TurnRequest
from upbeat.core.lazy_dataclass import dataclass, field, replace
from upbeat.core.policies import policies_handling
from upbeat.core.policy.definition import Policy, PolicyContext, SideEffect
from upbeat.core.policy.evaluate import PolicyOutcome, collect_queries, enabled_policies, evaluate_policies
from upbeat.core.policy.queries import Query
from upbeat.core.rules.rule import Rule
from upbeat.core.sanitize.truncate import TextLimit, measure_text
from upbeat.core.settings import Settings, Toggle
from upbeat.core.workflow.decision import LoopLimits
from upbeat.core.workflow.facts import ContextInjected, Fact, PolicyNotesSaved
from upbeat.core.workflow.state import SessionState

CONFIG_MISTAKES = frozenset({LimitCode.CONFIG_INVALID, LimitCode.CONFIG_IGNORED})
"""Limits that name mistakes of settings files, which are told with a prompt and at the start."""

MAX_NAMED_FILES = 5
"""Untrusted files that a warning names."""


@dataclass(frozen=True, slots=True)
class EventContext:
    """An event with the repository, settings and runtime it is handled with; ``started_at`` is monotonic seconds."""

    event: events.Event
    runtime: Runtime
    repo_context: RepoContext
    started_at: float
    request: TurnRequest | None = None
    is_enabled: bool = True
    """Whether anything is evaluated: the session has a name, and ``enabled`` is not ``off``."""
    arrival: Arrival | None = None
    """How the event of a hook came; None for an event of upbeat's own programs."""


def rule_warnings(context: EventContext) -> tuple[str, ...]:
    """Return a sentence for each problem of the rules here, and one for those that are not trusted."""
    rules = context.runtime.rule_loader.load(context.repo_context.repository.root)
    if not rules.untrusted or not context.is_enabled:
        return rules.problems
    named = ", ".join(rules.untrusted[:MAX_NAMED_FILES])
    more = f" and {len(rules.untrusted) - MAX_NAMED_FILES} more" if len(rules.untrusted) > MAX_NAMED_FILES else ""
    return (*rules.problems, f"rules that you have not trusted may only tighten (`upbeat trust`): {named}{more}")


def loop_limits(settings: Settings) -> LoopLimits:
    """Return the limits of a loop."""
    return LoopLimits(
        is_enabled=settings.loop_enabled is Toggle.ON,
        max_turns=settings.loop_max_turns,
        max_consecutive_errors=settings.loop_max_consecutive_errors,
        max_turns_without_progress=settings.loop_max_turns_without_progress,
        max_minutes=settings.loop_max_minutes,
        max_tokens=settings.loop_max_tokens,
    )


# Policies and rules

_CALL_EVENTS = (events.ToolStarting, events.UserQuestionRequested, events.SubagentRequested)
"""A program that drives a client without hooks reports calls after they have run, when policies can no longer stop or
change them. There, policies only save notes, unless it holds the call; then they may deny it or ask about it."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of evaluating one event."""

    proposals: tuple[Proposal, ...] = ()
    notes: tuple[PolicyNotesSaved, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    once_marks: tuple[tuple[str, str], ...] = ()
    """(component, mark) of what rules say once."""


@dataclass(frozen=True, slots=True)
class Evaluators:
    """The policies and rules for one event, with what they know. ``is_held_out``: their context is withheld."""

    policies: tuple[Policy, ...] = ()
    rules: tuple[Rule, ...] = ()
    query_results: Mapping[Query, Any] = field(default_factory=dict)
    is_held_out: bool = False
    has_queries: bool = False
    """Whether a policy needs answers that are looked up before the transaction, from the session's state."""
    is_new_turn: bool = False

    @classmethod
    def for_event(cls, context: EventContext) -> Evaluators:
        """Return the policies and rules that handle the event."""
        settings, event = context.repo_context.settings, context.event
        client = context.runtime.client_traits.get(event.source.client, UNKNOWN_CLIENT)
        policies = policies_for(type(event).__name__, settings.policies_on, settings.policies_off, client)
        if context.request is not None:
            policies = tuple(policy for policy in policies if not policy.is_for_hooks)
        percent = settings.inject_holdout_percent
        is_held_out = bool(percent) and int(context.runtime.clock.nonce()[:8], 16) % 100 < percent
        loaded = context.runtime.rule_loader.load(context.repo_context.repository.root).rules
        rules = _applicable_rules(loaded, event, settings.rules_hookify, client) if loaded else ()
        has_queries = any(policy.handlers[type(event)].queries for policy in policies)
        is_new_turn = isinstance(event, events.SessionStarted) or (
            isinstance(event, events.PromptSubmitted) and event.origin is events.PromptOrigin.USER
        )
        return cls(policies, rules, {}, is_held_out, has_queries, is_new_turn)

    def with_query_results(self, context: EventContext, state: SessionState) -> Evaluators:
        """Return the evaluators with the answers to what their policies ask about the world."""
        world, source, root = context.runtime.world, context.event.source, context.repo_context.repository.root
        queries = collect_queries(context.event, state, self.policies)
        answers = {query: answer for query in queries if (answer := world.query(query, source, root)) is not None}
        if context.repo_context.settings.context_excluded:
            from upbeat.core.engine.path_choice import choose_documents

            chosen = {query: choose_documents(each, context.repo_context.settings) for query, each in answers.items()}
            answers = {query: answer for query, answer in chosen.items() if answer is not None}
        return replace(self, query_results=answers)

    def evaluate(self, context: EventContext, state: SessionState) -> Evaluation:
        """Evaluate the rules, then the policies."""
        runtime, event, root = context.runtime, context.event, context.repo_context.repository.root
        proposals: tuple[Proposal, ...] = ()
        once_marks: tuple[tuple[str, str], ...] = ()
        if self.rules:
            from upbeat.core.rules import ruleset

            shown = state.notes_of(ruleset.NOTES_KEY)
            evaluated = ruleset.evaluate_rules(
                self.rules, event, root, shown, runtime.language, is_held_out=self.is_held_out
            )
            proposals, once_marks = evaluated.proposals, evaluated.once_marks
        if not self.policies:
            return Evaluation(proposals, once_marks=once_marks)
        policy_context = PolicyContext(
            state=state,
            now=runtime.clock.now().timestamp(),
            language=runtime.language,
            root=root,
            nonce=runtime.clock.nonce(),
            query_results=self.query_results,
            loop_limits=loop_limits(context.repo_context.settings),
            client=runtime.client_traits.get(event.source.client, UNKNOWN_CLIENT),
        )
        outcomes = evaluate_policies(event, policy_context, self.policies)
        if context.request is not None and isinstance(event, _CALL_EVENTS):
            held = (Deny, RequestApproval) if context.request.holds_call else ()
            outcomes = tuple(_with_effects_of(outcome, held) for outcome in outcomes)
        notes = tuple(
            PolicyNotesSaved(outcome.policy.name, outcome.result.notes, outcome.policy.survives_compaction)
            for outcome in outcomes
            if outcome.result.notes is not None and outcome.result.notes != state.notes_of(outcome.policy.name)
        )
        side_effects = tuple(side_effect for outcome in outcomes for side_effect in outcome.result.side_effects)
        proposals += tuple(self._build_proposal(outcome, context) for outcome in outcomes)
        return Evaluation(proposals, notes, side_effects, once_marks)

    def cap_for_turn(
        self, evaluation: Evaluation, context: EventContext, state: SessionState, cap: TextLimit
    ) -> TextLimit:
        """Return ``cap`` with room left for the context that the evaluators inject with the prompt."""
        if cap is NO_CAP or self.is_held_out or not evaluation.proposals:
            return cap
        merged = merge_proposals(evaluation.proposals, self.remaining_budget(context, state, cap))
        texts = [effect.text for effect in merged.effects if isinstance(effect, InjectContext)]
        taken = sum(measure_text(text, cap.unit) + 1 for text in texts)
        return replace(cap, max_length=max(cap.max_length - taken, 0)) if taken else cap

    def remaining_budget(self, context: EventContext, state: SessionState, cap: TextLimit) -> ContextBudget:
        """Return how much context may be injected; a new turn starts with a full budget."""
        settings, used = context.repo_context.settings, 0 if self.is_new_turn else state.injected_chars_this_turn
        return ContextBudget(
            cap,
            max(settings.inject_max_chars_turn - used, 0),
            max(settings.inject_max_chars_session - state.injected_chars, 0),
        )

    def facts(self, evaluation: Evaluation, merged: MergeResult, state: SessionState) -> tuple[Fact, ...]:
        """Return what to remember: notes and marks of what was injected, and the characters spent.

        Notes of a policy whose context was dropped are not saved, so that it injects the context again.
        """
        facts: tuple[Fact, ...] = tuple(
            note for note in evaluation.notes if f"policy {note.policy}" not in merged.dropped_parts
        )
        if marks := tuple(mark for part, mark in evaluation.once_marks if part in merged.parts):
            from upbeat.core.rules import ruleset

            facts += (PolicyNotesSaved(ruleset.NOTES_KEY, (*state.notes_of(ruleset.NOTES_KEY), *marks)),)
        if merged.spent_chars or (self.is_new_turn and state.injected_chars_this_turn):
            facts += (ContextInjected(merged.spent_chars, self.is_new_turn),)
        return facts

    def _build_proposal(self, outcome: PolicyOutcome, context: EventContext) -> Proposal:
        policy, result = outcome.policy, outcome.result
        part = f"policy {policy.name}"
        if outcome.failure:
            explanation = Explanation(part, "could not evaluate", outcome.failure)
        else:
            kinds = ", ".join(dict.fromkeys(type(effect).__name__ for effect in result.effects)) or "notes"
            inputs = {"names": list(result.mentioned_paths)} if result.mentioned_paths else {}
            location = context.repo_context.settings.origins.get("policies.on", "")
            explanation = Explanation(part, kinds, result.reason, inputs, location)
        is_explained = result.effects or outcome.failure or result.reason
        explanations = (explanation,) if is_explained else ()
        return Proposal(part, result.effects, policy.rank, explanations, is_held_out=self.is_held_out)


def _with_effects_of(outcome: PolicyOutcome, kinds: tuple[type, ...]) -> PolicyOutcome:
    """Return ``outcome`` with its effects of these ``kinds`` only, and with no reason if none is left."""
    effects = tuple(effect for effect in outcome.result.effects if isinstance(effect, kinds))
    return replace(
        outcome, result=replace(outcome.result, effects=effects, reason=outcome.result.reason * bool(effects))
    )


@lru_cache(maxsize=64)
def policies_for(
    event_name: str, enabled: tuple[str, ...], disabled: tuple[str, ...], client: ClientTraits
) -> tuple[Policy, ...]:
    """Return the policies that are on, that ``client`` does not have natively, and that handle the event."""
    return enabled_policies(policies_handling(event_name), enabled, disabled, client)


def _applicable_rules(
    rules: tuple[Rule, ...], event: events.Event, foreign_rules: str, client: ClientTraits
) -> tuple[Rule, ...]:
    from upbeat.core.rules import ruleset  # most users have no rules

    return ruleset.applicable_rules(rules, event, foreign_rules, client)


NO_EVALUATORS = Evaluators()
