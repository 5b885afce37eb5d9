"""Handle one event of a client: decide, and record the decision.

The turn is prepared outside the transaction, because tools take seconds; the workflow decides inside it, on the
current state. Invariant: every event that is not noise leaves one record, and the record states the decision.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args

from upbeat.core.contract.arrival import Arrival
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.effect import (
    EMPTY_DECISION,
    Decision,
    Effect,
    EndTurn,
    Explanation,
    InjectContext,
    NotifyUser,
    Proposal,
)
from upbeat.core.contract.event import (
    READING_KINDS,
    Call,
    Event,
    EventSource,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    SubagentRequested,
    ToolFinished,
    ToolKind,
    ToolStarting,
    TurnEnding,
    UnknownEvent,
    UserQuestionRequested,
)
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.engine.evaluate import (
    CONFIG_MISTAKES,
    NO_EVALUATORS,
    Evaluation,
    Evaluators,
    EventContext,
    rule_warnings,
)
from upbeat.core.engine.merge import ContextBudget, MergeResult, merge_proposals
from upbeat.core.engine.ports import Transaction
from upbeat.core.engine.runtime import NO_CAP, Runtime, TurnRequest
from upbeat.core.engine.senders import declare_sender, refusal_of
from upbeat.core.engine.unstored import without_storage
from upbeat.core.journal.record import SESSION_RENAMED, Record
from upbeat.core.lazy_dataclass import fields, replace
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.policy.definition import SideEffect
from upbeat.core.sanitize.text import sanitize_inline
from upbeat.core.sanitize.truncate import TextLimit
from upbeat.core.settings import Activation, ExecutionMode
from upbeat.core.workflow.decision import (
    EVENTS_OF_WORKFLOWS,
    EVENTS_WITHOUT_INPUTS,
    NO_DECISION,
    ArchiveFeature,
    StartFeature,
    StoreHandoff,
    TickCheckboxes,
    TickSubtask,
    WorkflowDecision,
    WorkflowInputs,
)
from upbeat.core.workflow.facts import (
    ExcerptsShown,
    Fact,
    HandoverOffered,
    ModelResponded,
    PolicyNotesSaved,
    SessionBegan,
    SessionClosed,
    TurnAllowed,
    TurnContinued,
    WorkflowAdopted,
    WorkflowEnded,
    apply_facts,
)
from upbeat.core.workflow.state import NEW_SESSION, RunStatus, SessionState

WORKFLOW_RANK = 0
TURN_RANK = 10
MAX_HABITS_SHOWN = 5
"""Habits that a new session is shown."""

MAX_HABIT_CHARS = 160
"""Characters of a habit's trigger, and of its action."""

_MODEL_ACTIONS = (ToolStarting, ToolFinished, UserQuestionRequested, SubagentRequested, TurnEnding)
"""Events that show that the model has read its prompt."""

EFFECT_KINDS = {kind: re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower() for kind in get_args(Effect)}
"""The stored name of each effect: ``inject_context`` for ``InjectContext``."""

_STOPPED = TurnAllowed("stopped by another component")
_STARTUP_LIMITS = CONFIG_MISTAKES | {LimitCode.CONFIG_UNTRUSTED, LimitCode.CONFIG_MISPLACED}


DegradationCheck = Callable[[Event, Decision], tuple[str, ...]]
"""Return for each effect of a decision how the client degrades it at an event; empty where it does not."""


def handle_event(
    event: Event,
    runtime: Runtime,
    cap: TextLimit = NO_CAP,
    degradations: DegradationCheck | None = None,
    request: TurnRequest | None = None,
    arrival: Arrival | None = None,
) -> Decision:
    """Decide on one event of a client, and record the decision in the journal.

    ``cap`` is the client's limit. A program that drives the client passes ``request``, and shows the limits of its
    turns; its ``repo_root`` applies to every event, its cap to none. A forged event (``arrival``) changes no state.
    """
    if isinstance(event, UnknownEvent) and event.is_noise:
        return EMPTY_DECISION
    started = runtime.clock.monotonic()
    repo_context = runtime.context_resolver.resolve(event.source, request.repo_root if request else None, is_plan=False)
    is_enabled = repo_context.settings.enabled is not Activation.OFF and bool(event.source.session_id)
    context = EventContext(event, runtime, repo_context, started, request, is_enabled, arrival)
    evaluators = Evaluators.for_event(context) if is_enabled else NO_EVALUATORS
    before = _read_state(context, evaluators)
    if evaluators.has_queries:
        evaluators = evaluators.with_query_results(context, before)
    evaluation = evaluators.evaluate(context, before) if isinstance(event, PromptSubmitted) else None
    turn = _prepare(context, before, evaluators, evaluation, cap)
    inputs = _gather_inputs(context, before)
    with runtime.journal.transaction() as transaction:
        state = transaction.state(event.source.session_id)
        if state.has_ended and isinstance(event, SessionEnded):  # some clients report it twice
            return EMPTY_DECISION
        inputs = inputs or _gather_inputs(context, state)  # a workflow may have started in the meantime
        refusal = refusal_of(context, state)
        outcome = _decide_workflow(context, inputs, transaction, state, refusal)
        if evaluation is None or state != before:
            evaluation = evaluators.evaluate(context, state)
        workflow = Proposal("workflow", outcome.effects, WORKFLOW_RANK, outcome.explanations, is_budgeted=False)
        prepared = Proposal("turn", turn.effects, TURN_RANK, turn.explanations, False, evaluators.is_held_out)
        budget = evaluators.remaining_budget(context, state, cap)
        merged = _merge((workflow, prepared, *evaluation.proposals), budget, context, turn)
        facts: tuple[Fact, ...] = ()
        if not refusal:
            shown = () if evaluators.is_held_out else _excerpt_facts(context, state, turn)
            facts = (*_stop_facts(outcome.facts, merged), *shown, *evaluators.facts(evaluation, merged, state))
            facts += declare_sender(context, state)
        decision = replace(turn, effects=merged.effects, explanations=merged.explanations)
        degraded = degradations(event, decision) if degradations else ("",) * len(decision.effects)
        record = _build_record(context, decision, merged, facts, degraded)
        transaction.append(record, apply_facts(facts, state) if facts else None)
        for adopted in (fact for fact in facts if isinstance(fact, WorkflowAdopted)):
            _release_workflow(adopted.from_session, event.source.session_id, runtime, transaction)
    _perform_actions(context, replace(outcome, facts=facts), () if refusal else evaluation.side_effects, state)
    if transaction.problem and is_enabled:
        return without_storage(event, decision, state, facts, transaction.problem, runtime.language)
    return decision


def _gather_inputs(context: EventContext, state: SessionState) -> WorkflowInputs | None:
    """Return what the workflow decides the event on; None without a workflow, and for a call, which needs nothing."""
    is_of_workflow = state.has_workflow or not isinstance(context.event, EVENTS_OF_WORKFLOWS)
    if not context.is_enabled or not is_of_workflow or isinstance(context.event, ToolStarting):
        return None
    from upbeat.core.engine.inputs import gather_inputs

    return gather_inputs(context, state)


def _merge(
    proposals: tuple[Proposal, ...], budget: ContextBudget, context: EventContext, turn: Decision
) -> MergeResult:
    merged = merge_proposals(proposals, budget)
    if not isinstance(context.event, PromptSubmitted):
        return merged
    from upbeat.core.engine.turn_line import add_turn_line  # of no use to a guard

    return add_turn_line(merged, context, turn.report)


def _read_state(context: EventContext, evaluators: Evaluators) -> SessionState:
    """Return the state of the session before the transaction if anything is looked up for it."""
    needs_state = evaluators.has_queries or not isinstance(context.event, EVENTS_WITHOUT_INPUTS)
    if not context.is_enabled or not needs_state:
        return NEW_SESSION
    with context.runtime.journal.transaction() as transaction:
        return transaction.state(context.event.source.session_id)


def _decide_workflow(
    context: EventContext, inputs: WorkflowInputs | None, transaction: Transaction, state: SessionState, refusal: str
) -> WorkflowDecision:
    """Return what the workflow decides; nothing but the reason for an event that does not count."""
    if refusal:
        return WorkflowDecision(explanations=(Explanation("route", "does not count", refusal),))
    event, handoffs = context.event, context.runtime.handoffs
    if isinstance(event, ToolStarting) and context.is_enabled and state.has_workflow:
        from upbeat.core.workflow.decide.starting_calls import on_tool_starting

        return on_tool_starting(event, state, handoffs.folder if handoffs and event.call.kind is ToolKind.READ else "")
    if inputs is None:
        return NO_DECISION
    from upbeat.core.engine.inputs import with_peer_sessions
    from upbeat.core.workflow.decide.table import decide

    return decide(event, state, with_peer_sessions(inputs, event, transaction, state))


def adopt_session(source: EventSource, former_id: str, runtime: Runtime, *, is_same_conversation: bool = True) -> None:
    """Let the session of ``source`` continue ``former_id``, its name before the client assigned one.

    Unless ``is_same_conversation``, excerpts and notes of the conversation are not adopted. One transaction: exactly
    one of the two sessions has the workflow at any time.
    """
    with runtime.journal.transaction() as transaction:
        before, present = transaction.state(former_id), transaction.state(source.session_id)
        if before == NEW_SESSION:
            return
        facts: tuple[Fact, ...] = (SessionBegan(before.client, before.root),)
        if before.run:
            facts += (WorkflowAdopted(before.run, before.loop, before.evidence, before.client, former_id),)
        if before.shown_excerpts and is_same_conversation:
            facts += (ExcerptsShown(before.shown_excerpts, before.subject),)
        facts += tuple(
            PolicyNotesSaved(page.policy, page.notes, page.survives_compaction)
            for page in before.policy_notes
            if page.survives_compaction or is_same_conversation
        )
        now = format_timestamp(runtime.clock.now())
        record = Record(now, "SessionAdopted", before.client, source.session_id, root=before.root, facts=facts)
        transaction.append(record, apply_facts(facts, present))
        _release_workflow(former_id, source.session_id, runtime, transaction, SESSION_RENAMED, SessionClosed())


def _release_workflow(
    session_id: str,
    new_session_id: str,
    runtime: Runtime,
    transaction: Transaction,
    event: str = "WorkflowHandedOver",
    *extra_facts: Fact,
) -> None:
    """Record that another session has adopted the run of ``session_id``."""
    state = transaction.state(session_id)
    ended: tuple[Fact, ...] = (
        (WorkflowEnded(RunStatus.HANDED_OVER, new_session_id), HandoverOffered("")) if state.run else ()
    )
    facts = (*ended, *extra_facts)
    now = format_timestamp(runtime.clock.now())
    record = Record(now, event, state.client, session_id, root=state.root, facts=facts)
    transaction.append(record, apply_facts(facts, state))


def _stop_facts(facts: tuple[Fact, ...], merged: MergeResult) -> tuple[Fact, ...]:
    """Return ``facts``; another component may have ended a turn that the workflow would have continued."""
    is_ended = EndTurn in map(type, merged.effects)
    return tuple(_STOPPED if is_ended and isinstance(fact, TurnContinued) else fact for fact in facts)


def _excerpt_facts(context: EventContext, state: SessionState, turn: Decision) -> tuple[Fact, ...]:
    """Return what the model is shown with a prompt, or that it has read it, which its next action proves."""
    if not context.is_enabled:
        return ()
    if state.unread_excerpts and isinstance(context.event, _MODEL_ACTIONS):
        return (ModelResponded(),)
    if turn.report is None:
        return ()
    from upbeat.core.turn.fuse import collect_excerpt_ids, collect_subject

    items = turn.report.fused_context.for_model.structured.items
    excerpts, subject = collect_excerpt_ids(items), collect_subject(items)
    return (ExcerptsShown(excerpts, subject),) if excerpts or (subject and subject != state.subject) else ()


def _prepare(
    context: EventContext, before: SessionState, evaluators: Evaluators, evaluation: Evaluation | None, cap: TextLimit
) -> Decision:
    """Prepare a prompt, or a session or subagent that starts; of a subagent, the prompt that hooks may change."""
    match context.event:
        case PromptSubmitted() as event if evaluation:
            from upbeat.core.engine.prompts import decide_prompt

            return decide_prompt(event, context, before, evaluators.cap_for_turn(evaluation, context, before, cap))
        case SessionStarted():
            return _decide_session_start(context)
        case SubagentRequested(is_prompt_hidden=False) as event if context.is_enabled and not context.request:
            from upbeat.core.engine.prompts import decide_delegation

            return EMPTY_DECISION if evaluators.is_held_out else decide_delegation(event, context)
        case _:
            return EMPTY_DECISION


def _decide_session_start(context: EventContext) -> Decision:
    """Report problems of settings, workflows and rules once, and show learned habits if they are enabled.

    A client that shows the limits of its turns reports problems of the settings there.
    """
    from upbeat.core.engine.pipeline import configuration_limits

    repo_context = context.repo_context
    _registry, problems = context.runtime.workflow_loader.load(repo_context.repository.root)
    limits = (*configuration_limits(repo_context), *repo_context.limits) if context.request is None else ()
    warnings = dict.fromkeys(
        [*(limit.text for limit in limits if limit.code in _STARTUP_LIMITS), *problems, *rule_warnings(context)]
    )
    effects: list[Effect] = [NotifyUser("upbeat: " + "\n".join(map(sanitize_inline, warnings)))] if warnings else []
    if repo_context.settings.habits_enabled and (habits := _format_habits(context)):
        effects.append(InjectContext(habits))
    return Decision(tuple(effects)) if effects else EMPTY_DECISION


def _format_habits(context: EventContext) -> str:
    """Return the most reliable habits of this project, one a line."""
    from upbeat.core.learned.model import reliable_habits

    runtime = context.runtime
    habits = runtime.learned_habits.load(context.repo_context.repository.root)
    reliable = reliable_habits(habits, runtime.clock.now().timestamp())[:MAX_HABITS_SHOWN]
    lines = [
        f"- {sanitize_inline(habit.trigger, MAX_HABIT_CHARS)} → {sanitize_inline(habit.action, MAX_HABIT_CHARS)}"
        for habit in reliable
    ]
    return "\n".join([load_messages("workflow", runtime.language)["learned_habits"], *lines]) if lines else ""


def _perform_actions(
    context: EventContext, outcome: WorkflowDecision, side_effects: tuple[SideEffect, ...], state: SessionState
) -> None:
    """Perform what follows from the recorded decision: files, side effects of policies, habits and the index."""
    root, runtime = context.repo_context.repository.root, context.runtime
    for action in outcome.workspace_actions:
        match action:
            case TickCheckboxes():
                runtime.workspace.tick_tasks(root, action.feature, action.step_keys)
            case TickSubtask():
                runtime.workspace.tick_subtask(root, action.feature, action.title, action.occurrence)
            case ArchiveFeature():
                runtime.workspace.archive_feature(root, action.feature)
            case StartFeature():
                runtime.workspace.start_feature(root, action.feature)
            case StoreHandoff() if runtime.handoffs:
                from upbeat.core.workflow.handoff import handoff_file_name

                name = handoff_file_name(action.step_key)
                runtime.handoffs.store(action.run_id, name, action.text, is_more=action.is_more)
    for side_effect in side_effects:
        runtime.world.perform(side_effect, root)
    settings = context.repo_context.settings
    if settings.habits_enabled:
        from upbeat.core.learned.detect import detect_habits

        if habits := detect_habits(context.event, outcome.facts, state):
            runtime.learned_habits.record(root, habits, runtime.clock.now().timestamp())
    works = settings.enabled is not Activation.OFF and settings.mode is ExecutionMode.RUN
    if runtime.index and works:
        match context.event:
            case SessionStarted() | TurnEnding():
                runtime.index.request_update(root)
            case ToolFinished(call=call) if call.kind not in READING_KINDS:
                runtime.index.forget_check(root)


def _build_record(
    context: EventContext, decision: Decision, merged: MergeResult, facts: tuple[Fact, ...], degraded: tuple[str, ...]
) -> Record:
    event, source, clock = context.event, context.event.source, context.runtime.clock
    effects = tuple(
        {"kind": EFFECT_KINDS[type(effect)], "text": effect.text, "part": part}
        | ({"degraded": degradation} if degradation else {})
        for effect, part, degradation in zip(decision.effects, merged.parts, degraded, strict=True)
    )
    turn: dict[str, Any] = {}
    if report := decision.report:
        tools = [f"{result.tool}:{result.status}" for result in report.tool_results]
        turn = {"run_id": report.run_id, "limits": [limit.code for limit in report.limits], "tools": tools}
    if decision.skip_reason:
        turn["skip_reason"] = decision.skip_reason.value
    return Record(
        at=format_timestamp(clock.now()),
        event=event.name if isinstance(event, UnknownEvent) else type(event).__name__,
        client=source.client.value,
        session_id=source.session_id,
        agent_id=source.agent_id,
        root=context.repo_context.repository.root,
        event_fields=_event_fields(event) | ({"driver": context.request.event_name} if context.request else {}),
        facts=facts,
        explanations=decision.explanations,
        effects=effects,
        turn=turn,
        injected_chars=sum(len(effect.text) for effect in decision.effects if isinstance(effect, InjectContext)),
        route=context.arrival.route.value if context.arrival else "",
        duration_ms=round((clock.monotonic() - context.started_at) * 1000, 1),
    )


def _event_fields(event: Event) -> dict[str, Any]:
    """Return the event's own fields; those of a call are merged into them."""
    values: dict[str, Any] = {}
    for field in fields(event):
        value = getattr(event, field.name)
        if isinstance(value, Call):
            call = {"call_id": value.id, "tool": value.tool, "input": dict(value.input), "tool_kind": value.kind.value}
            values |= call | ({"paths": list(value.paths)} if value.paths else {})
        elif field.name not in ("source", "raw", "is_noise") and value not in ("", None, ()):
            values[field.name] = value
    return values
