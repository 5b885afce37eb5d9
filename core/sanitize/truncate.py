"""Truncate text to a limit. Invariant: the result fits the limit, the note about the truncation included."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from enum import StrEnum

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass

_LAST_WORD = re.compile(r"(?<!\S)\S+\Z")
_JOINER = "\u200d"
_MAX_CLUSTER_LENGTH = 64
"""Characters of one grapheme cluster; a longer one may be cut anywhere."""


class LengthUnit(StrEnum):
    """The unit that a client counts: code points, UTF-16 code units (as JavaScript does) or UTF-8 bytes."""

    CHARS = "chars"
    UTF16 = "utf16"
    UTF8 = "utf8"


@dataclass(frozen=True, slots=True)
class TextLimit:
    """At most ``max_length`` of ``unit``; a negative limit is zero."""

    max_length: int
    unit: LengthUnit = LengthUnit.CHARS


def measure_text(text: str, unit: LengthUnit) -> int:
    """Return the length of ``text`` in ``unit``. A lone surrogate counts as one code point, one unit, three bytes."""
    if unit is LengthUnit.CHARS or text.isascii():
        return len(text)
    if unit is LengthUnit.UTF16:
        return len(text) + sum(char > "\uffff" for char in text)
    return len(text.encode("utf-8", "surrogatepass"))


def truncate_to_limit(text: str, limit: TextLimit, note: str = "…") -> tuple[str, bool]:
    """Return ``text`` within ``limit``, and whether it was truncated.

    A truncated text ends in ``note``, unless the note alone exceeds the limit. The cut is at a line end if there is one
    in the last tenth, and never inside a grapheme cluster such as an emoji or a letter with its marks.
    """
    if measure_text(text, limit.unit) <= limit.max_length:
        return text, False
    max_length = limit.max_length - measure_text(note, limit.unit)
    if max_length < 0:
        max_length, note = max(limit.max_length, 0), ""
    ends = range(min(len(text), max_length) + 1)
    fitting = bisect_right(ends, max_length, key=lambda end: measure_text(text[:end], limit.unit)) - 1
    boundaries = (
        offset
        for offset in range(fitting, max(fitting - _MAX_CLUSTER_LENGTH, 0), -1)
        if not _is_inside_cluster(text, offset)
    )
    end = next(boundaries, fitting if fitting > _MAX_CLUSTER_LENGTH else 0)
    line_end = text.rfind("\n", end - end // 10, end)
    end = line_end + 1 if line_end >= 0 else end
    return text[:end] + note, True


def truncate_at_word(text: str, max_length: int) -> str:
    """Return the first ``max_length`` characters of text that is not sanitized yet, without the word at the cut.

    Half of a secret is not recognized as one.
    """
    return text if len(text) <= max_length else _LAST_WORD.sub("", text[:max_length])


def _is_inside_cluster(text: str, offset: int) -> bool:
    """Return whether the character at ``offset`` belongs to the one before it."""
    before, after = text[offset - 1], text[offset]
    if before == _JOINER or after == _JOINER or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if _is_flag_letter(before) and _is_flag_letter(after):
        run = 1
        while run < offset and _is_flag_letter(text[offset - run - 1]):
            run += 1
        return run % 2 == 1
    return unicodedata.category(after)[0] == "M" or (before, after) == ("\r", "\n")


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
