"""A conversation with Codex: the threads of one session, and the turns on them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime

from upbeat.adapters.codex.transport.base import CodexRequestError, Ending, Failed, FailureReason, Interrupted
from upbeat.adapters.codex_auto.conversation.approval_policy import ApprovalJudge
from upbeat.adapters.codex_auto.conversation.rollouts import RolloutReader
from upbeat.adapters.codex_auto.conversation.turns import (
    DEFAULT_EFFORT,
    EffortSettings,
    OpenedTransport,
    TurnPreparer,
    TurnRunner,
    is_plan_mode,
)
from upbeat.adapters.codex_auto.conversation.workflow_bridge import CodexLocation, WorkflowBridge
from upbeat.adapters.codex_auto.sessions.manager import SessionManager, SessionSummary
from upbeat.adapters.codex_auto.sessions.session import Session
from upbeat.adapters.codex_auto.view.show import Style, TurnPrinter
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.report import Limit
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.engine.ports import RepoContext
from upbeat.core.engine.runtime import Runtime
from upbeat.core.policy.queries import PromptFileQuery
from upbeat.core.settings import SessionMode


class Conversation:
    """``turns`` runs its turns, ``preparer`` prepares them, ``sessions`` stores its threads, ``workflow`` drives it."""

    def __init__(
        self,
        runtime: Runtime,
        opened: OpenedTransport,
        printer: TurnPrinter,
        location: CodexLocation,
        sessions: SessionManager,
        rollouts: RolloutReader | None = None,
        effort: EffortSettings = DEFAULT_EFFORT,
    ) -> None:
        self.transport = transport = opened.transport
        self.app_server = opened.app_server
        self.root = location.root
        self.sessions = sessions
        self.sessions.notices += opened.notices
        self.workflow = WorkflowBridge(
            runtime, location, printer, rollouts, agents_end_with_turn=transport.name == "exec"
        )
        self.preparer = TurnPreparer(
            runtime, transport, location, sessions, self.workflow, opened.limits, effort.requested
        )
        self.turns = TurnRunner(opened, printer, self.preparer, sessions, self.workflow, effort)
        if self.app_server and self.app_server.ask_person:
            self.app_server.ask_person = ApprovalJudge(
                self.workflow, self.app_server.ask_person, printer, location.root or location.cwd
            )
        self.on_close: Callable[[], None] | None = None
        """Ends what was started for the conversation, such as the user's MCP servers."""
        self._runtime = runtime
        self._effort = effort
        self._printer = printer
        self._forked_threads: set[str] = set()
        """Threads that were created here as copies of others."""

    # --- the session ---

    @property
    def session(self) -> Session | None:
        """The session that the next turn continues; None for a new thread."""
        return self.sessions.current

    def resolve_context(self) -> RepoContext:
        """Return the repository and the settings in force."""
        return self.preparer.resolve_context()

    def open_session(self, *, is_plan_only: bool, is_new: bool = False) -> None:
        """Resume the stored session; ``is_new`` starts a new thread. A dry run writes nothing."""
        if not is_plan_only and not is_plan_mode(self.resolve_context()):
            self.sessions.open(is_new=is_new)
        elif not is_new:
            self.sessions.peek()
        self._collect_session_problems()
        if self.app_server and self.sessions.is_ours:
            self.app_server.preopen_thread(self.preparer.thread_id)
        if not is_plan_only:
            self.workflow.peek(self.preparer.thread_id)

    def start_new_thread(self, *, is_plan_only: bool) -> None:
        """Let the next turn start a new thread; unless this is a dry run, the former one can still be resumed."""
        if is_plan_only:
            self.sessions.current = None
            return
        self.sessions.start_new_thread()
        self._collect_session_problems()

    def list_sessions(self) -> tuple[SessionSummary, ...]:
        """Return the sessions that can be resumed here, Codex's own threads among them, the latest first."""
        codex_threads: list[SessionSummary] = []
        if self.app_server:
            try:
                for thread in self.app_server.list_threads():
                    updated_at = format_timestamp(datetime.fromtimestamp(thread.updated_at, UTC))
                    title = thread.name or thread.preview
                    codex_threads.append(SessionSummary(thread.thread_id, "", updated_at, title))
            except CodexRequestError as refused:
                self._printer.show_failure(refused.failure, "")
        return self.sessions.list_sessions(codex_threads)

    def switch_session(self, choice: str) -> str:
        """Continue with a number of ``list_sessions``, a name or a thread id; return the message about it."""
        message = self.sessions.switch(choice)
        self.show_notices()
        return message

    def fork(self) -> str:
        """Continue with a copy of the thread in a session of its own; return the message about it."""
        if self.session is None:
            return self._printer.texts["fork_nothing"]
        try:
            thread_id = self.transport.fork(self.session.thread_id)
        except CodexRequestError as refused:
            self._printer.show_failure(refused.failure, self.session.thread_id)
            return ""
        self._forked_threads.add(thread_id)
        return self.sessions.switch_to_fork(thread_id)

    def has_saved_prompt(self, name: str) -> bool:
        """Return whether the user has a saved prompt that ``/name`` calls."""
        return self._runtime.world.query(PromptFileQuery(name), self.preparer.source, self.root) is not None

    def resume_command(self, *, is_always_named: bool = False) -> str:
        """Return the command that continues this session later."""
        return self.sessions.resume_command(self.preparer.location.repo, is_always_named=is_always_named)

    def show_notices(self) -> None:
        """Print what the user should know about sessions and the connection to Codex, each sentence once."""
        notices, self.sessions.notices = self.sessions.notices, []
        for notice in notices:
            self._printer.print_line(notice, Style.DIM)

    def close(self) -> None:
        """Release the session and end all processes."""
        self.sessions.close()
        self.transport.close()
        self.workflow.close()
        if self.on_close:
            self.on_close()

    # --- turns ---

    def planned_command(self) -> str:
        """Return the command line of the next turn."""
        return self.transport.planned_command(self.preparer.thread_id, self._effort.requested)

    def run_turn(self, prompt: str, repo_context: RepoContext) -> Ending:
        """Run one turn, and those that follow from its workflow, in the ``repo_context`` that was resolved for it."""
        self._printer.begin_turn()
        self.show_notices()
        if self.transport.remaining_chars(prompt) < 0:
            return Failed(FailureReason.PROMPT_TOO_LONG)
        if repo_context.settings.codex_session_mode is SessionMode.EXEC:
            self.sessions.current = None
        if holder := self.sessions.claim():
            return Failed(FailureReason.ACTIVE_WRITER, holder)
        try:
            self.open_workflow()
            return self.turns.run(prompt)
        except KeyboardInterrupt:  # between turns; while one runs, its stream takes the signal
            self.workflow.interrupt_turn()
            return Interrupted(signal.SIGINT)

    def open_workflow(self) -> None:
        """Tell the workflow which thread it belongs to."""
        thread_id = self.preparer.thread_id
        self.workflow.open(thread_id, is_fork=thread_id in self._forked_threads)

    def _collect_session_problems(self) -> None:
        limits = [Limit.of(LimitCode.SESSION_UNAVAILABLE, problem) for problem in self.sessions.problems]
        self.preparer.pending_limits += limits
        self.sessions.problems.clear()


def codex_location(repo: str | None) -> CodexLocation:
    """Return the location for ``--repo``: Codex runs there, or in the working directory."""
    cwd = os.getcwd()
    return CodexLocation(os.path.realpath(os.path.join(cwd, repo)) if repo else cwd, repo)
