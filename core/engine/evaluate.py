"""Gather what an event is decided on, and evaluate the enabled policies and the user's rules for it.

``Evaluators.for_event`` selects them, ``with_query_results`` looks up what they need outside of any transaction, and
``evaluate`` evaluates them on a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from upbeat.core.contract import event as events
from upbeat.core.contract.client import UNKNOWN_CLIENT, ClientTraits
from upbeat.core.contract.effect import Explanation, InjectContext, Proposal
from upbeat.core.engine.merge import ContextBudget, MergeResult, merge_proposals
from upbeat.core.engine.observe_run import observe_run
from upbeat.core.engine.pipeline import NO_CAP, Runtime, TurnRequest
from upbeat.core.engine.ports import RepoContext, Transaction
from upbeat.core.policies import POLICIES
from upbeat.core.policy.definition import Policy, PolicyContext, SideEffect
from upbeat.core.policy.evaluate import PolicyOutcome, collect_queries, enabled_policies, evaluate_policies
from upbeat.core.policy.queries import Query
from upbeat.core.prompt.analysis import Intent
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.rules import ruleset
from upbeat.core.rules.rule import Rule
from upbeat.core.sanitize.truncate import TextLimit, measure_text
from upbeat.core.settings import Settings, Toggle
from upbeat.core.workflow.decide.features import find_new_feature
from upbeat.core.workflow.decide.loop import ends_in_question
from upbeat.core.workflow.decide.table import RequiredInput, required_inputs
from upbeat.core.workflow.decision import LoopLimits, WorkflowInputs
from upbeat.core.workflow.evidence.judgement import NO_RUN
from upbeat.core.workflow.facts import ContextInjected, Fact, PolicyNotesSaved
from upbeat.core.workflow.registry import Registry
from upbeat.core.workflow.state import SessionState, StepStatus
from upbeat.core.workflow.tasks import TasksFile
from upbeat.core.workflow.verdict.reading import CHANGES

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


def rule_warnings(context: EventContext) -> tuple[str, ...]:
    """Return a sentence for each problem of the rules here, and one for those that are not trusted."""
    rules = context.runtime.rule_loader.load(context.repo_context.repository.root)
    if not rules.untrusted or not context.is_enabled:
        return rules.problems
    named = ", ".join(rules.untrusted[:MAX_NAMED_FILES])
    more = f" and {len(rules.untrusted) - MAX_NAMED_FILES} more" if len(rules.untrusted) > MAX_NAMED_FILES else ""
    return (*rules.problems, f"rules that you have not trusted may only tighten (`upbeat trust`): {named}{more}")


def gather_inputs(context: EventContext, state: SessionState) -> WorkflowInputs:
    """Return what the workflow decides the event on; only what this event needs is looked up."""
    event, runtime, settings = context.event, context.runtime, context.repo_context.settings
    root, wanted = context.repo_context.repository.root, required_inputs(context.event, state)
    registry, _problems = runtime.workflow_loader.load(root)
    now = runtime.clock.now()
    is_running = state.run is not None and state.run.is_running
    features = runtime.workspace.features_in_progress(root) if RequiredInput.FEATURES in wanted else ()
    feature = find_new_feature(state.run, features) or state.run.feature if state.run else ""
    if not (state.run and state.run.is_open) and len(features) == 1:
        feature = features[0]
    text = runtime.workspace.read_tasks(root, feature) if RequiredInput.TASKS in wanted and feature else None
    call: events.Call | None = getattr(event, "call", None)
    exit_code, agent_id = None, ""
    if call and RequiredInput.EXIT_CODE in wanted:
        exit_code = runtime.transcripts.exit_codes(event.source, frozenset({call.id})).get(call.id)
    observed = None
    if isinstance(event, events.ToolFinished) and RequiredInput.TEST_RUN in wanted:
        observed = observe_run(event, exit_code, state.root or root, runtime.evidence, settings, now.timestamp())
        if not observed.is_check:
            wanted -= {RequiredInput.TREE_DIGEST}
    if call and RequiredInput.AGENT_ID in wanted:
        agent_id = runtime.transcripts.agent_id_of(event.source, call.id)
    return WorkflowInputs(
        now=now.timestamp(),
        registry=registry,
        limits=loop_limits(settings),
        language=runtime.language,
        root=root,
        run_id=f"{int(now.timestamp() * 1000):012x}-{runtime.clock.nonce()[:6]}",
        tree_digest=runtime.workspace.tree_digest(root) if RequiredInput.TREE_DIGEST in wanted else "",
        tasks=None if text is None else TasksFile.parse(text),
        tokens=runtime.transcripts.total_tokens(event.source) if RequiredInput.TOKENS in wanted else None,
        exit_code=exit_code,
        observed=observed or NO_RUN,
        agent_id=agent_id,
        features_in_progress=features,
        features_in_backlog=runtime.workspace.features_in_backlog(root) if RequiredInput.FEATURES in wanted else (),
        is_unrelated_question=is_running
        and isinstance(event, events.PromptSubmitted)
        and (ends_in_question(event.prompt) or analyze_prompt(event.prompt).likely_intent is Intent.DOCS),
        requires_evidence=settings.workflow_require_evidence,
        base_commit=runtime.workspace.base_commit(root) if RequiredInput.BASE_COMMIT in wanted else "",
        changed_files=_changed_files(context, state, registry) if RequiredInput.CHANGED_FILES in wanted else None,
        handoff_folder=runtime.handoffs.folder if runtime.handoffs else "",
        can_inject=context.request is None,
        client=runtime.client_traits.get(event.source.client, UNKNOWN_CLIENT),
    )


def _changed_files(context: EventContext, state: SessionState, registry: Registry) -> tuple[str, ...] | None:
    """Return what has changed since the run began, if a step at work is one that has to read it."""
    run = state.run
    active = (step for step in run.steps if step.status is StepStatus.ACTIVE) if run else ()
    if run is None or not any(registry.find_stage(step.stage).required_evidence == CHANGES for step in active):
        return None
    return context.runtime.workspace.changed_files(context.repo_context.repository.root, run.base_commit)


def with_peer_sessions(
    inputs: WorkflowInputs, event: events.Event, transaction: Transaction, state: SessionState
) -> WorkflowInputs:
    """Return ``inputs`` with the peer sessions, if the event needs them, read in the transaction of the state."""
    if RequiredInput.PEER_SESSIONS not in required_inputs(event, state):
        return inputs
    own_run_id = state.run.id if state.run else ""
    peers = transaction.peer_sessions(inputs.root)
    return replace(inputs, peer_sessions=tuple(p for p in peers if p.state.run and p.state.run.id != own_run_id))


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
change them. There, policies only save notes."""


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
        percent = settings.inject_holdout_percent
        is_held_out = bool(percent) and int(context.runtime.clock.nonce()[:8], 16) % 100 < percent
        loaded = context.runtime.rule_loader.load(context.repo_context.repository.root).rules
        rules = ruleset.applicable_rules(loaded, event, settings.rules_hookify, client) if loaded else ()
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
        return replace(self, query_results=answers)

    def evaluate(self, context: EventContext, state: SessionState) -> Evaluation:
        """Evaluate the rules, then the policies."""
        runtime, event, root = context.runtime, context.event, context.repo_context.repository.root
        proposals: tuple[Proposal, ...] = ()
        once_marks: tuple[tuple[str, str], ...] = ()
        if self.rules:
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
            outcomes = tuple(replace(o, result=replace(o.result, effects=(), reason="")) for o in outcomes)
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


@lru_cache(maxsize=64)
def policies_for(
    event_name: str, enabled: tuple[str, ...], disabled: tuple[str, ...], client: ClientTraits
) -> tuple[Policy, ...]:
    """Return the policies that are on, that ``client`` does not have natively, and that handle the event."""
    policies = enabled_policies(POLICIES, enabled, disabled, client)
    return tuple(policy for policy in policies if event_name in (kind.__name__ for kind in policy.handlers))


NO_EVALUATORS = Evaluators()
