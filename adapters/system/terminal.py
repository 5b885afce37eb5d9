"""Escape the standard output and error of commands. Invariant: no output controls the terminal or is invisible.

Messages are already sanitized where they are made; this is the last defense, for paths, exception messages and stored
records. Control and invisible characters, and those that the stream's encoding lacks, are written as ``\\u001b``:
visible to users, and the same text in JSON. upbeat's own control sequences go through ``write_control``.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from types import TracebackType

    from upbeat.adapters.system.environment import Environment
    from upbeat.core.messages.layout import Line, Screen


def escape_controls(text: str) -> str:
    """Return ``text`` with control and invisible characters escaped as in JSON."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return _control_pattern().sub(lambda match: _json_escape(match[0]), text)


@cache
def _control_pattern() -> re.Pattern[str]:
    """Compile the pattern on first use: most commands print plain ASCII only."""
    from upbeat.core.sanitize.control_chars import INVISIBLE_CHARACTERS

    return re.compile(rf"[\r\u2028\u2029\ud800-\udfff{INVISIBLE_CHARACTERS}]")


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True))


class EscapingStream:
    """Escapes what is written to the stream ``inner``; other attributes are those of ``inner``."""

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner

    def write(self, text: str) -> int:
        shown = escape_controls(text)
        try:
            self.inner.write(shown)
        except UnicodeEncodeError as error:
            known = {char: char.encode(error.encoding, "ignore") != b"" for char in set(shown)}
            self.inner.write("".join(char if known[char] else _json_escape(char) for char in shown))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def are_terminals(*streams: TextIO | None) -> bool:
    """Return whether all ``streams`` are terminals; a stream that was closed before the start is None."""
    return all(stream is not None and stream.isatty() for stream in streams)


def discard_typeahead() -> None:
    """Discard the keys that were pressed so far: they were not meant for the question that follows."""
    if not are_terminals(sys.stdin):
        return
    import termios

    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def write_control(stream: TextIO, text: str) -> None:
    """Write a control sequence of upbeat to ``stream``."""
    inner = stream.inner if isinstance(stream, EscapingStream) else stream
    inner.write(text)
    inner.flush()


def read_screen(environment: Environment) -> Screen:
    """Return the screen to lay out for: the terminal's columns or ``COLUMNS``, else 80; now; the user's language."""
    from upbeat.core.messages.layout import Screen

    return Screen(environment.language, shutil.get_terminal_size().columns, datetime.now(UTC))


def print_lines(lines: Iterable[Line], environment: Environment) -> None:
    """Print ``lines`` on standard output; with colors at a terminal, unless the user wants none."""
    has_color = environment.has_color and are_terminals(sys.stdout)
    for text, style, styled in lines:
        if has_color and style and styled:
            write_control(sys.stdout, f"\x1b[{style}m")
            sys.stdout.write(text[:styled])
            write_control(sys.stdout, "\x1b[0m")
            text = text[styled:]
        print(text)
    sys.stdout.flush()


def _report_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an uncaught exception; its message may contain any file name."""
    import traceback

    if sys.stderr is not None:
        sys.stderr.write(escape_controls("".join(traceback.format_exception(kind, error, trace))))


@contextmanager
def escaping_output() -> Iterator[None]:
    """Escape standard output, standard error and tracebacks within this context."""
    sys.excepthook = _report_crash
    before = sys.stdout, sys.stderr
    guards = [stream if stream is None else EscapingStream(stream) for stream in before]
    sys.stdout, sys.stderr = guards
    try:
        yield
    finally:
        for stream, was, name in zip(guards, before, ("stdout", "stderr"), strict=True):
            if getattr(sys, name) is stream:  # a command may have replaced it
                setattr(sys, name, was)
