"""Which files an event reads or changes, by a tool for that or by a shell line.

Law: a file counts when the line names it as one that a program for reading reads; what the shell would have to work
out first (patterns, what another program prints) is not guessed. Nothing here knows whether a file exists, nor whether
a call that failed got as far as it: whoever wants to know that looks at ``failed``.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from ..contract.event import Act, Event, ToolFinished, ToolStarting
from ..shell import Command, commands

_TOUCHES = frozenset({Act.READ, Act.EDIT, Act.WRITE, Act.SHELL})
MAX_FILES = 20
MAX_LINE = 4000
"""Characters of a command line that is looked into; a longer one is a program of its own."""

_VALUED: Mapping[str, str] = {
    "cat": "",
    "tac": "",
    "nl": "-b -d -f -h -i -l -n -s -v -w",
    "less": "-b -h -j -k -o -O -p -P -t -T -x -y -z",
    "more": "-n",
    "head": "-n -c --lines --bytes",
    "tail": "-n -c --lines --bytes -s --pid",
    "bat": "-r --line-range -l --language -H --highlight-line --style --theme --color --paging --wrap",
    "batcat": "-r --line-range -l --language -H --highlight-line --style --theme --color --paging --wrap",
    "sed": "-e --expression -f --file -l --line-length",
    "awk": "-F -v -f --file --field-separator --assign",
    "gawk": "-F -v -f --file --field-separator --assign",
    "mawk": "-F -v -f",
    "grep": "-e --regexp -f --file -A -B -C -m --max-count -d -D --include --exclude --exclude-dir",
    "egrep": "-e -f -A -B -C -m",
    "fgrep": "-e -f -A -B -C -m",
    "rg": "-e --regexp -f --file -g --glob -t --type -T -A -B -C -m --max-count -M -j -r --replace --sort --iglob",
}
"""Program that reads files -> its options that take a value of their own."""

_SCRIPTED: Mapping[str, tuple[str, ...]] = {
    "sed": ("-e", "--expression", "-f", "--file"),
    "awk": ("-f", "--file"),
    "gawk": ("-f", "--file"),
    "mawk": ("-f",),
    "grep": ("-e", "--regexp", "-f", "--file"),
    "egrep": ("-e", "-f"),
    "fgrep": ("-e", "-f"),
    "rg": ("-e", "--regexp", "-f", "--file", "--files"),
}
"""Program whose first word is a script or a pattern -> the options that take its place."""

_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg"})
_RECURSIVE = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--(?:dereference-)?recursive")
_READS = re.compile(rf"(?:^|[\s;&|(/'\"])(?:{'|'.join(sorted(_VALUED, key=len, reverse=True))})\s")
_WORKED_OUT = re.compile(r"[$`*?\[{<>\n\0]|^[~-]")


def touched(event: Event) -> tuple[str, ...]:
    """The absolute paths of the files that ``event`` reads or changes, in order, at most ``MAX_FILES``."""
    if not isinstance(event, ToolStarting | ToolFinished):
        return ()
    if event.call.act is Act.SHELL and not event.call.paths:
        return read_by(event.command, event.source.cwd)
    return event.call.paths[:MAX_FILES] if event.call.act in _TOUCHES else ()


@lru_cache(maxsize=64)
def read_by(command: str, cwd: str) -> tuple[str, ...]:
    """The absolute paths of the files that the shell line ``command`` reads, started in ``cwd``."""
    if len(command) > MAX_LINE or not _READS.search(command):
        return ()
    return tuple(dict.fromkeys(_files(commands(command).items, cwd)))[:MAX_FILES]


def _files(found: Iterable[Command], cwd: str) -> Iterator[str]:
    for one in found:
        program, *given = one.words or ("",)
        if program in _VALUED and not _WORKED_OUT.search(one.folder):
            folder = posixpath.join(cwd, one.folder)
            yield from (posixpath.normpath(posixpath.join(folder, name)) for name in _named(program, given))


def _named(program: str, given: Sequence[str]) -> Iterator[str]:
    """The words that name files."""
    valued, scripted = _VALUED[program].split(), _SCRIPTED.get(program, ())
    needs_script = program in _SCRIPTED and not any(word.partition("=")[0] in scripted for word in given)
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
    if not word or _WORKED_OUT.search(word) or word.endswith("/") or posixpath.basename(word) in (".", ".."):
        return False
    if program in _SEARCHES and (is_recursive or program == "rg"):
        return "." in posixpath.basename(word)[1:]  # it may be a folder: those have no ending
    return not (program.endswith("awk") and "=" in word) and not (program == "less" and word.startswith("+"))
