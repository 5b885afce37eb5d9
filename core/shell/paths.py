"""The ways through a shell line: states of the shell, what certainly ran on the way, and what may have failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from upbeat.core.lazy_dataclass import dataclass, replace
from upbeat.core.shell.expand import FAILED, UNKNOWN
from upbeat.core.shell.syntax import Words

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command that a line runs: its words without wrappers, where, and with which variables that the line sets."""

    words: Words
    source_words: Words
    """The words as the line has them, with wrappers."""
    cwd: str
    env: tuple[tuple[str, str], ...] = ()
    wrappers: Words = ()
    origin: Words = ()
    """The tasks and scripts by which it is reached, the outermost first."""
    place: str = ""
    """Where else than on this machine it runs."""


@dataclass(frozen=True, slots=True)
class Script:
    """Shell text that a command runs, such as the recipe of a Makefile."""

    text: str
    cwd: str
    name: str = ""
    arguments: Words = ()
    env: tuple[tuple[str, str], ...] = ()
    errexit: bool = False
    pipefail: bool = False
    ignores_failure: bool = False
    place: str = ""
    path: str = ""
    """The file that it was read from."""
    is_sourced: bool = False


Resolver = Callable[[Invocation], Sequence[Script] | None]
"""Returns the scripts that a command runs, one after the other until one fails; None for a program."""


@dataclass(frozen=True, slots=True)
class State:
    """What the shell knows at one point."""

    cwd: str
    status: str = "0"
    pipe: Words = ()
    errexit: bool = False
    pipefail: bool = False
    control: str = ""
    """``exit``, ``return``, ``break`` or ``continue`` while it takes effect."""
    is_opaque: bool = False
    variables: tuple[tuple[str, str], ...] = ()
    functions: tuple[tuple[str, Node], ...] = ()
    positional: Words = ()
    jobs: Words = ()
    """The exit codes of the background jobs, in order."""


Trace = tuple[frozenset[Invocation], frozenset[Invocation]]
"""Commands that certainly ran and succeeded, and those that may have failed."""
Paths = dict[State, Trace]
NO_TRACE: Trace = (frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Frame:
    """The script that is executed. ``is_checked``: ``errexit`` applies."""

    script: Script
    depth: int = 0
    is_checked: bool = True
    origin: Words = ()
    place: str = ""

    def unchecked(self) -> Frame:
        return replace(self, is_checked=False)


def compare_status(words: Words) -> bool | None:
    """Return whether a test holds whose words are known, or that compares an exit code; None if it is not known."""
    if len(words) == 2 and words[0] in ("-z", "-n") and UNKNOWN not in words[1]:
        return (not words[1]) == (words[0] == "-z")
    if len(words) != 3 or UNKNOWN in words[0] + words[2]:
        return None
    is_status = words[0] in ("0", FAILED) and words[2].isdecimal()
    if not is_status and FAILED not in words[0] + words[2] and words[1] in ("=", "==", "!=", "-eq", "-ne"):
        is_pattern = any(char in words[2] for char in "*?[")
        return None if is_pattern else (words[0] == words[2]) == (words[1] in ("=", "==", "-eq"))
    if not is_status:
        return None
    is_zero, other = words[0] == "0", int(words[2])
    if words[1] in ("-eq", "=", "=="):
        return is_zero if other == 0 else False if is_zero else None
    if words[1] in ("-ne", "!="):
        return not is_zero if other == 0 else True if is_zero else None
    if words[1] == "-gt" and other == 0:
        return not is_zero
    return None


def outcomes(state: State, trace: Trace, result: bool | None) -> Paths:
    if result is None:
        return either(state, trace)
    return {replace(state, status="0" if result else FAILED): trace}


def either(state: State, trace: Trace) -> Paths:
    return {replace(state, status=status): trace for status in ("0", FAILED)}


def mark_run(trace: Trace, note: Invocation) -> Trace:
    return trace[0] | {note}, trace[1]


def with_variable(state: State, name: str, value: str) -> State:
    return replace(state, variables=tuple(sorted({**dict(state.variables), name: value}.items())))


def add_path(paths: Paths, state: State, trace: Trace) -> None:
    known = paths.get(state)
    paths[state] = (known[0] & trace[0], known[1] | trace[1]) if known else trace


def add_all_paths(paths: Paths, more: Paths) -> None:
    for state, trace in more.items():
        add_path(paths, state, trace)
