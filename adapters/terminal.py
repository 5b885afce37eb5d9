"""Standard output and standard error as commands write to them. Law: no byte of it acts on a terminal or hides there.

Texts have been stripped where they were made; this is behind them all, for the path, the message of an exception or
the stored record that nobody thought of. What would act or hide, or what the stream's encoding lacks, is written as
``\\u001b``: a person sees that it is there, and in JSON it is still the same text. A sequence of our own goes through
``control``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from types import TracebackType


def escaped(text: str) -> str:
    """``text`` with everything that acts on a terminal, or that nobody sees, as JSON writes it."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return _harmful().sub(lambda found: _as_json(found[0]), text)


@cache
def _harmful() -> re.Pattern[str]:
    """Made when it is wanted: most commands never print what has to be looked at."""
    from ..core.turn.strip import UNSEEN

    return re.compile(rf"[\r\u2028\u2029\ud800-\udfff{UNSEEN}]")


def _as_json(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _in(encoding: str, text: str) -> str:
    """``text`` with every character that ``encoding`` does not have as JSON writes it."""
    known = {char: char.encode(encoding, "ignore") != b"" for char in set(text)}
    return "".join(char if known[char] else _as_json(char) for char in text)


class Terminal:
    """A stream that escapes what is written to it, and is the stream ``inner`` in all else."""

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner

    def write(self, text: str) -> int:
        shown = escaped(text)
        try:
            self.inner.write(shown)
        except UnicodeEncodeError as error:
            self.inner.write(_in(error.encoding, shown))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def are_terminals(*streams: TextIO | None) -> bool:
    """Whether a person sits at all of ``streams``. One that was closed before the start is None."""
    return all(stream is not None and stream.isatty() for stream in streams)


def control(stream: TextIO, text: str) -> None:
    """Write a sequence of our own to ``stream``."""
    inner = stream.inner if isinstance(stream, Terminal) else stream
    inner.write(text)
    inner.flush()


def _told(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The traceback of what nobody caught; the message of an exception may hold the name of a file."""
    import traceback

    if sys.stderr is not None:
        sys.stderr.write(escaped("".join(traceback.format_exception(kind, error, trace))))


@contextmanager
def guarded() -> Iterator[None]:
    """Standard output and standard error are such streams as long as this lasts; so is what tells of a crash."""
    sys.excepthook = _told
    before = sys.stdout, sys.stderr
    guards = [stream if stream is None else Terminal(stream) for stream in before]
    sys.stdout, sys.stderr = guards
    try:
        yield
    finally:
        for stream, was, name in zip(guards, before, ("stdout", "stderr"), strict=True):
            if getattr(sys, name) is stream:  # a command may have put another one there
                setattr(sys, name, was)
