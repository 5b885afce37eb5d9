"""A text that was cut lies inside its limit, the note that says so included."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum

_CUT_WORD = re.compile(r"(?<!\S)\S+\Z")
_JOINER = "\u200d"
_LONGEST_CLUSTER = 64
"""Marks on one letter; a longer heap of them may be cut anywhere."""


class Unit(StrEnum):
    """What a client counts: code points, UTF-16 code units (as JavaScript does) or UTF-8 bytes."""

    CHARS = "chars"
    UTF16 = "utf16"
    UTF8 = "utf8"


@dataclass(frozen=True, slots=True)
class Cap:
    """At most ``limit`` of ``unit``; a limit below zero is zero."""

    limit: int
    unit: Unit = Unit.CHARS


def measure(text: str, unit: Unit) -> int:
    """The length of ``text`` in ``unit``. Lone surrogates count as one code point, one unit, three bytes."""
    if unit is Unit.CHARS or text.isascii():
        return len(text)
    if unit is Unit.UTF16:
        return len(text) + sum(char > "\uffff" for char in text)
    return len(text.encode("utf-8", "surrogatepass"))


def fit(text: str, cap: Cap, note: str = "…") -> tuple[str, bool]:
    """``text`` inside ``cap``, and whether something was cut.

    What is cut ends in ``note``, unless the note alone is over the cap. The cut falls on a line end if there is
    one in the last tenth, and never inside a letter with its marks or an emoji.
    """
    if measure(text, cap.unit) <= cap.limit:
        return text, False
    room = cap.limit - measure(note, cap.unit)
    if room < 0:
        room, note = max(cap.limit, 0), ""
    end = _line_end(text, _whole(text, _longest(text, room, cap.unit)))
    return text[:end] + note, True


def whole_words(text: str, most: int) -> str:
    """The first ``most`` characters of a text that is still to be cleaned, without the word that the cut goes through.

    Half a secret looks like none.
    """
    return text if len(text) <= most else _CUT_WORD.sub("", text[:most])


def _longest(text: str, room: int, unit: Unit) -> int:
    """How many code points of ``text`` go into ``room``."""
    ends = range(min(len(text), room) + 1)
    return bisect_right(ends, room, key=lambda end: measure(text[:end], unit)) - 1


def _whole(text: str, end: int) -> int:
    """The last place at or before ``end`` that is not inside a cluster."""
    for place in range(end, max(end - _LONGEST_CLUSTER, 0), -1):
        if not _is_inside(text, place):
            return place
    return end if end > _LONGEST_CLUSTER else 0


def _is_inside(text: str, place: int) -> bool:
    """Whether the character at ``place`` belongs to the one before it."""
    before, after = text[place - 1], text[place]
    if before == _JOINER or after == _JOINER or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if _is_flag_letter(before) and _is_flag_letter(after):
        run = 1
        while run < place and _is_flag_letter(text[place - run - 1]):
            run += 1
        return run % 2 == 1
    return unicodedata.category(after)[0] == "M" or (before, after) == ("\r", "\n")


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _line_end(text: str, end: int) -> int:
    """Just behind the last line feed in the last tenth before ``end``, or ``end``."""
    found = text.rfind("\n", end - end // 10, end)
    return found + 1 if found >= 0 else end
