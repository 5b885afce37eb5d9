"""How wide text is in a terminal. Pure."""

from __future__ import annotations

import unicodedata


def columns(text: str) -> int:
    """The columns that ``text`` takes: two for a wide character, none for one that combines with another."""
    return sum(map(_of_one, text))


def padded(text: str, width: int) -> str:
    """``text`` with spaces behind it up to ``width`` columns."""
    return text + " " * max(width - columns(text), 0)


def _of_one(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
