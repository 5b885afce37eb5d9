"""codex-auto on a pty, seen as the screen that a user would see, by a terminal that answers questions."""

from __future__ import annotations

import termios
import time
from types import TracebackType
from typing import Any, Self

import pexpect
import pyte
from fakes.codex.workbench import CODEX_AUTO, Workbench

LINES, COLUMNS = 70, 100
PATIENCE = 15.0

CTRL_C, CTRL_D, ALT_ENTER, ENTER, UP = "\x03", "\x04", "\x1b\r", "\r", "\x1b[A"


class Terminal:
    """A run of codex-auto. Leaving the ``with`` block ends it."""

    def __init__(self, bench: Workbench, *arguments: str, columns: int = COLUMNS, **extra: str) -> None:
        self.raw = ""
        self._screen = pyte.Screen(columns, LINES)
        self._screen.write_process_input = self._answer  # type: ignore[method-assign]
        self._stream = pyte.Stream(self._screen)
        self.program: Any = pexpect.spawn(
            CODEX_AUTO,
            list(arguments),
            cwd=str(bench.repository),
            env=bench.environment(**extra),
            encoding="utf-8",
            dimensions=(LINES, columns),
        )
        self.program.delaybeforesend = None

    def __enter__(self) -> Self:
        self.wait_for("\n› ")
        self._wait(self._takes_keys, "raw mode")
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if not self.program.closed:
            self.program.close(force=True)

    @property
    def shown(self) -> str:
        """The screen as text."""
        return "\n".join(line.rstrip() if line.strip() != "›" else "› " for line in self._screen.display)

    def send(self, keys: str) -> None:
        """Press ``keys``."""
        self.program.send(keys)

    def ask(self, prompt: str, answer: str, times: int = 1) -> None:
        """Send ``prompt`` and wait until ``answer`` has been shown so many times and the next prompt is there."""
        self.send(prompt + ENTER)
        self.wait_for(answer, times)
        self.wait_for_prompt()

    def wait_for_prompt(self) -> None:
        """Wait until the last line that is not the toolbar is an empty prompt, and keys are taken one by one."""
        self._wait(lambda: self._shows_prompt() and self._takes_keys(), "prompt")

    def wait_for(self, text: str, times: int = 1) -> None:
        """Wait until ``text`` is on the screen so many times."""
        self._wait(lambda: self.shown.count(text) >= times, f"{times} x {text!r}")

    def wait_for_exit(self) -> int:
        """The exit code, or the signal as a negative number."""
        self._wait(lambda: not self._read(0.05) and not self.program.isalive(), "end")
        self.program.close()
        status = self.program.exitstatus
        return status if status is not None else -self.program.signalstatus

    def leave(self) -> int:
        """Press Ctrl-D; the exit code."""
        self.send(CTRL_D)
        return self.wait_for_exit()

    def hang_up(self) -> None:
        """Close the window."""
        self.program.ptyproc.fileobj.close()
        self.program.closed = self.program.ptyproc.closed = True

    def _shows_prompt(self) -> bool:
        lines = [line for line in self.shown.split("\n") if line]
        return "› " in lines[-2:]

    def _takes_keys(self) -> bool:
        """Whether the terminal is in raw mode: a dumb one shows the prompt before, and Ctrl-D is lost then."""
        return not termios.tcgetattr(self.program.child_fd)[3] & termios.ICANON

    def _wait(self, condition: Any, wanted: str) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"no {wanted}; the screen is:\n{self.shown}"
            self._read(0.05)

    def _read(self, seconds: float) -> bool:
        try:
            text = self.program.read_nonblocking(65536, timeout=seconds)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return False
        self.raw += text
        self._stream.feed(text)
        return True

    def _answer(self, text: str) -> None:
        self.program.send(text)
