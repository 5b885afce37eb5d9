"""What rules look at in one event, looked up once for all of them. Law: what could not be read is told."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..contract.event import (
    CHANGES_FILES,
    Act,
    AgentStopped,
    Call,
    Delegated,
    Delegating,
    Event,
    PromptSubmitted,
    ToolFinished,
    TurnEnding,
)
from ..policies.touched import touched
from ..shell import Commands, commands
from ..shell.commands import SIZE, SYNTAX
from .pattern import MAX_TEXT
from .rule import Where


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts (UTF-8) that a pattern is held against, and what of them could not be had."""

    texts: tuple[bytes, ...] = ()
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Files:
    """Files that a call names, as globs see them, and what of them could not be had."""

    paths: tuple[str, ...] = ()
    gap: str = ""


NOTHING = Texts()
_WORKED_OUT = re.compile(r"[$`*?\[{]|^~")
"""What a shell makes another name of."""
MAX_FILES = 1000
"""Files of one call that are looked at."""
MAX_PATH = 4096
MAX_STEPS = 2_000_000_000
"""Steps of expressions that all rules may take at one event: at worst a second and a half, in practice a tenth."""
MAX_STEPS_OF_STRANGERS = 200_000_000
OVERHEAD = 64
"""Bytes that any text counts for beside its own."""
TOO_MUCH = "too much to look at in one event"


@dataclass(slots=True)
class Seen:
    """One event in the repository at ``root``."""

    event: Event
    root: str
    _known: dict[Where, Texts] = field(default_factory=dict)
    _files: Files | None = None
    _spent: int = 0
    _spent_by_strangers: int = 0

    @property
    def call(self) -> Call | None:
        """The call that the event is about."""
        return getattr(self.event, "call", None)

    def texts(self, where: Where) -> Texts:
        """What there is at ``where``."""
        known = self._known.get(where)
        if known is None:
            known = self._known[where] = _READERS[where](self)
        return known

    def files(self) -> Files:
        """The files that the call names, as globs see them; of a shell line those that it reads or redirects to."""
        if self._files is None:
            self._files = _files(self)
        return self._files

    def affords(self, size: int, length: int, *, is_strangers: bool) -> bool:
        """Whether there are steps left to hold ``size`` of them against ``length`` bytes; they are spent then.

        What nobody has trusted has an account of its own, so that it leaves its user's rules the time that they need.
        """
        steps = size * (length + OVERHEAD)
        if is_strangers:
            self._spent_by_strangers += steps
            return self._spent_by_strangers <= MAX_STEPS_OF_STRANGERS
        self._spent += steps
        return self._spent <= MAX_STEPS

    def relative(self, path: str) -> str:
        """``path`` as globs see it: relative to the root, or from ``/`` on for one outside, without the slash."""
        return path.removeprefix(self.root.rstrip("/") + "/").lstrip("/")


def _texts(found: Iterable[str], gap: str = "") -> Texts:
    """``found`` without what is empty, each as far as it is looked at."""
    cut = []
    for text in found:
        data = text[:MAX_TEXT].encode("utf-8", "replace")
        if len(text) > MAX_TEXT or len(data) > MAX_TEXT:
            gap = gap or f"only the first {MAX_TEXT} bytes of a text were looked at"
        if data:
            cut.append(data[:MAX_TEXT])
    return Texts(tuple(dict.fromkeys(cut)), gap)


def _commands(seen: Seen) -> Texts:
    """Each simple command without what wraps it, and from each wrapper on; its words with a space between them."""
    line = getattr(seen.event, "command", "")
    if not line.strip():
        return NOTHING
    found = commands(line)
    forms = ((*one.wrappers[at:], *one.words) for one in found.items for at in range(len(one.wrappers), -1, -1))
    return _texts((" ".join(form) for form in forms), "the shell line: " + "; ".join(found.gaps) if found.gaps else "")


def _files(seen: Seen) -> Files:
    call = seen.call
    if call is None:
        return Files()
    gap = "the call does not tell which files it changes" if call.act in CHANGES_FILES and not call.paths else ""
    paths = call.paths
    if call.act is Act.SHELL and not paths:
        paths, gap = _files_of_line(seen.event, getattr(seen.event, "command", ""))
    if len(paths) > MAX_FILES or any(len(path) > MAX_PATH for path in paths):
        gap = gap or "too many files, or too long a name"
    return Files(tuple(seen.relative(path)[:MAX_PATH] for path in paths[:MAX_FILES]), gap)


def _files_of_line(event: Event, line: str) -> tuple[tuple[str, ...], str]:
    """What a shell line reads and where it redirects to, as far as it tells; and what it does not tell.

    What a program or a script opens by itself no line tells, and that is no gap.
    """
    found = commands(line) if line.strip() else Commands()
    paths, gaps = list(touched(event)), [gap for gap in found.gaps if gap in (SYNTAX, SIZE)]
    for one in found.items:
        for redirect in one.redirects:
            if redirect.target.isdecimal() or redirect.target in ("-", "/dev/null", ""):
                continue
            if one.folder == "?" or _WORKED_OUT.search(redirect.target + one.folder):
                gaps.append("a file whose name is not in the line")
            else:
                paths.append(posixpath.normpath(posixpath.join(event.source.cwd, one.folder, redirect.target)))
    return tuple(dict.fromkeys(paths)), "the shell line: " + "; ".join(dict.fromkeys(gaps)) if gaps else ""


def _paths(seen: Seen) -> Texts:
    found = seen.files()
    return _texts(found.paths, found.gap)


def _changes(pick: Callable[[Any], str]) -> Callable[[Seen], Texts]:
    def read(seen: Seen) -> Texts:
        call = seen.call
        if call is None or call.act not in CHANGES_FILES:
            return NOTHING
        return _texts(map(pick, call.changes), "" if call.paths else "the call does not tell what it writes")

    return read


def _prompt(seen: Seen) -> Texts:
    match seen.event:
        case PromptSubmitted(prompt=prompt):
            return _texts([prompt])
        case Delegating(is_sealed=True):
            return Texts(gap="the client hides the prompt")
        case Delegating(prompt=prompt):
            return _texts([prompt])
    return NOTHING


def _output(seen: Seen) -> Texts:
    match seen.event:
        case ToolFinished(output=output):
            return _texts([output])
        case TurnEnding(message=message) | AgentStopped(message=message):
            return _texts([message])
        case Delegated(message=str(message)):
            return _texts([message])
    return NOTHING


def _line(seen: Seen) -> Texts:
    return _texts([getattr(seen.event, "command", "")])


_READERS: Mapping[Where, Callable[[Seen], Texts]] = {
    Where.COMMAND: _commands,
    Where.PATH: _paths,
    Where.CONTENT: _changes(lambda change: change.text),
    Where.BEFORE: _changes(lambda change: change.before),
    Where.PROMPT: _prompt,
    Where.OUTPUT: _output,
    Where.LINE: _line,
}
