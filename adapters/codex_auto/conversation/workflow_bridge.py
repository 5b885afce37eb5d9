"""Connect a conversation to the core: what Codex does becomes events, and what the core decides becomes turns.

Invariant: the core decides and records, as it does for a hook. Hooks report the same thread with the same ids, so
nothing counts twice. An internal error never costs the user a turn.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from upbeat.adapters.codex.tools import unwrap_shell_command
from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex_auto.conversation.rollouts import (
    AgentFinished,
    AgentSpawned,
    RecordedCommand,
    RecordedFileChange,
    RolloutEvent,
    RolloutReader,
)
from upbeat.adapters.codex_auto.view.show import TurnPrinter
from upbeat.adapters.hooks.codec import UNSUPPORTED
from upbeat.adapters.system.config.pinned import PinnedConfiguration
from upbeat.core.contract.effect import (
    ContinueTurn,
    Decision,
    Deny,
    Effect,
    EndTurn,
    Explanation,
    InjectContext,
    NotifyUser,
    RequestApproval,
)
from upbeat.core.contract.event import (
    Call,
    ClientName,
    Event,
    EventSource,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    SubagentRequested,
    SubagentReturned,
    Task,
    ToolFinished,
    ToolKind,
    ToolStarting,
    TurnEnding,
    TurnFailed,
    TurnInterrupted,
    WorkflowCommanded,
)
from upbeat.core.contract.report import TurnReport
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.engine.handle import adopt_session, handle_event
from upbeat.core.engine.ports import ContextResolver, RepoContext
from upbeat.core.engine.runtime import NO_CAP, Runtime, TurnRequest
from upbeat.core.journal.record import Record
from upbeat.core.json_fields import text_of
from upbeat.core.sanitize.truncate import TextLimit
from upbeat.core.settings import Toggle
from upbeat.core.workflow.registry import Registry
from upbeat.core.workflow.state import NEW_SESSION, SessionState
from upbeat.core.workflow.tasks import TasksFile

TRIGGER_NAME = "codex-auto"
EVALUATION_FAILED = "internal_error"
T = TypeVar("T")

MAX_EVIDENCE_AGE_SECONDS = 5.0
"""A command that is seen later than this is no evidence: files may have changed since."""

_SUPPORTED_EFFECTS: dict[type[Event], tuple[type[Effect], ...]] = {
    SessionStarted: (InjectContext, NotifyUser),
    PromptSubmitted: (InjectContext, NotifyUser),
    TurnEnding: (ContinueTurn, EndTurn, NotifyUser),
}
"""The effects that codex-auto supports; at all other events it can only notify the user."""

_POLL_EVENTS = (base.Message, base.CommandFinished, base.FilesChanged, base.ToolCall, base.Heartbeat)
"""The events after which Codex's own records are read."""

_SPAWN_TOOLS = ("spawn_agent", "spawnAgent")
"""Calls that start subagents, as the two transports name them; the rollout has the details."""


_HELD_EFFECTS = (Deny, RequestApproval, NotifyUser)
"""The effects that codex-auto supports at a call that Codex asks about."""


def degradations(event: Event, decision: Decision) -> tuple[str, ...]:
    """Return for each effect of ``decision`` whether it is unsupported without hooks."""
    carried = _SUPPORTED_EFFECTS.get(type(event), (NotifyUser,))
    return tuple("" if isinstance(effect, carried) else UNSUPPORTED for effect in decision.effects)


def _degradations_of_held_call(_event: Event, decision: Decision) -> tuple[str, ...]:
    return tuple("" if isinstance(effect, _HELD_EFFECTS) else UNSUPPORTED for effect in decision.effects)


@dataclass(frozen=True, slots=True)
class CodexLocation:
    """Where Codex runs (absolute), the repository as the user named it (or None), and the root of the repository."""

    cwd: str
    repo: str | None = None
    root: str = ""


class WorkflowBridge:
    """The workflow of a conversation.

    ``agents_end_with_turn``: as with ``codex exec``, subagents end with their turn.
    """

    def __init__(
        self,
        runtime: Runtime,
        location: CodexLocation,
        printer: TurnPrinter,
        rollouts: RolloutReader | None = None,
        *,
        agents_end_with_turn: bool = False,
    ) -> None:
        self.state: SessionState = NEW_SESSION
        """The state after its last change here."""
        self.last_error = ""
        """The last internal error."""
        self.configuration_pin: PinnedConfiguration | None = None
        """Keeps the configuration of a turn until the user's next prompt, where it is kept."""
        self._runtime = runtime
        self._location = location
        self._printer = printer
        self._is_denial_shown = False
        self._rollouts = rollouts
        self._agents_end_with_turn = agents_end_with_turn
        self.session_id = ""
        """The id of the session in the journal; empty before the first turn."""
        self._thread_id = ""
        self._turn_id = self._last_message = ""
        self._judged_calls: set[str] = set()
        """Calls that were judged while they waited for an approval; they are not reported as starting again."""
        self._is_continuation = False
        self._session_context: tuple[str, ...] = ()
        """Context of the session start, which is sent with the first prompt."""

    # --- sessions ---

    def peek(self, thread_id: str) -> None:
        """Load the workflow state of a thread without recording anything."""
        if not self.session_id:
            self._load_state(thread_id)

    def open(self, thread_id: str, *, is_fork: bool = False) -> None:
        """Start or resume the session of ``thread_id``.

        An empty one stands for a thread that Codex is about to start.
        """
        if self.session_id and thread_id == self._thread_id:
            if not thread_id and self.state.shown_excerpts:  # the last turn had no thread yet: this is a new one
                self._session_context = _injected_texts(self._decide(SessionStarted(self._source(), "clear")))
            self._poll_rollouts()
            return
        self.close()
        self._thread_id = thread_id
        self.session_id = thread_id or f"codex-auto-{self._runtime.clock.nonce()}"
        if thread_id and self._rollouts:
            self._rollouts.follow(thread_id, is_new=False)
        begun = self._decide(
            SessionStarted(self._source(), "fork" if is_fork else "resume" if thread_id else "startup")
        )
        self._session_context = _injected_texts(begun)
        self._load_state(self.session_id)

    def close(self) -> None:
        """Record the end of the session."""
        if self.session_id:
            self._decide(SessionEnded(self._source(), TRIGGER_NAME))
        self.session_id = self._thread_id = ""
        self.state = NEW_SESSION

    def _adopt_thread(self, thread_id: str) -> None:
        """Use the thread that Codex reported for the session."""
        if self.session_id and thread_id.lower() != self.session_id.lower():
            former, is_same = self.session_id, not self._thread_id  # otherwise Codex continued on another thread
            source = self._source(thread_id)
            self.call_safely(lambda: adopt_session(source, former, self._runtime, is_same_conversation=is_same))
            self.session_id = self._thread_id = thread_id
            if self._rollouts:
                self._rollouts.follow(thread_id, is_new=True)

    # --- turns ---

    def submit_prompt(self, prompt: str, request: TurnRequest) -> tuple[TurnReport | None, str]:
        """Return the report of the prepared turn (None after an internal error) and upbeat's guidance for the model."""
        self._is_continuation = False
        self._begin_turn()
        pin = self.configuration_pin
        if pin:
            pin.renew()
        decision = self._decide(PromptSubmitted(self._source(), prompt), request.cap, request)
        if pin and (notice := pin.take_notice(self._runtime.language)):
            self._printer.print_line(notice)
        self._load_state(self.session_id)
        report = decision.report if decision else None
        context = report.fused_context.for_model.additional_context if report else ""
        texts = [self.take_session_context(), *(text for text in _injected_texts(decision) if text != context)]
        guidance = "\n\n".join(text for text in texts if text)
        return report, guidance if len(guidance) < request.cap.max_length else ""

    def take_session_context(self) -> str:
        """Return the context of a session that started or was compacted, once."""
        texts, self._session_context = self._session_context, ()
        return "\n\n".join(texts)

    def handle_event(self, event: base.TurnEvent) -> None:
        """Process one event of a turn."""
        if not self.session_id:
            return
        match event:
            case base.ThreadStarted():
                self._adopt_thread(event.thread_id)
            case base.Message():
                self._last_message = event.text
            case base.ThreadCompacted():
                self._session_context = _injected_texts(self._decide(SessionStarted(self._source(), "compact")))
            case base.TransportNotice(base.TransportNoticeKind.RESTARTED):
                self._decide(SessionStarted(self._source(), "resume"))  # agents that still worked are gone
            case base.FilesChanged() if not self._rollout_path:
                self._report_file_change(self._unique_call_id(event.item_id))
            case base.CommandFinished() if not self._rollout_path and event.exit_code is not None:
                command = unwrap_shell_command(event.command)
                self._report_command(self._unique_call_id(event.item_id), command, event.output, event.exit_code)
            case base.PlanUpdated():
                self._report_plan(event)
            case base.ApprovalDecided():
                self._record_approval(event)
            case base.ToolCall() if event.tool not in _SPAWN_TOOLS and event.item_id not in self._judged_calls:
                self._decide(ToolStarting(self._source(), Call(self._unique_call_id(event.item_id), event.tool, {})))
            case _:
                pass
        if isinstance(event, _POLL_EVENTS):
            self._poll_rollouts()

    def finish_turn(self, ending: base.Ending) -> str:
        """Return the prompt that continues the workflow; empty when it is the user's turn."""
        if not self.session_id:
            return ""
        self._poll_rollouts()
        continuation = ""
        match ending:
            case base.Completed():
                decision = self._decide(
                    TurnEnding(
                        self._source(),
                        self._last_message,
                        was_continued=self._is_continuation,
                        background_task_count=0 if self._agents_end_with_turn else None,
                    )
                )
                effects = decision.effects if decision else ()
                continuation = "\n".join(effect.text for effect in effects if isinstance(effect, ContinueTurn))
            case base.Failed():
                self._decide(TurnFailed(self._source(), ending.reason.value, ending.text))
            case base.Interrupted():
                self.interrupt_turn()
        self._load_state(self.session_id)
        if continuation:
            self._is_continuation = True
            self._begin_turn()
        return continuation

    def interrupt_turn(self) -> None:
        """Record that the user stopped the turn, or what was about to follow it."""
        if self.session_id:
            self._decide(TurnInterrupted(self._source()))

    def _begin_turn(self) -> None:
        self._turn_id = self._runtime.clock.nonce()[:6]
        self._last_message = ""

    # --- approvals ---

    def judge_call(self, call: Call, request: base.ApprovalRequest) -> Decision | None:
        """Return the decision on a call that waits for an approval, made and recorded as for a hook."""
        thread_id = request.call.thread_id if request.call else ""
        agent_id = thread_id if thread_id.lower() != self._thread_id.lower() else ""
        source = self._source(agent_id=agent_id)
        source = replace(source, cwd=request.cwd or source.cwd)
        root = self._location.repo or self._location.root or self._location.cwd
        turn = TurnRequest(source, "", TRIGGER_NAME, root, holds_call=True)
        starting = ToolStarting(source, call, text_of(call.input, "command"))
        self._judged_calls.add(call.id)
        decision = self.call_safely(
            lambda: handle_event(starting, self._runtime, NO_CAP, _degradations_of_held_call, turn)
        )
        for effect in decision.effects if decision else ():
            if isinstance(effect, NotifyUser):
                self._printer.print_line(effect.text)
            elif isinstance(effect, Deny):  # Codex tells the model only that the user said no
                self._session_context += (effect.text,)
        return decision

    def _record_approval(self, decided: base.ApprovalDecided) -> None:
        """Record the answer to a request."""
        request = decided.request
        about = {
            "call_id": request.call.call_id if request.call else "",
            "kind": request.kind.value,
            "decision": decided.decision.value,
        }
        record = Record(
            format_timestamp(self._runtime.clock.now()),
            "ApprovalDecided",
            ClientName.CODEX_CLI.value,
            self.session_id,
            event_fields=about,
            explanations=(Explanation("approval", decided.decision.value, f"Codex asked about: {request.kind.value}"),),
        )
        with self._runtime.journal.transaction() as transaction:
            transaction.append(record)

    # --- commands of the user ---

    def execute_command(self, verb: str, argument: str = "") -> None:
        """Run a workflow command and print the result."""
        self._decide(WorkflowCommanded(self._source(), verb, argument))
        self._load_state(self.session_id)

    def load_registry(self, root: str) -> Registry:
        """Return the workflows in force in the repository."""
        return self._runtime.workflow_loader.load(root)[0]

    def load_tasks(self, root: str) -> TasksFile | None:
        """Return the checkboxes of the current feature; None without one."""
        feature = self.state.run.feature if self.state.run else ""
        text = self._runtime.workspace.read_tasks(root, feature) if feature else None
        return None if text is None else TasksFile.parse(text)

    # --- events of Codex ---

    @property
    def _rollout_path(self) -> str:
        """The file in which Codex records the thread; empty if it does not: then its events are used."""
        return self._rollouts.rollout_path(self._thread_id) if self._rollouts else ""

    def _poll_rollouts(self) -> None:
        if self._rollouts and self._thread_id:
            for event in self._rollouts.poll():
                self._handle_rollout_event(event)

    def _handle_rollout_event(self, event: RolloutEvent) -> None:
        match event:
            case RecordedCommand():
                age = self._runtime.clock.now().timestamp() - event.ended_at
                if event.exit_code is not None and age <= MAX_EVIDENCE_AGE_SECONDS:
                    self._report_command(event.call_id, event.command, event.output, event.exit_code, event.agent_id)
            case RecordedFileChange():
                self._report_file_change(event.call_id, event.agent_id)
            case AgentSpawned():
                source, call = self._source(), Call(event.call_id, "spawn_agent", {"message": event.prompt})
                about = (event.agent_type, event.prompt, event.title)
                self._decide(SubagentRequested(source, call, *about, is_prompt_hidden=event.is_sealed))
                self._decide(SubagentReturned(source, call, event.agent_id))
            case AgentFinished():
                call, failed = Call(event.call_id, "spawn_agent", {}), event.message is None
                self._decide(SubagentReturned(self._source(), call, event.agent_id, event.message, has_failed=failed))

    def _report_command(self, call_id: str, command: str, output: str, exit_code: int, agent_id: str = "") -> None:
        source, call = self._source(agent_id=agent_id), Call(call_id, "Bash", {"command": command})
        if call_id not in self._judged_calls:
            self._decide(ToolStarting(source, call, command))
        self._decide(ToolFinished(source, call, output, command, exit_code, has_failed=exit_code != 0))

    def _report_file_change(self, call_id: str, agent_id: str = "") -> None:
        source, call = self._source(agent_id=agent_id), Call(call_id, "apply_patch", {})
        if call_id not in self._judged_calls:
            self._decide(ToolStarting(source, call))
        self._decide(ToolFinished(source, call))

    def _report_plan(self, plan: base.PlanUpdated) -> None:
        """Report the task list of the model; a hook reports the same one."""
        tasks = tuple(Task(step.text, is_done=step.status == "completed") for step in plan.steps)
        call = Call(
            self._unique_call_id("plan"), "update_plan", {}, ToolKind.TASK_LIST, tasks=tasks, is_full_task_list=True
        )
        self._decide(ToolFinished(self._source(), call))

    def _unique_call_id(self, item_id: str) -> str:
        """Return an id for the item that is unique across turns: those of ``codex exec`` repeat."""
        return f"{self._turn_id}-{item_id}"

    # --- the core ---

    def _decide(self, event: Event, cap: TextLimit = NO_CAP, request: TurnRequest | None = None) -> Decision | None:
        """Return the decision of the core on ``event``, and print what is for the user."""
        request = request or TurnRequest(event.source, "", TRIGGER_NAME, self._location.repo)
        decision = self.call_safely(lambda: handle_event(event, self._runtime, cap, degradations, request))
        if decision is None:
            return None
        for effect in decision.effects:
            if isinstance(effect, NotifyUser | EndTurn):
                self._printer.print_line(effect.text)
            elif isinstance(effect, Deny) and not self._is_denial_shown:
                self._printer.print_line(f"{self._printer.texts['hooks_missing']} {effect.text}")
                self._is_denial_shown = True
        return decision

    def _load_state(self, session_id: str) -> None:
        with self._runtime.journal.transaction() as transaction:
            self.state = transaction.state(session_id)

    def call_safely(self, action: Callable[[], T], *, is_recorded: bool = True) -> T | None:
        """Return the result of ``action``; None after an error, which is kept in ``last_error`` and recorded."""
        try:
            return action()
        except Exception as error:  # the boundary: an internal error must not cost the user a turn
            self.last_error = f"{type(error).__name__}: {error}"
            about = {"traceback": traceback.format_exc(limit=-8)}
        if is_recorded:
            timestamp = format_timestamp(self._runtime.clock.now())
            with self._runtime.journal.transaction() as transaction:
                transaction.append(
                    Record(timestamp, EVALUATION_FAILED, TRIGGER_NAME, self.session_id, event_fields=about)
                )
        return None

    def _source(self, session_id: str = "", agent_id: str = "") -> EventSource:
        session = session_id or self.session_id
        return EventSource(ClientName.CODEX_CLI, self._location.cwd, session, agent_id, self._rollout_path)


def _injected_texts(decision: Decision | None) -> tuple[str, ...]:
    return tuple(effect.text for effect in decision.effects if isinstance(effect, InjectContext)) if decision else ()


@dataclass(frozen=True, slots=True)
class NoLoopContextResolver:
    """Implements ``core.engine.ports.ContextResolver`` with the loop off, for ``--no-loop``."""

    inner: ContextResolver

    def resolve(self, source: EventSource, repo_root: str | None, *, is_plan: bool) -> RepoContext:
        context = self.inner.resolve(source, repo_root, is_plan=is_plan)
        origins = {**context.settings.origins, "loop.enabled": "--no-loop"}
        return replace(context, settings=replace(context.settings, loop_enabled=Toggle.OFF, origins=origins))
