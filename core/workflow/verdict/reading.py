"""Find the files whose content a tool call showed to an agent, and whether a reviewer has read what it reviews.

Invariant: only recorded calls count, never what an agent says. A file counts if a tool read it or its lines are in
what a search or a diff printed. What the shell has to expand first is not guessed, and a diff is what a program for
diffs printed, not text of the command line itself.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Iterable

from upbeat.core.contract.event import ToolFinished, ToolKind
from upbeat.core.shell import SimpleCommand, parse_commands
from upbeat.core.shell.touched_paths import MAX_LINE_CHARS, paths_read_by

CHANGES = "changes"
"""The required evidence of a review: that the agent has read what changed."""
MAX_PATHS_PER_CALL = 40
MAX_PATH_CHARS = 300
MAX_SCANNED_CHARS = 200_000
SPECS_FOLDER = "specs/"

_DIFF_PROGRAMS = frozenset({"git", "gh", "glab", "hg", "svn", "jj", "sl", "diff", "colordiff"})
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_DIFF_FILE = re.compile(r"^(?:\+\+\+|---) \"?(?:[abciow]/)?([^\t\n\"]+)", re.MULTILINE)
_OCTAL_BYTES = re.compile(r"(?:\\[0-7]{3})+")
"""How git prints what is not ASCII in a name."""
_SEARCH_HIT = re.compile(r"^([^\s:][^:\n]{0,300}):(?:\d+[:-])?", re.MULTILINE)
_LETTER = re.compile(r"[^\W\d_]")
"""Output without any is a count, not content."""
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_HIDING_PROGRAMS = frozenset({"wc", "true", "md5sum", "sha1sum", "sha256sum", "cksum"})
"""Programs after which nothing of their input is left to read."""


def shown_files(event: ToolFinished, root: str) -> tuple[str, ...]:
    """Return the files whose content the call showed, relative to ``root`` (absolute); outside of it there are none."""
    call, cwd, output = event.call, event.source.cwd, _COLOR.sub("", event.output[:MAX_SCANNED_CHARS])
    paths: Iterable[str] = ()
    if call.kind is ToolKind.READ and not event.has_failed:
        paths = call.paths
    elif call.kind is ToolKind.SEARCH and output.strip():
        named = (value for value in call.input.values() if isinstance(value, str) and 0 < len(value) <= MAX_PATH_CHARS)
        paths = (*named, *_SEARCH_HIT.findall(output))
    elif 0 < len(event.command) <= MAX_LINE_CHARS:
        paths = _shown_by_shell(event.command, cwd, output, root)
    relative = (_relative_to(root, posixpath.normpath(posixpath.join(cwd, path))) for path in paths)
    return tuple(dict.fromkeys(filter(None, relative)))[:MAX_PATHS_PER_CALL]


def _shown_by_shell(command: str, cwd: str, output: str, root: str) -> Iterable[str]:
    """Return the files that a shell line read or showed a diff of; nothing if it hides its output."""
    commands = parse_commands(command).items
    if any(_hides_output(each) for each in commands):
        return ()
    printed = {word for each in commands if each.words[:1] in (("echo",), ("printf",)) for word in each.words[1:]}
    if not _LETTER.search(functools.reduce(lambda text, word: text.replace(word.strip("\\n"), ""), printed, output)):
        return ()
    read = paths_read_by(command, cwd)
    programs = {each.words[0] for each in commands if each.words}
    if programs & {"grep", "egrep", "fgrep", "rg"}:
        read = (*read, *_SEARCH_HIT.findall(output))
    is_imitated = any("@@" in word for each in commands for word in each.words)
    if not programs & _DIFF_PROGRAMS or is_imitated or not _HUNK.search(output):
        return read
    folders = (_folder_of(each, cwd) for each in commands if set(each.words[:1]) & _DIFF_PROGRAMS)
    if not all(_relative_to(root, folder) or folder == root for folder in folders):
        return read
    return (*read, *(posixpath.join(root, _decode_name(name)) for name in _DIFF_FILE.findall(output)))


def _decode_name(name: str) -> str:
    """Return a file name as git prints it, with the bytes that git escapes."""

    def decode(match: re.Match[str]) -> str:
        return bytes(int(digits, 8) & 255 for digits in match[0].split("\\")[1:]).decode("utf-8", "replace")

    return _OCTAL_BYTES.sub(decode, name)


def _hides_output(command: SimpleCommand) -> bool:
    """Return whether nothing is left to read of what ``command`` prints or gets."""
    is_redirected = any(each.is_overwrite and each.descriptor in ("", "1") for each in command.redirects)
    is_rewrite = command.words[:1] == ("sed",) and any(word.startswith("-i") for word in command.words)
    return is_redirected or is_rewrite or bool(command.piped_from and set(command.words[:1]) & _HIDING_PROGRAMS)


def _folder_of(command: SimpleCommand, cwd: str) -> str:
    """Return the folder in which a command runs, with git's own ``-C``; empty if it is unknown."""
    words = command.words
    own = words[words.index("-C") + 1 :][:1] if words[:1] == ("git",) and "-C" in words else ()
    return "" if command.working_dir == "?" else posixpath.normpath(posixpath.join(cwd, command.working_dir, *own))


def _relative_to(root: str, path: str) -> str:
    """Return ``path`` relative to ``root``; empty if it is not below it."""
    return path[len(root) :].lstrip("/")[:MAX_PATH_CHARS] if path.startswith(root.rstrip("/") + "/") else ""


def has_read_changes(shown: Iterable[str], changed: Iterable[str] | None) -> bool:
    """Return whether one of the ``changed`` files is among those ``shown``; any file is enough if none is known."""
    shown, relevant = set(shown), relevant_changes(changed)
    return bool(shown & set(relevant) if relevant else shown)


def relevant_changes(changed: Iterable[str] | None) -> tuple[str, ...]:
    """Return the changed files that a review is about: specifications only if nothing else has changed."""
    names = tuple(changed or ())
    return tuple(name for name in names if not name.startswith(SPECS_FOLDER)) or names
