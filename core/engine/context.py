"""The context of an event, and what the workflow needs to know to decide on it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from upbeat.core.contract.event import Call, Event, PromptSubmitted
from upbeat.core.engine.pipeline import Runtime, TurnRequest
from upbeat.core.engine.ports import RepoContext, Transaction
from upbeat.core.prompt.analysis import Intent
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.settings import Settings, Toggle
from upbeat.core.workflow.decide.loop import ends_in_question, find_new_feature
from upbeat.core.workflow.decide.table import RequiredInput, required_inputs
from upbeat.core.workflow.decision import LoopLimits, WorkflowInputs
from upbeat.core.workflow.state import SessionState
from upbeat.core.workflow.tasks import TasksFile

MAX_NAMED_FILES = 5
"""Untrusted files that a warning names."""


@dataclass(frozen=True, slots=True)
class EventContext:
    """An event with the repository, settings and runtime it is handled with; ``started_at`` is monotonic seconds."""

    event: Event
    runtime: Runtime
    repo_context: RepoContext
    started_at: float
    request: TurnRequest | None = None
    is_enabled: bool = True
    """Whether anything is evaluated: the session has a name, and ``enabled`` is not ``off``."""


def rule_warnings(context: EventContext) -> tuple[str, ...]:
    """Return a sentence for each problem of the rules here, and one for those that are not trusted."""
    book = context.runtime.rule_loader.load(context.repo_context.repository.root)
    if not book.untrusted or not context.is_enabled:
        return book.problems
    named = ", ".join(book.untrusted[:MAX_NAMED_FILES])
    more = f" and {len(book.untrusted) - MAX_NAMED_FILES} more" if len(book.untrusted) > MAX_NAMED_FILES else ""
    return (*book.problems, f"rules that you have not trusted may only tighten (`upbeat trust`): {named}{more}")


def gather_inputs(context: EventContext, state: SessionState) -> WorkflowInputs:
    """Return what the workflow decides the event on; only what this event needs is looked up."""
    event, runtime, settings = context.event, context.runtime, context.repo_context.settings
    root, wanted = context.repo_context.repository.root, required_inputs(context.event, state)
    registry, _problems = runtime.workflow_loader.load(root)
    now = runtime.clock.now()
    is_running = state.run is not None and state.run.is_running
    features = runtime.workspace.features_in_progress(root) if RequiredInput.FEATURES in wanted else ()
    feature = (state.run.feature or find_new_feature(state.run, features)) if state.run else ""
    text = runtime.workspace.read_tasks(root, feature) if RequiredInput.TASKS in wanted and feature else None
    call: Call | None = getattr(event, "call", None)
    exit_code, agent_id = None, ""
    if call and RequiredInput.EXIT_CODE in wanted:
        exit_code = runtime.transcripts.exit_codes(event.source, frozenset({call.id})).get(call.id)
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
        agent_id=agent_id,
        features_in_progress=features,
        is_unrelated_question=is_running and _is_question(event),
        requires_evidence=settings.workflow_require_evidence,
    )


def with_peer_sessions(
    inputs: WorkflowInputs, event: Event, transaction: Transaction, state: SessionState
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


def _is_question(event: Event) -> bool:
    """Return whether the event is a question, about the code or by its end; a statement is about the work."""
    if not isinstance(event, PromptSubmitted):
        return False
    return ends_in_question(event.prompt) or analyze_prompt(event.prompt).intent is Intent.DOCS
