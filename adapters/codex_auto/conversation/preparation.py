"""Prepare the turns of a conversation: the context of a prompt, dry runs, and what limits them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from upbeat.adapters.codex.transport.base import Transport
from upbeat.adapters.codex_auto.conversation.workflow_bridge import TRIGGER_NAME, CodexLocation, WorkflowBridge
from upbeat.adapters.codex_auto.sessions.manager import SessionManager
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.contract.report import Client, Inputs, Limit, TurnReport
from upbeat.core.engine.pipeline import Runtime, TurnRequest, prepare_turn
from upbeat.core.engine.ports import RepoContext
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit
from upbeat.core.settings import ExecutionMode
from upbeat.core.turn.report import ReportStamp, assemble_empty_report, short_hash

WARM_UP_PROMPT = "explain the main function"


class TurnPreparer:
    """Prepares turns on the current thread of ``sessions``; ``transport`` limits the length of the context."""

    def __init__(
        self,
        runtime: Runtime,
        transport: Transport,
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
