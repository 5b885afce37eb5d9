"""What one command would destroy, as a value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from ..shell import Command


class Grade(StrEnum):
    """How bad it is."""

    NONE = "none"
    ASK = "ask"
    """It can be had back with some work, or may be what its user wants."""
    DENY = "deny"
    """Nothing brings it back, and it is outside of the project or its user's own work."""


@dataclass(frozen=True, slots=True)
class Here:
    """Where a line runs: the repository's root and the working directory, both absolute."""

    root: str
    cwd: str


@dataclass(frozen=True, slots=True)
class Harm:
    """``kind`` is a key of ``texts.harms``; ``target`` what it happens to, as it is written.

    ``loses`` is the folder or file of the project, relative to its root (empty for all of it), whose uncommitted
    changes would be lost: without any there the grade is ``else_grade``. None where that does not matter.
    ``only_tracked``: files that git does not know yet do not count.
    """

    kind: str
    grade: Grade
    target: str = ""
    loses: str | None = None
    else_grade: Grade = Grade.NONE
    only_tracked: bool = False


Harms = Iterator[Harm]


def split(text: str) -> frozenset[str]:
    """The words of a table."""
    return frozenset(text.split())


def options_of(command: Command) -> frozenset[str]:
    """The options of a command: ``-rf`` as ``-r`` and ``-f``, ``--force=x`` as ``--force``; none behind ``--``."""
    found: set[str] = set()
    for word in command.words[1:]:
        if word == "--":
            break
        if word.startswith("--"):
            found.add(word.partition("=")[0])
        elif word.startswith("-"):
            found |= {f"-{letter}" for letter in word[1:]}
    return frozenset(found)


def arguments_of(words: tuple[str, ...], with_value: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The words that are no option, nor the value of an option in ``with_value``."""
    found: list[str] = []
    is_value = False
    for at, word in enumerate(words):
        if word == "--":
            return (*found, *words[at + 1 :])
        if is_value or (word.startswith("-") and word != "-"):
            is_value = not is_value and word in with_value
        else:
            found.append(word)
    return tuple(found)
