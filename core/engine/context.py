"""An event with all that is known around it, and what the workflow needs to know to decide on it."""

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
"""Files that wait for trust and are named."""


@dataclass(frozen=True, slots=True)
class EventContext:
    """An event with all that is known around it."""

    event: Event
    runtime: Runtime
    repo_context: RepoContext
    started_at: float
    request: TurnRequest | None = None
    is_enabled: bool = True
    """Whether anything is evaluated: the session has a name, and ``enabled`` is not ``off``."""


def rule_warnings(context: EventContext) -> tuple[str, ...]:
    """What is wrong with the rules here, and which of them wait for trust: a sentence each."""
    book = context.runtime.rule_loader.load(context.repo_context.repository.root)
    if not book.untrusted or not context.is_enabled:
        return book.problems
    named = ", ".join(book.untrusted[:MAX_NAMED_FILES])
    more = f" and {len(book.untrusted) - MAX_NAMED_FILES} more" if len(book.untrusted) > MAX_NAMED_FILES else ""
    return (*book.problems, f"rules that you have not trusted may only tighten (`upbeat trust`): {named}{more}")


def gather_inputs(context: EventContext, state: SessionState) -> WorkflowInputs:
    """What the event is decided on. Only what it needs is looked up."""
    event, runtime, settings = context.event, context.runtime, context.repo_context.settings
    root, wanted = context.repo_context.repository.root, required_inputs(context.event, state)
    registry, _problems = runtime.workflow_loader.load(root)
    now = runtime.clock.now()
    is_running = state.run is not None and state.run.is_running
    features = runtime.workspace.features_in_progress(root) if RequiredInput.FEATURES in wanted else ()
    feature = (state.run.feature or find_new_feature(state.run, features)) if state.run else ""
    text = runtime.workspace.read_tasks(root, feature) if RequiredInput.TASKS in wanted and feature else None
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
        exit_code=_shell_exit_code(context) if RequiredInput.EXIT_CODE in wanted else None,
        agent_id=_delegated_agent_id(context) if RequiredInput.AGENT_ID in wanted else "",
        features_in_progress=features,
        is_unrelated_question=is_running and _is_question(event),
        requires_evidence=settings.workflow_require_evidence,
    )


def with_peer_sessions(
    inputs: WorkflowInputs, event: Event, transaction: Transaction, state: SessionState
) -> WorkflowInputs:
    """``scene`` with the other sessions, if it needs them: read in the same transaction as the state."""
    if RequiredInput.PEER_SESSIONS not in required_inputs(event, state):
        return inputs
    me = state.run.id if state.run else ""
    others = (n for n in transaction.peer_sessions(inputs.root) if n.state.run and n.state.run.id != me)
    return replace(inputs, peer_sessions=tuple(others))


def loop_limits(settings: Settings) -> LoopLimits:
    """How far a loop may go."""
    return LoopLimits(
        is_enabled=settings.loop_enabled is Toggle.ON,
        max_turns=settings.loop_max_turns,
        max_consecutive_errors=settings.loop_max_consecutive_errors,
        max_turns_without_progress=settings.loop_max_turns_without_progress,
        max_minutes=settings.loop_max_minutes,
        max_tokens=settings.loop_max_tokens,
    )


def _shell_exit_code(context: EventContext) -> int | None:
    call = _event_call(context.event)
    if call is None:
        return None
    return context.runtime.transcripts.exit_codes(context.event.source, frozenset({call.id})).get(call.id)


def _delegated_agent_id(context: EventContext) -> str:
    call = _event_call(context.event)
    return context.runtime.transcripts.agent_id_of(context.event.source, call.id) if call else ""


def _event_call(event: Event) -> Call | None:
    return getattr(event, "call", None)


def _is_question(event: Event) -> bool:
    """A question: about the code, or whatever ends like one. A statement is taken for a word on the work."""
    if not isinstance(event, PromptSubmitted):
        return False
    return ends_in_question(event.prompt) or analyze_prompt(event.prompt).intent is Intent.DOCS
