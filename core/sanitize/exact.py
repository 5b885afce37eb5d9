r"""Display untrusted text exactly: what a user reads decodes to the characters that run.

``strip_controls`` is for text that informs; this module is for text that a user approves. Nothing is removed or cut.
A character that is not plainly visible becomes ``\u{1b}``, and so does a backslash before ``u{``, so the display
decodes to one text only. A long line is folded into rows; our marks, never the text, begin each row.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from upbeat.core.sanitize.control_chars import INVISIBLE_CHARACTERS

T = TypeVar("T")
MIN_COLUMNS = 30
"""A narrower terminal wraps rows by itself, where no mark shows it."""

MAX_MARKS = 2
"""Combining characters that one letter may carry; more would cover the rows above and below."""

_MIN_TEXT_COLUMNS = 15
_UNIT = re.compile(r"\\u\{[0-9a-f]+\}|.", re.DOTALL)
_WORD = re.compile(r"[^\W_]+")
_UNDISPLAYABLE = re.compile("[\0\ufffd\ud800-\udfff]")
_INVISIBLE = re.compile(f"[{INVISIBLE_CHARACTERS}\u2800\U0001d159\U00016fe4]")
"""The blank Braille pattern and other signs without ink count as spaces that look like another one."""


_HIDDEN_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
_USEFUL = frozenset("\t\u200c\u200d\ufe0e\ufe0f")


class Marks(NamedTuple):
    """What begins the rows of a text: its first line, its other lines, and what continues a folded line."""

    first: str = "  > "
    other: str = "  > "
    folded: str = "  \\ "


DEFAULT_MARKS = Marks()


def decodes_to_what_runs(text: str) -> bool:
    r"""Return whether ``text`` stands for exactly one sequence of bytes that a program can receive.

    Empty text does not; nor does U+FFFD, which replaces bytes that were lost before, a lone surrogate, or NUL.
    """
    return bool(text.strip()) and _UNDISPLAYABLE.search(text) is None


def escape_exactly(text: str, encoding: str = "utf-8") -> str:
    r"""Return ``text`` on one line, with every character that is not plainly visible as ``\u{hex}``.

    Line ends, tabs, a space at the end, other spaces, controls, bidirectional letters and controls, letters of other
    scripts inside a Latin word, marks beyond ``MAX_MARKS``, and what ``encoding`` lacks are not.
    """
    if text.isascii() and text.isprintable():
        escaped = text.replace("\\u{", "\\u{5c}u{")
    else:
        disguised = {match.start() + at for match in _WORD.finditer(text) for at in _disguised_letters(match[0])}
        escaped = "".join(_escape_chars(text, encoding, disguised))
    return f"{escaped[:-1]}\\u{{20}}" if escaped.endswith(" ") else escaped


def hidden_characters(text: str) -> list[str]:
    """Return the characters of a user's own text that nobody can see, as ``U+202E in line 3``.

    Tabs, joiners and variation selectors have a use and do not count.
    """
    return [
        f"U+{ord(char):04X} in line {number}"
        for number, line in enumerate(text.split("\n"), 1)
        for char in line
        if char not in _USEFUL and (unicodedata.category(char) in _HIDDEN_CATEGORIES or _INVISIBLE.match(char))
    ]


def exact_rows(text: str, columns: int, marks: Marks = DEFAULT_MARKS, encoding: str = "utf-8") -> list[str]:
    """Return ``text`` as rows of at most ``columns`` columns (at least ``MIN_COLUMNS``), line by line."""
    rows: list[str] = []
    left = max(columns - max(map(_column_count, marks)), _MIN_TEXT_COLUMNS)
    for number, line in enumerate(text.split("\n")):
        for part, row in enumerate(_fold(escape_exactly(line, encoding), left)):
            rows.append((marks.folded if part else marks.other if number else marks.first) + row)
    return rows


def exact_json(value: Any) -> str:
    """Return ``value`` as JSON with one entry a line."""
    return json.dumps(value, ensure_ascii=False, indent=1)


def _escape_chars(text: str, encoding: str, disguised: set[int]) -> Iterator[str]:
    cluster = ""  # the last visible letter with its marks
    for at, char in enumerate(text):
        is_mark = char > "\x7f" and unicodedata.category(char) in ("Mn", "Mc")
        joined = cluster + char
        is_plain = at not in disguised and _is_visible(char, encoding)
        if is_mark:
            is_plain = is_plain and cluster[:1].isalpha() and len(cluster) <= MAX_MARKS
        if char > "\x7f":  # a sequence that looks like another one, its composed form, is not plain
            is_plain = is_plain and unicodedata.normalize("NFC", joined) == joined
        if char == "\\":
            is_plain = not text.startswith("u{", at + 1)
        cluster = (joined if is_mark else char) if is_plain else ""
        yield char if is_plain else f"\\u{{{ord(char):x}}}"


@lru_cache(maxsize=4096)
def _is_visible(char: str, encoding: str) -> bool:
    """Return whether ``char`` has ink of its own (or is a space), and stands where it is written."""
    if char <= "\x7f":
        return char.isprintable()
    category = unicodedata.category(char)
    if category[0] in "CZ" or category == "Me" or unicodedata.combining(char) == 1 or _INVISIBLE.match(char):
        return False
    if "\ufff9" <= char <= "\uffff" or unicodedata.bidirectional(char) in ("R", "AL", "AN"):
        return False
    try:
        return bool(char.encode(encoding))
    except UnicodeEncodeError:
        return False


def _disguised_letters(word: str) -> Iterator[int]:
    """Yield the positions of cased letters of other scripts in a word with Latin letters."""
    if word.isascii() or not any(char.isascii() and char.isalpha() for char in word):
        return
    for at, char in enumerate(word):
        if not char.isascii() and char.lower() != char.upper() and not unicodedata.name(char, "").startswith("LATIN"):
            yield at


def _fold(escaped: str, columns: int) -> Iterator[str]:
    """Yield rows of at most ``columns`` columns; none ends in a space, and no escape is divided."""
    if len(escaped) <= columns and escaped.isascii():
        yield escaped
        return
    row, used = "", 0
    for unit in _UNIT.findall(escaped):
        width = _column_count(unit)
        if row and used + width > columns - 5:  # room for a space at the end to become an escape
            yield f"{row[:-1]}\\u{{20}}" if row.endswith(" ") else row
            row, used = "", 0
        row += unit
        used += width
    yield row


def _column_count(text: str) -> int:
    """Return the most columns that a terminal may use for ``text``."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WFA" else 1 for char in text)


def pages(rows: Sequence[T], height: int) -> list[Sequence[T]]:
    """Divide ``rows`` into pages of at most ``height`` rows; there is at least one page."""
    size = max(height, 1)
    return [rows[start : start + size] for start in range(0, len(rows), size)] or [rows]
