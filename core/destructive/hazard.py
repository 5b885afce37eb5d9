"""The Hazard type: what one command would destroy."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.shell import SimpleCommand


class Severity(StrEnum):
    """How severe a hazard is."""

    NONE = "none"
    ASK = "ask"
    """Recoverable with some work, or possibly intended."""
    DENY = "deny"
    """Irrecoverable, and outside the project or the user's own work."""


@dataclass(frozen=True, slots=True)
class ShellLocation:
    """Where a line runs: the repository root and the working directory, both absolute."""

    root: str
    cwd: str


@dataclass(frozen=True, slots=True)
class Hazard:
    """``kind`` is a key of the messages section ``hazards``; ``target`` is what is destroyed, as written.

    ``lost_path`` is the file or folder of the project (empty for all of it) whose uncommitted changes would be lost; if
    it has none, the severity is ``severity_if_clean``. None if uncommitted changes do not matter.
    ``ignores_untracked``: untracked files do not count. ``safe_command`` is what to run instead, if there is one.
    """

    kind: str
    severity: Severity
    target: str = ""
    lost_path: str | None = None
    severity_if_clean: Severity = Severity.NONE
    ignores_untracked: bool = False
    safe_command: str = ""


Hazards = Iterator[Hazard]


def word_set(text: str) -> frozenset[str]:
    """Return the words of ``text``."""
    return frozenset(text.split())


def options_of(command: SimpleCommand) -> frozenset[str]:
    """Return the options: ``-rf`` as ``-r`` and ``-f``, ``--force=x`` as ``--force``; none after ``--``."""
    options: set[str] = set()
    for word in command.words[1:]:
        if word == "--":
            break
        if word.startswith("--"):
            options.add(word.partition("=")[0])
        elif word.startswith("-"):
            options |= {f"-{letter}" for letter in word[1:]}
    return frozenset(options)


def arguments_of(words: tuple[str, ...], value_options: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the words that are neither options nor values of ``value_options``."""
    arguments: list[str] = []
    is_value = False
    for index, word in enumerate(words):
        if word == "--":
            return (*arguments, *words[index + 1 :])
        if is_value or (word.startswith("-") and word != "-"):
            is_value = not is_value and word in value_options
        else:
            arguments.append(word)
    return tuple(arguments)
