"""Commands inside the arguments and the input of other programs: ``docker exec``, ``tmux``, ``git bisect run``.

Invariant: an argument is taken for a command if it begins with a program that destroys or runs something; the arguments
of programs that only print, search or name things are not.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise

from upbeat.core import lazy_re as re
from upbeat.core.destructive.hazard import word_set
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.package_data import load_toml
from upbeat.core.shell import SimpleCommand, Words
from upbeat.core.shell.wrappers import SHELLS

_TABLE = load_toml(__package__, "nested.toml")
TEXT_PROGRAMS, _PROGRAMS = word_set(_TABLE["text"]), word_set(_TABLE["programs"])
ELSEWHERE_PROGRAMS, _POWER_PROGRAMS = word_set(_TABLE["elsewhere"]), word_set(_TABLE["power"])
_LINE_OPTIONS, _LINE_VARIABLES = word_set(_TABLE["line_options"]), word_set(_TABLE["line_variables"])
_CONTAINER_PROGRAMS = frozenset({"docker", "podman", "nerdctl", "docker-compose", "podman-compose"})
_SCHEDULE = re.compile(r"^\s*(?:@\w+|(?:[\d*/,-]+\s+){5})\s*(.+)$", re.MULTILINE)
_SED_EXECUTION = re.compile(r"(?:^|;)\s*(?:\d+|\$)?e\s+(\S.*)")
_RECIPE = re.compile(r"^\t[@+-]*(.+)$", re.MULTILINE)
_MAKE_VARIABLE = re.compile(r"\$\((\w+)\)|\$\{(\w+)\}|\$\$")


@dataclass(frozen=True, slots=True)
class NestedLine:
    """A shell line inside a command. ``is_elsewhere``: on another machine or in a container.

    ``mounts`` are the folders of this machine by their path in the container. ``is_disposable``: in a container that is
    removed with what it does.
    """

    line: str
    is_elsewhere: bool = False
    is_disposable: bool = False
    mounts: Mapping[str, str] = field(default_factory=dict)


def find_nested_lines(command: SimpleCommand) -> Iterator[NestedLine]:
    """Yield the shell lines in the arguments, the input and the variables of ``command``."""
    words = command.words
    for assignment in command.assignments:
        name, _, value = assignment.partition("=")
        if name in _LINE_VARIABLES:
            yield NestedLine(value.strip("\"'"))
    if not words:
        return
    if words[0] in ("sed", "gsed"):
        yield from (NestedLine(found[1]) for word in words if (found := _SED_EXECUTION.search(word)))
    elif words[0] == "git":
        yield from _git_lines(words)
    elif words[0] == "npm" and words[1:2] in (("exec",), ("x",)):
        yield from (NestedLine(line) for flag, line in pairwise(words) if flag in ("-c", "--call"))
    elif words[0] in ("at", "batch", "crontab", "make", "gmake"):
        yield from _input_lines(command)
    elif not {"--dry-run", "--dryrun"} & set(words) and (words[0] in ("rsync", "tar") or words[0] not in TEXT_PROGRAMS):
        yield from _argument_lines(words)


def _argument_lines(words: Words) -> Iterator[NestedLine]:
    program = words[0]
    is_elsewhere = program in ELSEWHERE_PROGRAMS
    is_run = program in _CONTAINER_PROGRAMS and "run" in words[:4]
    mounts = dict(_mounts(words)) if is_run else {}
    is_disposable = is_run and not mounts and "--privileged" not in words and "--pid=host" not in words
    options = words[1:] if is_elsewhere or (program not in SHELLS and program not in _PROGRAMS) else ()
    for at, word in enumerate(options, start=1):
        name = word.rpartition("/")[2]
        is_program = name in _PROGRAMS or name.startswith("mkfs.") or (is_elsewhere and name in _POWER_PROGRAMS)
        if is_program and at + 1 < len(words) + is_elsewhere and not (is_elsewhere and _is_option_value(words, at)):
            yield NestedLine(shlex.join((name, *words[at + 1 :])), is_elsewhere, is_disposable, mounts)
            if program not in ("sg", "su"):
                return
        if " " in word.strip() and (words[at - 1] in _LINE_OPTIONS or is_elsewhere or "=" in word.split(" ")[0]):
            line = re.sub(r"^(?:[\w-]+=)+", "", word.lstrip("!: "))
            yield NestedLine(line, is_elsewhere, is_disposable, mounts)


def _is_option_value(words: Words, at: int) -> bool:
    """Return whether a word is the name of something: ``--name mysql``, ``-n redis-cli``."""
    return words[at - 1] in (
        "--name",
        "-n",
        "--namespace",
        "--user",
        "-u",
        "-U",
        "--image",
        "-t",
        "--tag",
        "--hostname",
    )


def _mounts(words: Words) -> Iterator[tuple[str, str]]:
    for flag, value in pairwise(words):
        option, _, given = flag.partition("=")
        if flag in ("-v", "--volume") and ":" in value:
            source, target = value.split(":")[:2]
            yield target, source
        elif option == "--volume" and ":" in given:
            yield given.split(":")[1], given.split(":")[0]
        elif flag == "--mount":
            parts = dict(part.partition("=")[::2] for part in value.split(","))
            target = parts.get("target") or parts.get("dst") or parts.get("destination") or ""
            yield target, parts.get("source") or parts.get("src") or ""


def _git_lines(words: Words) -> Iterator[NestedLine]:
    for flag, value in pairwise(words[1:]):
        if flag == "-c" and "=!" in value:
            yield NestedLine(value.partition("=!")[2])
        elif flag == "-c" and value.startswith("alias."):
            yield NestedLine(f"git {value.partition('=')[2]}")
        elif flag in ("--exec", "-x", "--tree-filter", "--index-filter", "--extcmd"):
            yield NestedLine(value)
    for option in words[1:]:
        if option.startswith(("--exec=", "--extcmd=")):
            yield NestedLine(option.partition("=")[2])
    rest = words[1:]
    if rest[:2] == ("bisect", "run"):
        yield NestedLine(shlex.join(rest[2:]) if len(rest) > 3 else " ".join(rest[2:]))
    elif rest[:2] == ("submodule", "foreach"):
        arguments = [word for word in rest[2:] if not word.startswith("-")]
        yield NestedLine(" ".join(arguments))
    elif rest[:1] == ("config",) and rest[-2:-1] and rest[-2].startswith("alias."):
        yield NestedLine(rest[-1][1:] if rest[-1].startswith("!") else f"git {rest[-1]}")


def _input_lines(command: SimpleCommand) -> Iterator[NestedLine]:
    """Yield what ``at``, ``crontab -`` and ``make -f -`` run from their input."""
    program, text = command.words[0], command.stdin_text
    if not text:
        return
    if program == "crontab":
        for match in _SCHEDULE.finditer(text):
            yield NestedLine(match[1])
    elif program in ("make", "gmake"):
        yield from (NestedLine(line) for line in recipe_lines(text))
    else:
        yield NestedLine(text)


def recipe_lines(makefile: str) -> list[str]:
    """Return the commands of all recipes of a Makefile, with variables in the notation of the shell."""
    return [_MAKE_VARIABLE.sub(_shell_variable, match[1]) for match in _RECIPE.finditer(makefile)]


def _shell_variable(found: re.Match[str]) -> str:
    return "$" if found[0] == "$$" else f"${{{found[1] or found[2]}}}"
