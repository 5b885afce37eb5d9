"""Which files an event reads or changes, by a file tool or a shell line.

Invariant: a file counts if the line passes it to a program that reads files; what the shell has to expand first is not
guessed. Whether a file exists, or a failed call reached it, is not known here.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from upbeat.core import lazy_re as re
from upbeat.core.contract.event import Event, ToolFinished, ToolKind, ToolStarting
from upbeat.core.package_data import load_toml
from upbeat.core.shell.commands import parse_commands

_FILE_TOOL_KINDS = frozenset({ToolKind.READ, ToolKind.EDIT, ToolKind.WRITE, ToolKind.SHELL})
MAX_FILES = 20
MAX_LINE_CHARS = 4000
"""Longer command lines are not parsed."""

_READERS: Mapping[str, Mapping[str, str]] = load_toml(__package__, "file_readers.toml")
_VALUE_OPTIONS, _SCRIPT_OPTIONS = _READERS["value_options"], _READERS["script_options"]
_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg"})
_RECURSIVE = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--(?:dereference-)?recursive")
_READER_PATTERN = re.compile(rf"(?:^|[\s;&|(/'\"])(?:{'|'.join(sorted(_VALUE_OPTIONS, key=len, reverse=True))})\s")
_NEEDS_EXPANSION = re.compile(r"[$`*?\[{<>\n\0]|^[~-]")


def touched_paths(event: Event) -> tuple[str, ...]:
    """Return the absolute paths of the files that ``event`` reads or changes, in order, at most ``MAX_FILES``."""
    if not isinstance(event, ToolStarting | ToolFinished):
        return ()
    if event.call.kind is ToolKind.SHELL and not event.call.paths:
        return paths_read_by(event.command, event.source.cwd)
    return event.call.paths[:MAX_FILES] if event.call.kind in _FILE_TOOL_KINDS else ()


@lru_cache(maxsize=64)
def paths_read_by(command: str, cwd: str) -> tuple[str, ...]:
    """Return the absolute paths of the files that the shell line ``command`` reads in ``cwd``."""
    if len(command) > MAX_LINE_CHARS or not _READER_PATTERN.search(command):
        return ()
    paths: dict[str, None] = {}
    for simple in parse_commands(command).items:
        program, *arguments = simple.words or ("",)
        if program in _VALUE_OPTIONS and not _NEEDS_EXPANSION.search(simple.working_dir):
            folder = posixpath.join(cwd, simple.working_dir)
            for name in _file_arguments(program, arguments):
                paths[posixpath.normpath(posixpath.join(folder, name))] = None
    return tuple(paths)[:MAX_FILES]


def _file_arguments(program: str, given: Sequence[str]) -> Iterator[str]:
    """Yield the words that name files."""
    valued, scripted = _VALUE_OPTIONS[program].split(), _SCRIPT_OPTIONS.get(program, "").split()
    needs_script = program in _SCRIPT_OPTIONS and not any(word.partition("=")[0] in scripted for word in given)
    is_recursive = program in _SEARCHES and any(_RECURSIVE.fullmatch(word) for word in given)
    is_over = False
    words = iter(given)
    for word in words:
        if word == "--" and not is_over:
            is_over = True
        elif word.startswith("-") and len(word) > 1 and not is_over:
            if word in valued:
                next(words, None)
        elif needs_script:
            needs_script = False
        elif _is_file(program, word, is_recursive):
            yield word


def _is_file(program: str, word: str, is_recursive: bool) -> bool:
    if not word or _NEEDS_EXPANSION.search(word) or word.endswith("/") or posixpath.basename(word) in (".", ".."):
        return False
    if program in _SEARCHES and (is_recursive or program == "rg"):
        return "." in posixpath.basename(word)[1:]  # it may be a folder: those have no ending
    return not (program.endswith("awk") and "=" in word) and not (program == "less" and word.startswith("+"))
