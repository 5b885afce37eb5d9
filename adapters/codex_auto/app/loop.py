"""The conversation at a terminal: prompt, turn, prompt. A failed or interrupted turn does not end it.

Invariant of the history: secrets are redacted before a prompt is stored, and only the owner can read the file.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from prompt_toolkit import PromptSession
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_completions, has_focus, to_filter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth

from upbeat.adapters.codex.transport.base import Completed, Ending, Failed, Interrupted, WindowUsage
from upbeat.adapters.codex_auto.app import commands
from upbeat.adapters.codex_auto.app.commands import SHORT_ID_CHARS, CommandContext
from upbeat.adapters.codex_auto.app.complete import PromptCompleter, RepositoryFiles, is_command_start, path_fragment
from upbeat.adapters.codex_auto.app.options import prompt_problem
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view import explain
from upbeat.adapters.codex_auto.view.show import Style
from upbeat.adapters.system.git.commands import list_files
from upbeat.core.contract.report import TurnReport
from upbeat.core.engine.ports import RepoContext
from upbeat.core.messages.layout import clip_to_width
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact
from upbeat.core.settings import Settings

logging.getLogger("prompt_toolkit").addHandler(logging.NullHandler())
# otherwise it prints a traceback when a signal ends the process while it loads the history

CONTEXT_MAX_AGE_SECONDS = 2.0
"""How long the status line may show outdated settings."""

HISTORY_FILE = "upbeat/codex-auto-history"
MAX_HISTORY_BYTES = 1 << 20


@dataclass(slots=True)
class InteractiveLoop:
    """One run at a terminal. ``write_plan`` prints the report of a dry run."""

    context: CommandContext
    write_plan: Callable[[TurnReport], object]
    state_home: Path | None
    """Where the history is stored; None keeps it in memory."""
    has_color: bool = True
    _files: RepositoryFiles = field(init=False)
    _cached_context: tuple[float, RepoContext] | None = None

    def __post_init__(self) -> None:
        self._files = RepositoryFiles(lambda: list_files(self.context.conversation.root).files)

    def run(self, first_prompt: str | None) -> int:
        """Run until the user leaves; return the exit code. ``first_prompt`` comes from the command line."""
        session, printer, texts = self._create_prompt_session(), self.context.printer, self.context.texts
        self.context.conversation_future.add_done_callback(lambda _: session.app.invalidate())
        printer.print_line(texts["greeting"], Style.DIM)
        text = first_prompt
        while True:
            if text is None:
                try:
                    text = session.prompt("› ", prompt_continuation="  ")
                except KeyboardInterrupt:
                    if not session.default_buffer.text:
                        printer.print_line(texts["interrupt_hint"], Style.DIM)
                    continue
                except EOFError:
                    break
            command = commands.parse_slash_command(text)
            name = command[0] if command else ""
            if name in commands.QUIT_COMMANDS:
                break
            if name and name not in commands.SLASH_COMMANDS and self.context.conversation.has_saved_prompt(name):
                command = None
            prompt = commands.expand_to_prompt(*command) if command else text
            code = self._execute_command(*command) if command and not prompt else self._run_prompt(prompt)
            if code:
                return code
            text = None
        is_open = self.context.conversation_future.done()
        resume_command = self.context.conversation.resume_command() if is_open else "codex-auto"
        printer.print_line(texts["farewell"].format(command=resume_command), Style.DIM)
        return 0

    def _create_prompt_session(self) -> PromptSession[str]:
        def opens_completions() -> bool:
            before = session.default_buffer.document.text_before_cursor
            return is_command_start(before) or path_fragment(before) is not None

        session: PromptSession[str] = PromptSession(
            history=PromptHistory(self.state_home) if self.state_home else InMemoryHistory(),
            multiline=True,
            key_bindings=_key_bindings(),
            completer=PromptCompleter(
                commands.command_help(self.context.texts), self._completable_files, self._completable_workflows
            ),
            complete_while_typing=Condition(opens_completions),
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
            ending = commands.execute_command(self.context, name, argument)
        except KeyboardInterrupt:
            ending = Interrupted(signal.SIGINT)
        self._cached_context = None
        return self._report_ending(ending) if ending else 0

    def _run_prompt(self, text: str) -> int:
        """Run a prompt; return the exit code if the loop is to end, or 0."""
        if not text.strip():
            return 0
        if problem := prompt_problem(text, self.context.texts):
            self.context.printer.print_line(problem, Style.RED)
            return 0
        try:
            repo_context = self.context.conversation.resolve_context()
            if self.context.mode(repo_context) == "plan":
                self.write_plan(self.context.conversation.preparer.prepare(text, is_plan_only=True))
                return 0
            if self.context.codex_version:
                self.context.codex_version.start_query()
            ending = self.context.conversation.run_turn(text, repo_context)
        except KeyboardInterrupt:
            ending = Interrupted(signal.SIGINT)
        return self._report_ending(ending)

    def _report_ending(self, ending: Ending) -> int:
        session, printer, texts = self.context.conversation.session, self.context.printer, self.context.texts
        match ending:
            case Completed() | Failed():
                if isinstance(ending, Failed):
                    printer.show_failure(ending, session.thread_id if session else "")
                if (version := self.context.codex_version) and (warning := version.take_warning(texts)):
                    printer.print_line(warning, Style.RED)
                return 0
            case Interrupted() if ending.signal != signal.SIGINT:
                return 128 + ending.signal
            case Interrupted():
                how = texts["resume_in_place"] if session else texts["stopped_before"]
                printer.print_line("")  # after the ^C that the terminal printed
                printer.print_line(texts["stopped"].format(how=how) if session else how)
                return 0

    # --- completions ---

    def _completable_files(self) -> Sequence[tuple[str, str]]:
        """Return the files, once Git may be started to list them."""
        is_open = self.context.conversation_future.done()
        return self._files() if is_open and self.context.mode(self._recent_context()) == "run" else ()

    def _completable_workflows(self) -> Sequence[tuple[str, str]]:
        if not self.context.conversation_future.done():
            return ()
        conversation = self.context.conversation
        registry = conversation.workflow.load_registry(conversation.root)
        return explain.workflow_descriptions(registry, self.context.language)

    # --- the status line ---

    def _toolbar(self) -> FormattedText:
        if not self.context.conversation_future.done():
            return FormattedText([("", " …")])
        repo_context = self._recent_context()
        conversation, texts, settings = self.context.conversation, self.context.texts, repo_context.settings
        session, stage = conversation.session, explain.stage_label(conversation.workflow.state, texts)
        parts = (
            os.path.basename(conversation.root) or "/",
            session.thread_id[:SHORT_ID_CHARS] if session else texts["session_new"],
            texts["statusline_mode"].format(mode=self.context.mode(repo_context)),
            texts["statusline_lookup"].format(enabled=settings.enabled),
            stage and texts["statusline_stage"].format(stage=stage),
            context_segment(self.context.printer.window_usage, texts),
            budget_segment(settings, texts),
        )
        width = os.get_terminal_size().columns if os.isatty(1) else 80
        return FormattedText([("", join_segments(parts, width))])

    def _recent_context(self) -> RepoContext:
        """Return a cached context: the status line is drawn on every key."""
        now = monotonic()
        if self._cached_context is None or now - self._cached_context[0] > CONTEXT_MAX_AGE_SECONDS:
            self._cached_context = (now, self.context.conversation.resolve_context())
        return self._cached_context[1]


class PromptHistory(FileHistory):
    """A history file in prompt_toolkit's format.

    Prompts of this run are recalled as typed, even if they cannot be stored.
    """

    def __init__(self, state_home: Path) -> None:
        self.path = state_home / HISTORY_FILE
        super().__init__(str(self.path))

    def load_history_strings(self) -> list[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self.path.exists() and self.path.stat().st_size > MAX_HISTORY_BYTES:
                self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            os.close(os.open(self.path, flags, 0o600))
            super().store_string(redact(strip_controls(string)).text)
        except OSError:
            return


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


# --- segments of the status line ---


def join_segments(parts: Iterable[str], width: int) -> str:
    """Join the non-empty ``parts`` with dots in at most ``width`` columns, clipped at the right."""
    flat = (" ".join(strip_controls(part).split()) for part in parts)
    return clip_to_width(" " + " · ".join(part for part in flat if part), width)


def context_segment(window_usage: WindowUsage | None, texts: Texts) -> str:
    """Return how much of the context window the thread uses; empty if unknown."""
    if window_usage is None:
        return ""
    if not window_usage.window_tokens:
        return texts["statusline_context"].format(used=abbreviate_count(window_usage.used_tokens))
    percent = min(round(100 * window_usage.used_tokens / window_usage.window_tokens), 100)
    return texts["statusline_context"].format(
        used=f"{abbreviate_count(window_usage.used_tokens)}/{abbreviate_count(window_usage.window_tokens)} ({percent}%)"
    )


def budget_segment(settings: Settings, texts: Texts) -> str:
    """Return the time and length limits of the lookup for a turn."""
    seconds = f"{settings.budget_wall_ms / 1000:g}"
    return texts["statusline_budget"].format(
        seconds=seconds, chars=abbreviate_count(settings.budget_max_injected_chars)
    )


def abbreviate_count(number: int) -> str:
    """Return ``number`` in at most five characters: 850, 12.3k, 258k, 1.2M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.1f}".removesuffix(".0") + unit if value < 100 else f"{value:.0f}{unit}"
    return str(number)
