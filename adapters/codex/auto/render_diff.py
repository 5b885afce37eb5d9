"""A change to a file as lines for a terminal. Law: pure; the diff is untrusted, and what is cut is counted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from ....core.turn.strip import strip
from .transport import Change

MOST_LINES = 24
"""Lines of one diff that are shown beside the turn."""

_HUNK = re.compile(r"@@ [^@]*@@")


class Side(StrEnum):
    """What a line of a diff says."""

    ADDED = "added"
    REMOVED = "removed"
    PLACE = "place"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Diff:
    """Lines with their sides, how many were left out, and how many lines the whole change adds and removes."""

    lines: tuple[tuple[Side, str], ...]
    left_out: int
    added: int
    removed: int


def diff_of(change: Change, most: int = MOST_LINES) -> Diff:
    """The lines of ``change``; of a new or deleted file the diff is its content."""
    text = strip(change.diff).removesuffix("\n")
    if not text:
        return Diff((), 0, 0, 0)
    whole = {"add": Side.ADDED, "delete": Side.REMOVED}.get(change.kind)
    lines = text.split("\n")
    if whole and not any(_HUNK.match(line) for line in lines):
        sided = [(whole, f"{'+' if whole is Side.ADDED else '-'}{line}") for line in lines]
    else:
        sided = [(_side(line), line) for line in _without_head(lines)]
    sides = [side for side, _ in sided]
    return Diff(tuple(sided[:most]), max(len(sided) - most, 0), sides.count(Side.ADDED), sides.count(Side.REMOVED))


def _without_head(lines: list[str]) -> list[str]:
    """``lines`` from the first place on: what stands before it names the file once more."""
    first = next((number for number, line in enumerate(lines) if _HUNK.match(line)), 0)
    return lines[first:]


def _side(line: str) -> Side:
    if _HUNK.match(line):
        return Side.PLACE
    return {"+": Side.ADDED, "-": Side.REMOVED}.get(line[:1], Side.SAME)
