"""A client's terminal program on a pty, seen as the screen that a user would see."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import pexpect
import pyte

from .runs import Launch, ScriptRules, prepare_launch
from .sandbox import Sandbox

LINES, COLUMNS = 50, 140
PATIENCE = 30.0
"""How long to wait for something to appear, in seconds."""
KEYSTROKE_PAUSE = 0.7
"""Codex takes text and Enter that arrive together for a paste and does not submit it."""

ENTER, ESCAPE, CTRL_C, CTRL_D = "\r", "\x1b", "\x03", "\x04"
NO_CURSOR = {"PROMPT_TOOLKIT_NO_CPR": "1"}
"""For codex-auto on a terminal that does not answer where its cursor is."""
PASTE = "\x1b[200~{}\x1b[201~"


class _Screen(pyte.Screen):
    """pyte's screen, tolerant of the private colour sequences that both clients send.

    It knows no faint text; here that is grey.
    """

    def select_graphic_rendition(self, *attributes: int, **_private: Any) -> None:
        if not _private:
            super().select_graphic_rendition(*((90,) if attributes == (2,) else attributes))


class Terminal:
    """One running terminal program. Use it as a context manager: leaving it ends the program.

    ``answers``: the terminal tells where its cursor is when it is asked, as real ones do.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        command: Sequence[str],
        script: ScriptRules = (),
        *,
        columns: int = COLUMNS,
        lines: int = LINES,
        answers: bool = False,
        **env: str,
    ) -> None:
        self.launch: Launch = prepare_launch(sandbox, command, script)
        self._screen = _Screen(columns, lines)
        if answers:
            self._screen.write_process_input = lambda text: self._program.send(text)
        self._stream = pyte.ByteStream(self._screen)
        self._program = pexpect.spawn(
            self.launch.argv[0],
            self.launch.argv[1:],
            env=sandbox.environment(**env),
            cwd=str(sandbox.repository),
            dimensions=(lines, columns),
            timeout=None,
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def screen(self) -> pyte.Screen:
        """The screen itself, with its colours."""
        return self._screen

    @property
    def shown(self) -> str:
        """The screen as text, trailing spaces left out."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def send(self, keys: str) -> None:
        """Press ``keys``, then give the program the time to notice."""
        self._program.send(keys)
        self.read(KEYSTROKE_PAUSE)

    def submit(self, text: str) -> None:
        """Paste ``text`` and press Enter. (Typed at this speed, Codex loses a ``?`` to its shortcut help.)"""
        self.send(PASTE.format(text))
        self.send(ENTER)

    def talk(self, *turns: tuple[str, str]) -> None:
        """Submit each prompt to codex-auto and wait for the words behind it; then leave with Ctrl-D."""
        for prompt, words in turns:
            self.wait_for("›")
            self.submit(prompt)
            self.wait_for(words)
        self.leave()

    def leave(self, *keys: str) -> None:
        """Press ``keys``, by default Ctrl-D; the program ends without an error."""
        for key in keys or (CTRL_D,):
            self.send(key)
        assert 0 == self.wait_for_exit()

    def wait_for(self, text: str, patience: float = PATIENCE) -> str:
        """The screen, as soon as ``text`` is on it."""
        return self.wait_until(lambda: text in self.shown, f"{text!r} on the screen", patience)

    def wait_until(self, condition: Callable[[], bool], wanted: str, patience: float = PATIENCE) -> str:
        """The screen, as soon as ``condition`` holds; ``wanted`` says in words what it is."""
        end = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < end, f"no {wanted} after {patience:g} s; the screen is:\n{self.shown}"
            self.read(0.1)
        return self.shown

    def wait_for_exit(self, patience: float = PATIENCE) -> int:
        """The exit code of the program, which is expected to end by itself."""
        self.wait_until(lambda: not self._program.isalive(), "end of the program", patience)
        self._program.close()
        code: int | None = self._program.exitstatus
        return code if code is not None else -int(self._program.signalstatus)

    def read(self, seconds: float) -> None:
        """Take in what the program prints for ``seconds``."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                self._stream.feed(self._program.read_nonblocking(65536, timeout=left))
            except pexpect.TIMEOUT:
                return
            except pexpect.EOF:
                time.sleep(min(left, 0.1))

    def end(self) -> None:
        """End the program if it still runs: the launcher is asked, and it ends what it started."""
        if self._program.isalive():
            self._program.kill(15)
            end = time.monotonic() + 15
            while self._program.isalive() and time.monotonic() < end:
                self.read(0.1)
        self._program.close(force=True)
