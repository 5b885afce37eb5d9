"""Turns on the thread of a session: prepare, send, show, store, recover, and continue while the workflow wants it.

Invariant: a prompt that may have reached the model is never sent again. The same prompt goes to a new thread only where
Codex refused to resume because the thread is gone, before it read anything, or where the provider refused the thread's
history before the model did anything; the user is told. What follows a thread that was too long refers to the prompt.
Each recovery is announced before it is done, counted, and disabled by its name in ``policies.off``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from time import monotonic, sleep
from typing import TYPE_CHECKING

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex_auto.conversation.workflow_bridge import TRIGGER_NAME, CodexLocation, WorkflowBridge
from upbeat.adapters.codex_auto.sessions.manager import SessionManager
from upbeat.adapters.codex_auto.sessions.session import is_thread_id
from upbeat.adapters.codex_auto.view.show import Style, TurnPrinter
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.contract.report import Client, Inputs, Limit, TurnReport
from upbeat.core.engine.pipeline import prepare_turn
from upbeat.core.engine.ports import RepoContext
from upbeat.core.engine.recovery import (
    COMPACT_BEFORE_FULL,
    LEAVE_REFUSED_HISTORY,
    MAX_ATTEMPTS,
    RECOVER_FROM_FULL_CONTEXT,
    retry_delay_seconds,
    should_compact,
)
from upbeat.core.engine.runtime import Runtime, TurnRequest
from upbeat.core.prompt import effort as efforts
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit
from upbeat.core.settings import Activation, ExecutionMode
from upbeat.core.turn.report import ReportStamp, assemble_empty_report, short_hash

if TYPE_CHECKING:
    from upbeat.adapters.codex.transport.app_server.transport import AppServerTransport

WARM_UP_PROMPT = "explain the main function"
MAX_REPEATED_CHARS = 2000
"""Characters of a prompt that are repeated to a thread that has it already, or had it."""

_MODEL_ACTIVITY = (base.Message, base.Delta, base.ItemStarted, base.CommandFinished, base.FilesChanged, base.ToolCall)
"""Events that show that the model has acted in a turn."""


@dataclass(frozen=True, slots=True)
class OpenedTransport:
    """A connection to Codex. ``app_server`` is set where it can do more than turns (threads, models, approvals)."""

    transport: base.Transport
    app_server: AppServerTransport | None = None
    limits: tuple[Limit, ...] = ()
    """What the connection had to give up."""
    notices: tuple[str, ...] = ()
    """What the user should know about it."""


@dataclass(frozen=True, slots=True)
class EffortSettings:
    """The reasoning effort: requested for every turn (empty: Codex decides), and configured by Codex's own flags."""

    requested: str = ""
    configured: str = ""


DEFAULT_EFFORT = EffortSettings()


class TurnPreparer:
    """Prepares turns on the current thread of ``sessions``; ``transport`` limits the length of the context."""

    def __init__(
        self,
        runtime: Runtime,
        transport: base.Transport,
        location: CodexLocation,
        sessions: SessionManager,
        workflow: WorkflowBridge,
        limits: Iterable[Limit] = (),
        effort: str = "",
    ) -> None:
        self.location = location
        self.pending_limits = list(limits)
        """What the next turn reports."""
        self._runtime = runtime
        self._effort = effort
        self._transport = transport
        self._sessions = sessions
        self._workflow = workflow

    @property
    def thread_id(self) -> str:
        """The thread that the next turn continues; empty for a new one."""
        return self._sessions.current.thread_id if self._sessions.current else ""

    @property
    def source(self) -> EventSource:
        """Where the events of the conversation come from."""
        return EventSource(ClientName.CODEX_CLI, self.location.cwd, self.thread_id)

    def resolve_context(self) -> RepoContext:
        """Return the repository and the settings in force."""
        return self._runtime.context_resolver.resolve(self.source, self.location.repo, is_plan=False)

    def submit_prompt(self, prompt: str) -> tuple[TurnReport, str]:
        """Prepare the turn of ``prompt``; return the report and what upbeat says about the workflow."""
        report, guidance = self._workflow.submit_prompt(prompt, self._turn_request(prompt, is_plan_only=False))
        report = report or self.empty_report(LimitCode.CORE_UNAVAILABLE, self._workflow.last_error, is_plan_only=False)
        self.pending_limits.clear()
        return report, guidance

    def prepare(self, prompt: str, *, is_plan_only: bool) -> TurnReport:
        """Return what a turn would look up. Nothing is sent; a dry run starts no process and writes no file."""
        request = self._turn_request(prompt, is_plan_only=is_plan_only)
        report = self._workflow.call_safely(
            lambda: prepare_turn(request, self._runtime), is_recorded=not is_plan_only
        ) or self.empty_report(LimitCode.CORE_UNAVAILABLE, self._workflow.last_error, is_plan_only=is_plan_only)
        if is_plan_only:
            self.pending_limits.clear()
        return report

    def rebuild_context(self, prompt: str, reserved_chars: int) -> str | None:
        """Return the context of ``prompt`` for a thread that has not seen any; None when the core fails."""
        request = self._turn_request(prompt, is_plan_only=False)
        cap = replace(request.cap, max_length=max(request.cap.max_length - reserved_chars, 0))
        report = self._workflow.call_safely(lambda: prepare_turn(replace(request, cap=cap), self._runtime))
        return report.fused_context.for_model.additional_context if report else None

    def warm_up(self) -> None:
        """Fill the caches of the repository before a prompt needs them. The result is discarded.

        The user's own MCP servers are not asked.
        """
        self._workflow.load_registry(self.location.root)
        repo_context = self.resolve_context()
        without_servers = replace(repo_context, settings=replace(repo_context.settings, servers=()))
        request = TurnRequest(self.source, WARM_UP_PROMPT, TRIGGER_NAME, self.location.repo)
        prepare_turn(request, self._runtime, without_servers)

    def empty_report(self, code: LimitCode, problem: str, *, is_plan_only: bool) -> TurnReport:
        """Return the report of a turn with nothing to prepare, or whose preparation failed."""
        limits = [*self.pending_limits, Limit.of(code, problem)]
        stamp = ReportStamp(self._runtime.clock.now(), self._runtime.clock.nonce(), is_plan_only)
        client = Client(name=ClientName.CODEX_CLI, event=TRIGGER_NAME)
        inputs = Inputs(prompt="", repo_root=self.location.root, repo_root_source="config")
        return assemble_empty_report(f"empty-{short_hash(code, problem, length=12)}", client, inputs, limits, stamp)

    def _turn_request(self, prompt: str, *, is_plan_only: bool) -> TurnRequest:
        return TurnRequest(
            source=self.source,
            prompt=prompt,
            event_name=TRIGGER_NAME,
            repo_root=self.location.repo,
            is_plan=is_plan_only,
            cap=TextLimit(max(self._transport.remaining_chars(prompt), 0), LengthUnit.CHARS),
            codex_command=self._transport.planned_command(self.thread_id, self._effort),
            limits=tuple(self.pending_limits),
        )


def is_plan_mode(repo_context: RepoContext) -> bool:
    """Return whether the settings in force ask for dry runs."""
    return repo_context.settings.mode is ExecutionMode.PLAN


class TurnRunner:
    """Runs the turns of one conversation."""

    def __init__(
        self,
        opened: OpenedTransport,
        printer: TurnPrinter,
        preparer: TurnPreparer,
        sessions: SessionManager,
        workflow: WorkflowBridge,
        effort: EffortSettings = DEFAULT_EFFORT,
    ) -> None:
        self.sleep_for: Callable[[float], None] = sleep
        """Waits for this many seconds; a signal ends it."""
        self._transport = opened.transport
        self._app_server = opened.app_server
        self._printer = printer
        self._preparer = preparer
        self._sessions = sessions
        self._workflow = workflow
        self._effort = effort
        self._has_model_acted = False
        """Whether the model has acted in the turn that was sent last."""
        self._is_compaction_tried = False
        """Whether the thread was compacted because it was nearly full, and has not been smaller since."""

    def run(self, prompt: str) -> base.Ending:
        """Run the turn of ``prompt``, and the turns that follow because the workflow has work left."""
        if self._app_server and self._sessions.current and self._compact_if_nearly_full(self._printer.window_usage):
            self._printer.begin_turn()
        report, guidance = self._preparer.submit_prompt(prompt)
        self._printer.show_prepared(report)
        context = report.fused_context.for_model.additional_context
        turn_input = base.TurnInput(prompt, context, self._preparer.thread_id, guidance, self._effort_for(prompt))
        ending = self._run_single_turn(turn_input)
        while continuation := self._workflow.finish_turn(ending):
            self._printer.show_continuation(continuation)
            self._printer.begin_turn()
            turn_input = base.TurnInput(continuation, thread_id=self._preparer.thread_id, effort=self._effort.requested)
            ending = self._run_single_turn(turn_input)
        return ending

    def compact(self) -> base.Ending | None:
        """Have Codex replace the thread with a summary, and show it; None where that is not possible."""
        thread_id = self._preparer.thread_id
        if not thread_id or self._app_server is None:
            return None
        self._printer.begin_turn()
        self._workflow.open(thread_id)
        return self._consume_events(self._app_server.compact(thread_id), base.TurnInput("", thread_id=thread_id))

    # --- one turn ---

    def _run_single_turn(self, turn_input: base.TurnInput) -> base.Ending:
        started_at = monotonic()
        ending = self._send(turn_input)
        if isinstance(ending, base.Failed) and ending.reason is base.FailureReason.NO_ROLLOUT:
            self._abandon_thread(ending.text)
            ending = self._send(replace(turn_input, thread_id="", context=self._rebuild_context(turn_input)))
        ending = self._retry_on_new_thread(turn_input, self._retry_after_compaction(turn_input, ending))
        if isinstance(ending, base.Completed):
            self._record_completion(ending, monotonic() - started_at)
        return ending

    def _send(self, turn_input: base.TurnInput) -> base.Ending:
        return self._consume_events(self._transport.send(turn_input), turn_input)

    def _consume_events(self, event_stream: Iterator[base.TurnEvent], turn_input: base.TurnInput) -> base.Ending:
        ending: base.Ending = base.Failed(base.FailureReason.EXITED_MID_TURN)
        self._has_model_acted = False
        with closing(event_stream) as events:  # type: ignore[type-var]
            for event in events:
                self._workflow.handle_event(event)
                match event:
                    case base.ThreadStarted():
                        self._record_thread(event.thread_id, turn_input)
                    case base.Completed() | base.Failed() | base.Interrupted():
                        ending = event
                    case _:
                        self._has_model_acted = self._has_model_acted or isinstance(event, _MODEL_ACTIVITY)
                        self._printer.show_event(event)
        return ending

    def _record_thread(self, thread_id: str, turn_input: base.TurnInput) -> None:
        """Store the thread at once: even a turn that fails leaves it behind, and it can be resumed."""
        if not is_thread_id(thread_id):
            return  # nothing that could be resumed
        requested = turn_input.thread_id
        if requested and thread_id.lower() != requested.lower():
            self._show_session_limit(
                f"requested thread {requested}, but Codex started {thread_id}; continuing with that"
            )
        self._handle_save_problem(
            self._sessions.record_thread(thread_id, self._preparer.location.cwd, turn_input.prompt)
        )

    def _record_completion(self, ending: base.Completed, seconds: float) -> None:
        """Show the tokens of the turn: Codex counts them over the whole thread."""
        session = self._sessions.current
        before = session.usage if session else None
        used = ending.usage
        if before:
            used = base.TokenUsage(
                max(used.input_tokens - before.input_tokens, 0),
                max(used.cached_input_tokens - before.cached_input_tokens, 0),
                max(used.output_tokens - before.output_tokens, 0),
            )
        self._printer.show_completion(used, seconds, is_whole_session=before is None)
        if session:
            self._sessions.current = replace(session, usage=ending.usage)
            self._handle_save_problem(self._sessions.save())

    def _handle_save_problem(self, problem: str) -> None:
        if problem and (thread_id := self._preparer.thread_id):
            self._show_session_limit(f"{problem}; resume the session with codex exec resume {thread_id}")
            self._sessions.disable_persistence()  # reported once

    def _show_session_limit(self, detail: str) -> None:
        self._printer.show_limits([Limit.of(LimitCode.SESSION_UNAVAILABLE, detail)])

    def _effort_for(self, prompt: str) -> str:
        usual = self._effort.requested or self._effort.configured
        effort = efforts.choose_effort(prompt, usual, is_enabled=self._is_policy_enabled(efforts.POLICY_NAME))
        if effort == usual:
            return self._effort.requested
        self._printer.print_line(self._printer.texts["effort_raised"].format(effort=effort), Style.DIM)
        return effort

    # --- recovery ---

    def _compact_if_nearly_full(self, window_usage: base.WindowUsage | None) -> bool:
        """Compact a thread that nearly fills the context window; return whether that was tried."""
        if window_usage is None or not should_compact(window_usage.used_tokens, window_usage.window_tokens):
            self._is_compaction_tried = False
            return False
        if self._is_compaction_tried or not self._is_policy_enabled(COMPACT_BEFORE_FULL):
            return False
        self._is_compaction_tried = True
        share = window_usage.used_tokens / window_usage.window_tokens
        self._printer.print_line(self._printer.texts["context_nearly_full"].format(share=share), Style.DIM)
        self.compact()
        return True

    def _retry_after_compaction(self, turn_input: base.TurnInput, ending: base.Ending) -> base.Ending:
        """Retry on a summary. ``codex exec`` makes one by itself before the next turn of a thread that is too long."""
        texts = self._printer.texts
        for attempt in range(MAX_ATTEMPTS):
            seconds = retry_delay_seconds(attempt)
            is_full = isinstance(ending, base.Failed) and ending.reason is base.FailureReason.CONTEXT_FULL
            if not is_full or seconds is None or not self._preparer.thread_id:
                break
            if not self._is_policy_enabled(RECOVER_FROM_FULL_CONTEXT):
                break
            text = texts["context_full"].format(attempt=attempt + 1, most=MAX_ATTEMPTS, seconds=seconds)
            self._printer.print_line(text, Style.DIM)
            self.sleep_for(seconds)
            summary = self.compact()
            if summary is not None and not isinstance(summary, base.Completed):
                break
            ending = self._send(
                replace(
                    turn_input,
                    prompt=texts["prompt_after_compaction"].format(prompt=_shorten_prompt(turn_input.prompt)),
                    thread_id=self._preparer.thread_id,
                    guidance=self._workflow.take_session_context() or turn_input.guidance,
                    context=self._rebuild_context(turn_input),
                )
            )
        return ending

    def _retry_on_new_thread(self, turn_input: base.TurnInput, ending: base.Ending) -> base.Ending:
        """Retry a turn whose history the provider refuses."""
        if (
            not isinstance(ending, base.Failed)
            or ending.reason is not base.FailureReason.BAD_REQUEST
            or not turn_input.thread_id
        ):
            return ending
        if not base.is_rejected_history(ending.text) or not self._is_policy_enabled(LEAVE_REFUSED_HISTORY):
            return ending
        texts, prompt = self._printer.texts, turn_input.prompt
        if self._has_model_acted:
            prompt = texts["prompt_on_new_thread"].format(prompt=_shorten_prompt(prompt))
        self._abandon_thread(texts["history_refused"].format(reason=" ".join(ending.text.split())[:160]))
        context = self._rebuild_context(turn_input)
        return self._send(replace(turn_input, prompt=prompt, thread_id="", context=context))

    def _abandon_thread(self, reason: str) -> None:
        self._show_session_limit(f"{reason}; starting a new thread")
        self._sessions.current = None

    def _rebuild_context(self, turn_input: base.TurnInput) -> str:
        """Return the context of ``turn_input`` for a thread that has not seen any."""
        if not turn_input.context:
            return ""
        context = self._preparer.rebuild_context(turn_input.prompt, len(turn_input.guidance))
        return turn_input.context if context is None else context

    def _is_policy_enabled(self, name: str) -> bool:
        settings = self._preparer.resolve_context().settings
        return settings.enabled is not Activation.OFF and name not in settings.policies_off


def _shorten_prompt(prompt: str) -> str:
    return prompt if len(prompt) <= MAX_REPEATED_CHARS else f"{prompt[:MAX_REPEATED_CHARS]}…"
