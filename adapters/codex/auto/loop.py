"""The conversation at a terminal: prompt, turn, prompt. Law: only leaving leaves; a failed or stopped turn does not."""

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

from ....core.contract.report import TurnReport
from ....core.ports import Situation
from . import commands, statusline, workflow_view
from .commands import SHORT_ID, Desk
from .complete import PromptCompleter, RepositoryFiles, is_command_start, wanted_path
from .prompt import problem_with
from .show import Show, Style
from .texts import Texts
from .transport import Completed, Ending, Failed, Interrupted
from .turn import Conversation

if TYPE_CHECKING:
    from pathlib import Path

    from .codex_version import CodexVersion

logging.getLogger("prompt_toolkit").addHandler(logging.NullHandler())
# else it writes a traceback onto the screen when a signal ends us while it loads the history

SITUATION_SECONDS = 2.0
"""How long the line below the prompt may show settings that have changed meanwhile."""


@dataclass(slots=True)
class Loop:
    """One run at a terminal. ``write_plan`` prints the report of a turn that was only planned."""

    opening: Future[Conversation]
    show: Show
    texts: Texts
    write_plan: Callable[[TurnReport], object]
    is_plan: bool
    state_home: Path | None
    """Where the history is kept; None keeps it in memory."""
    color: bool = True
    version: CodexVersion | None = None
    """The Codex behind the conversation, which is asked for its version; None when no process may be started."""
    language: str = "en"
    recorded: Callable[[str], str] | None = None
    """The last thing that the journal has on a session, explained."""
    _desk: Desk = field(init=False)
    _files: RepositoryFiles = field(init=False)
    _situation: tuple[float, Situation] | None = None

    def __post_init__(self) -> None:
        self._desk = Desk(self.opening, self.show, self.texts, self.is_plan, self.version, self.language, self.recorded)
        self._files = RepositoryFiles(self._listed)

    @property
    def conversation(self) -> Conversation:
        """The conversation, as soon as it is there."""
        return self.opening.result()

    def run(self, first: str | None) -> int:
        """Talk until the person leaves; the exit code. ``first`` is a prompt that was given on the command line."""
        session = self._session_of_prompts()
        self.opening.add_done_callback(lambda _: session.app.invalidate())
        self.show.line(self.texts.greeting, Style.DIM)
        text = first
        while True:
            if text is None:
                try:
                    text = session.prompt("› ", prompt_continuation="  ")
                except KeyboardInterrupt:
                    if not session.default_buffer.text:
                        self.show.line(self.texts.interrupt_hint, Style.DIM)
                    continue
                except EOFError:
                    break
            wanted = commands.parse(text)
            if wanted and commands.leaves(wanted[0]):
                break
            if wanted and wanted[0] and not commands.is_known(wanted[0]) and self.conversation.has_prompt(wanted[0]):
                wanted = None
            prompt = commands.prompt_of(*wanted) if wanted else text
            code = self._command(*wanted) if wanted and not prompt else self._answer(prompt)
            if code:
                return code
            text = None
        command = self.conversation.resume_command() if self.opening.done() else "codex-auto"
        self.show.line(self.texts.bye.format(command=command), Style.DIM)
        return 0

    def _session_of_prompts(self) -> PromptSession[str]:
        session: PromptSession[str] = PromptSession(
            history=self._history(),
            multiline=True,
            key_bindings=_keys(),
            completer=PromptCompleter(commands.listed(self.texts), self._offered_files, self._workflows),
            complete_while_typing=Condition(lambda: _offers(session.default_buffer.document.text_before_cursor)),
            complete_in_thread=True,
            bottom_toolbar=self._toolbar,
            color_depth=None if self.color else ColorDepth.DEPTH_1_BIT,
            enable_open_in_editor=True,
            tempfile_suffix=".md",
        )
        session.layout.current_window.dont_extend_height = to_filter(True)  # the line below stands at the text
        return session

    # --- what was typed ---

    def _command(self, name: str, argument: str) -> int:
        """Carry out a command; the exit code if a signal has ended it, or 0."""
        try:
            ending = commands.run(self._desk, name, argument)
        except KeyboardInterrupt:
            ending = Interrupted(signal.SIGINT)
        self._situation = None
        return self._tell(ending) if ending else 0

    def _answer(self, text: str) -> int:
        """Do what ``text`` asks for; the exit code if it is to be the end, or 0."""
        if not text.strip():
            return 0
        if problem := problem_with(text, self.texts):
            self.show.line(problem, Style.RED)
            return 0
        try:
            situation = self.conversation.situate()
            if self._desk.mode(situation) == "plan":
                self.write_plan(self.conversation.plan(text))
                return 0
            if self.version:
                self.version.ask()
            ending = self.conversation.turn(text, situation)
        except KeyboardInterrupt:
            ending = Interrupted(signal.SIGINT)
        return self._tell(ending)

    def _tell(self, ending: Ending) -> int:
        session = self.conversation.session
        match ending:
            case Completed() | Failed():
                if isinstance(ending, Failed):
                    self.show.failed(ending, session.thread_id if session else "")
                if self.version and (complaint := self.version.complaint(self.texts)):
                    self.show.line(complaint, Style.RED)
                return 0
            case Interrupted() if ending.signal != signal.SIGINT:
                return 128 + ending.signal
            case Interrupted():
                how = self.texts.next_prompt if session else self.texts.stopped_before
                self.show.line("")  # behind the ^C that the terminal has written
                self.show.line(self.texts.stopped.format(how=how) if session else how)
                return 0

    # --- files to complete ---

    def _offered_files(self) -> Sequence[tuple[str, str]]:
        return self._files() if self._is_run() else ()

    def _workflows(self) -> Sequence[tuple[str, str]]:
        if not self.opening.done():
            return ()
        return workflow_view.listed(self.conversation.flow.registry(self.conversation.root), self.language)

    def _is_run(self) -> bool:
        """Whether processes may be started: git lists the files."""
        return self.opening.done() and self._desk.mode(self._situated()) == "run"

    def _listed(self) -> Iterable[str]:
        from ...local.git import list_files

        return list_files(self.conversation.root).files

    # --- the line below the prompt ---

    def _toolbar(self) -> FormattedText:
        if not self.opening.done():
            return FormattedText([("", " …")])
        situation = self._situated()
        settings = situation.settings
        parts = (
            os.path.basename(self.conversation.root) or "/",
            self._session(),
            f"{self._desk.mode(situation)}/{settings.enabled}",
            self.texts.bar_stage.format(stage=workflow_view.stage(self.conversation.flow.state)),
            statusline.context(self.show.context_used, self.texts),
            statusline.budget(settings, self.texts),
        )
        width = os.get_terminal_size().columns if os.isatty(1) else 80
        return FormattedText([("", statusline.joined(parts, width))])

    def _situated(self) -> Situation:
        """The situation of a moment ago: the line is drawn with every key."""
        now = monotonic()
        if self._situation is None or now - self._situation[0] > SITUATION_SECONDS:
            self._situation = (now, self.conversation.situate())
        return self._situation[1]

    def _session(self) -> str:
        session = self.conversation.session
        return session.thread_id[:SHORT_ID] if session else self.texts.session_new

    def _history(self) -> History:
        if self.state_home is None:
            return InMemoryHistory()
        from .history import PromptHistory

        return PromptHistory(self.state_home)


def _offers(before: str) -> bool:
    """Whether completions come up by themselves behind ``before``."""
    return is_command_start(before) or wanted_path(before) is not None


def _keys() -> KeyBindings:
    """Enter sends, Alt-Enter begins a new line; prompt_toolkit's default is the other way round."""
    keys = KeyBindings()
    at_prompt = has_focus(DEFAULT_BUFFER)  # and not where an old prompt is searched for

    @keys.add("enter", filter=at_prompt & ~has_completions)
    def _send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("enter", filter=at_prompt & has_completions)
    def _choose(event: KeyPressEvent) -> None:
        """Take the completion that is chosen; a command is sent at once, a file name is part of a prompt."""
        buffer = event.current_buffer
        chosen = buffer.complete_state.current_completion if buffer.complete_state else None
        if chosen:
            buffer.apply_completion(chosen)
            buffer.cancel_completion()
        if not chosen or chosen.text.startswith("/"):
            buffer.validate_and_handle()

    @keys.add("tab", filter=at_prompt & has_completions)
    def _next(event: KeyPressEvent) -> None:
        """The only completion is taken; of several, the next one is chosen."""
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
