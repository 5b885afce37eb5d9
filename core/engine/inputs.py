"""Gather what the workflow decides an event on. Imported only for events that a workflow decides."""

from __future__ import annotations

from upbeat.core.contract import event as events
from upbeat.core.contract.client import UNKNOWN_CLIENT
from upbeat.core.engine.evaluate import EventContext, loop_limits
from upbeat.core.engine.observe_run import observe_run
from upbeat.core.engine.ports import Transaction
from upbeat.core.lazy_dataclass import replace
from upbeat.core.prompt.analysis import Intent
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.workflow.decide.features import find_new_feature
from upbeat.core.workflow.decide.loop import ends_in_question
from upbeat.core.workflow.decide.table import RequiredInput, required_inputs
from upbeat.core.workflow.decision import WorkflowInputs
from upbeat.core.workflow.evidence.judgement import NO_RUN
from upbeat.core.workflow.registry import Registry
from upbeat.core.workflow.state import SessionState, StepStatus
from upbeat.core.workflow.tasks import TasksFile
from upbeat.core.workflow.verdict.reading import CHANGES


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
