"""The conversation at a terminal: prompt, turn, prompt. A failed or interrupted turn does not end it."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_completions, has_focus, to_filter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth

from upbeat.adapters.codex.transport.base import Completed, Ending, Failed, Interrupted
from upbeat.adapters.codex_auto.app import commands
from upbeat.adapters.codex_auto.app.commands import SHORT_ID_CHARS, CommandContext
from upbeat.adapters.codex_auto.app.complete import PromptCompleter, RepositoryFiles, is_command_start, path_fragment
from upbeat.adapters.codex_auto.app.options import prompt_problem
from upbeat.adapters.codex_auto.conversation.conversation import Conversation
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view import statusline, workflow
from upbeat.adapters.codex_auto.view.show import Style, TurnPrinter
from upbeat.core.contract.report import TurnReport
from upbeat.core.engine.ports import RepoContext

if TYPE_CHECKING:
    from pathlib import Path

    from upbeat.adapters.codex.version import CodexVersion

logging.getLogger("prompt_toolkit").addHandler(logging.NullHandler())
# otherwise it prints a traceback when a signal ends the process while it loads the history

CONTEXT_MAX_AGE_SECONDS = 2.0
"""How long the status line may show outdated settings."""


@dataclass(slots=True)
class InteractiveLoop:
    """One run at a terminal. ``write_plan`` prints the report of a dry run."""

    conversation_future: Future[Conversation]
    printer: TurnPrinter
    texts: Texts
    write_plan: Callable[[TurnReport], object]
    is_plan_only: bool
    state_home: Path | None
    """Where the history is stored; None keeps it in memory."""
    has_color: bool = True
    codex_version: CodexVersion | None = None
    """Queries the version of Codex; None when no process may be started."""
    language: str = "en"
    explain_session: Callable[[str], str] | None = None
    """Explains the last journal record of a session."""
    _command_context: CommandContext = field(init=False)
    _files: RepositoryFiles = field(init=False)
    _cached_context: tuple[float, RepoContext] | None = None

    def __post_init__(self) -> None:
        self._command_context = CommandContext(
            self.conversation_future,
            self.printer,
            self.texts,
            self.is_plan_only,
            self.codex_version,
            self.language,
            self.explain_session,
        )
        self._files = RepositoryFiles(self._list_files)

    @property
    def conversation(self) -> Conversation:
        """The conversation; waits until it is open."""
        return self.conversation_future.result()

    def run(self, first_prompt: str | None) -> int:
        """Run until the user leaves; return the exit code. ``first_prompt`` comes from the command line."""
        session = self._create_prompt_session()
        self.conversation_future.add_done_callback(lambda _: session.app.invalidate())
        self.printer.print_line(self.texts["greeting"], Style.DIM)
        text = first_prompt
        while True:
            if text is None:
                try:
                    text = session.prompt("› ", prompt_continuation="  ")
                except KeyboardInterrupt:
                    if not session.default_buffer.text:
                        self.printer.print_line(self.texts["interrupt_hint"], Style.DIM)
                    continue
                except EOFError:
                    break
            command = commands.parse_slash_command(text)
            if command and commands.is_quit_command(command[0]):
                break
            if (
                command
                and command[0]
                and not commands.is_slash_command(command[0])
                and self.conversation.has_saved_prompt(command[0])
            ):
                command = None
            prompt = commands.expand_to_prompt(*command) if command else text
            code = self._execute_command(*command) if command and not prompt else self._run_prompt(prompt)
            if code:
                return code
            text = None
        resume_command = self.conversation.resume_command() if self.conversation_future.done() else "codex-auto"
        self.printer.print_line(self.texts["farewell"].format(command=resume_command), Style.DIM)
        return 0

    def _create_prompt_session(self) -> PromptSession[str]:
        session: PromptSession[str] = PromptSession(
            history=self._history(),
            multiline=True,
            key_bindings=_key_bindings(),
            completer=PromptCompleter(
                commands.command_help(self.texts), self._completable_files, self._completable_workflows
            ),
            complete_while_typing=Condition(
                lambda: _opens_completions(session.default_buffer.document.text_before_cursor)
            ),
            complete_in_thread=True,
            bottom_toolbar=self._toolbar,
            color_depth=None if self.has_color else ColorDepth.DEPTH_1_BIT,
            enable_open_in_editor=True,
            tempfile_suffix=".md",
        )
        session.layout.current_window.dont_extend_height = to_filter(True)  # keep the status line next to the text
        return session

    # --- input ---

    def _execute_command(self, name: str, argument: str) -> int:
        """Run a command; return the exit code if a signal ended it, or 0."""
        try:
            ending = commands.execute_command(self._command_context, name, argument)
        except KeyboardInterrupt:
            ending = Interrupted(signal.SIGINT)
        self._cached_context = None
        return self._report_ending(ending) if ending else 0

    def _run_prompt(self, text: str) -> int:
        """Run a prompt; return the exit code if the loop is to end, or 0."""
        if not text.strip():
            return 0
        if problem := prompt_problem(text, self.texts):
            self.printer.print_line(problem, Style.RED)
            return 0
        try:
            repo_context = self.conversation.resolve_context()
            if self._command_context.mode(repo_context) == "plan":
                self.write_plan(self.conversation.plan_turn(text))
                return 0
            if self.codex_version:
                self.codex_version.start_query()
            ending = self.conversation.run_turn(text, repo_context)
        except KeyboardInterrupt:
            ending = Interrupted(signal.SIGINT)
        return self._report_ending(ending)

    def _report_ending(self, ending: Ending) -> int:
        session = self.conversation.session
        match ending:
            case Completed() | Failed():
                if isinstance(ending, Failed):
                    self.printer.show_failure(ending, session.thread_id if session else "")
                if self.codex_version and (warning := self.codex_version.take_warning(self.texts)):
                    self.printer.print_line(warning, Style.RED)
                return 0
            case Interrupted() if ending.signal != signal.SIGINT:
                return 128 + ending.signal
            case Interrupted():
                how = self.texts["resume_in_place"] if session else self.texts["stopped_before"]
                self.printer.print_line("")  # after the ^C that the terminal printed
                self.printer.print_line(self.texts["stopped"].format(how=how) if session else how)
                return 0

    # --- files to complete ---

    def _completable_files(self) -> Sequence[tuple[str, str]]:
        return self._files() if self._can_start_processes() else ()

    def _completable_workflows(self) -> Sequence[tuple[str, str]]:
        if not self.conversation_future.done():
            return ()
        return workflow.workflow_descriptions(
            self.conversation.workflow.load_registry(self.conversation.root), self.language
        )

    def _can_start_processes(self) -> bool:
        """Return whether Git may be started to list the files."""
        return self.conversation_future.done() and self._command_context.mode(self._recent_context()) == "run"

    def _list_files(self) -> Iterable[str]:
        from upbeat.adapters.system.git.commands import list_files

        return list_files(self.conversation.root).files

    # --- the status line ---

    def _toolbar(self) -> FormattedText:
        if not self.conversation_future.done():
            return FormattedText([("", " …")])
        repo_context = self._recent_context()
        settings, texts, stage = (
            repo_context.settings,
            self.texts,
            workflow.stage_label(self.conversation.workflow.state),
        )
        parts = (
            os.path.basename(self.conversation.root) or "/",
            self._session_label(),
            texts["statusline_mode"].format(mode=self._command_context.mode(repo_context)),
            texts["statusline_lookup"].format(enabled=settings.enabled),
            stage and texts["statusline_stage"].format(stage=stage),
            statusline.context_segment(self.printer.window_usage, texts),
            statusline.budget_segment(settings, texts),
        )
        width = os.get_terminal_size().columns if os.isatty(1) else 80
        return FormattedText([("", statusline.join_segments(parts, width))])

    def _recent_context(self) -> RepoContext:
        """Return a cached context: the status line is drawn on every key."""
        now = monotonic()
        if self._cached_context is None or now - self._cached_context[0] > CONTEXT_MAX_AGE_SECONDS:
            self._cached_context = (now, self.conversation.resolve_context())
        return self._cached_context[1]

    def _session_label(self) -> str:
        session = self.conversation.session
        return session.thread_id[:SHORT_ID_CHARS] if session else self.texts["session_new"]

    def _history(self) -> History:
        if self.state_home is None:
            return InMemoryHistory()
        from upbeat.adapters.codex_auto.app.prompt_history import PromptHistory

        return PromptHistory(self.state_home)


def _opens_completions(text_before_cursor: str) -> bool:
    """Return whether completions open by themselves after ``text_before_cursor``."""
    return is_command_start(text_before_cursor) or path_fragment(text_before_cursor) is not None


def _key_bindings() -> KeyBindings:
    """Enter sends, Alt-Enter starts a new line; prompt_toolkit's default is the reverse."""
    keys = KeyBindings()
    at_prompt = has_focus(DEFAULT_BUFFER)  # not in the history search

    @keys.add("enter", filter=at_prompt & ~has_completions)
    def _send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("enter", filter=at_prompt & has_completions)
    def _choose(event: KeyPressEvent) -> None:
        """Insert the selected completion; a command is sent at once, a file name is part of a prompt."""
        buffer = event.current_buffer
        chosen = buffer.complete_state.current_completion if buffer.complete_state else None
        if chosen:
            buffer.apply_completion(chosen)
            buffer.cancel_completion()
        if not chosen or chosen.text.startswith("/"):
            buffer.validate_and_handle()

    @keys.add("tab", filter=at_prompt & has_completions)
    def _next(event: KeyPressEvent) -> None:
        """Insert the only completion, or select the next one."""
        buffer = event.current_buffer
        offered = buffer.complete_state.completions if buffer.complete_state else []
        if len(offered) == 1:
            buffer.apply_completion(offered[0])
        else:
            buffer.complete_next()

    @keys.add("escape", "enter", filter=at_prompt)
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
