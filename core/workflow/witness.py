"""Whether a claim ("the tests pass") is borne out by a command that really ran.

Law: the latest run of a kind decides. A run bears witness for the files that it ran on and for no others; a run
whose exit code something else on its line hides bears none.

Where the tree's digest could not be had in time, now or then, exit code 0 is believed and the reason says so:
otherwise nothing could ever pass in a repository too large to be read in time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ..shell import Words, read_line, unwrap
from ..texts.witness_phrases import BECAUSE, TOLD
from ..texts.witness_phrases import KINDS as NAMES
from ..turn.word import Template
from .runners import KINDS, MENTIONS, kind_of_program
from .state import Evidence

MAX_SHOWN = 80
_TOLD = re.compile(rf"^{TOLD}(\d{{1,3}})[ \t\r]*$", re.MULTILINE)


class Standing(StrEnum):
    """What the evidence is worth."""

    GOOD = "good"
    UNCHECKED = "unchecked"
    """Exit code 0, on files that nobody could compare."""
    CONTRADICTED = "contradicted"
    EXPIRED = "expired"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Look:
    """What a command line does. ``kind``: proven by its exit code 0; ``hidden``: run, and proven by nothing.

    ``told``: run through ``upbeat run``, which prints the exit code.
    """

    kind: str = ""
    hidden: str = ""
    told: str = ""


@dataclass(frozen=True, slots=True)
class Testimony:
    """Whether the claim is borne out, why (one sentence for people and models), and the evidence that decided."""

    found: bool
    because: str
    evidence: Evidence | None = None
    standing: Standing = Standing.MISSING


def look_at(command: str) -> Look:
    """What ``command``, one line of a shell, does."""
    if not MENTIONS.search(command):
        return Look()
    line = read_line(command)
    return Look(
        _most(kind_of_program(unwrap(words)) for words in line.proven),
        _most(kind_of_program(unwrap(words)) for words in line.hidden),
        _most(kind_of_program(unwrap(words)) for words in (*line.proven, *line.hidden) if _is_told(words)),
    )


def kind_of(command: str) -> str:
    """The kind of thing (tests, build, types, lint) that exit code 0 of ``command`` proves; empty for none."""
    return look_at(command).kind


def is_witness(command: str) -> bool:
    """Whether the end of ``command`` can bear witness of anything."""
    look = look_at(command)
    return bool(look.kind or look.told)


def exit_code_in(output: str) -> int | None:
    """The exit code that ``upbeat run`` printed at the end of ``output``; None when it did not."""
    found = _TOLD.findall(output[-2000:])
    return int(found[-1]) if found and int(found[-1]) < 256 else None


def witnessed(command: str, exit_code: int | None, output: str = "") -> tuple[str, int | None]:
    """The kind that a finished command bears witness of, and how it ended; ("", None) when it bears none.

    What ``upbeat run`` printed tells the exit code where the client does not, or where the line hides it.
    """
    look = look_at(command)
    told = exit_code_in(output) if look.told else None
    if look.kind:
        return look.kind, told if exit_code is None else exit_code
    return (look.told, told) if told is not None else ("", None)


def judge(kind: str, evidence: tuple[Evidence, ...], tree: str, language: str = "en") -> Testimony:
    """Whether the latest of ``evidence`` proves ``kind`` for the files that ``tree`` is the digest of."""
    latest = next((one for one in reversed(evidence) if one.kind == kind), None)
    standing = _standing(latest, tree)
    found = standing in (Standing.GOOD, Standing.UNCHECKED)
    return Testimony(found, _because(standing, kind, latest, language), latest, standing)


def _standing(latest: Evidence | None, tree: str) -> Standing:
    if latest is None:
        return Standing.MISSING
    if latest.exit_code is None:
        return Standing.UNKNOWN
    if latest.exit_code != 0:
        return Standing.CONTRADICTED
    if not latest.tree or not tree:
        return Standing.UNCHECKED
    return Standing.GOOD if latest.tree == tree else Standing.EXPIRED


def _because(standing: Standing, kind: str, latest: Evidence | None, language: str) -> str:
    texts = BECAUSE.get(language, BECAUSE["en"])
    names = NAMES.get(language, NAMES["en"])
    command = " ".join(latest.command.split()) if latest else ""
    shown = command if len(command) <= MAX_SHOWN else command[: MAX_SHOWN - 1] + "…"
    code = "" if latest is None or latest.exit_code is None else str(latest.exit_code)
    return Template(texts[standing]).format(kind=names.get(kind, kind), command=shown, code=code)


def _is_told(words: Words) -> bool:
    """Whether these words run something through ``upbeat run``."""
    plain = [word.rpartition("/")[2] for word in words]
    return any(plain[at : at + 2] == ["upbeat", "run"] for at in range(len(plain)))


def _most(kinds: Iterable[str]) -> str:
    found = set(kinds)
    return next((kind for kind in KINDS if kind in found), "")
