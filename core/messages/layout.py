"""Lay out what people read: columns of a terminal, marks with a color, and relative times.

A mark always comes with a word, so that nothing depends on the color. Invariant: pure; the width of the screen and the
time are arguments. Wide characters take two columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from upbeat.core.messages.catalogue import load_messages
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.frame import SafeText

MIN_COLUMNS = 40
"""A narrower screen is laid out as if it had so many columns."""
GAP = "  "
_MIN_LAST_COLUMNS = 16
"""A last cell with less room is put below its row."""
_AGE_UNITS = ((90, 1, "seconds_ago"), (90 * 60, 60, "minutes_ago"), (48 * 3600, 3600, "hours_ago"))
_WIDE = r"\u2e80-\ua4cf\uac00-\ud7a3\uff00-\uff60"
_OPENING, _CLOSING = "[（「『《【]*", "[，。、；：！？）」』》】]*"
_BREAK_UNIT = re.compile(rf"{_OPENING}(?:[{_WIDE}]|[^ {_WIDE}]+){_CLOSING} *|[{_WIDE}] *| +")
"""What a line may break after: a word, or a character of a script without spaces, with the punctuation that it has."""


class Style(StrEnum):
    """How a line begins, as parameters of the control sequence that selects it."""

    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    GOOD = "32"
    BAD = "31"
    ATTENTION = "33"
    CURRENT = "36"


class Line(NamedTuple):
    """One line; the style is that of its first ``styled`` characters."""

    text: str
    style: Style = Style.PLAIN
    styled: int = 0


class Screen(NamedTuple):
    """What a text is laid out for."""

    language: str = "en"
    columns: int = 80
    now: datetime = datetime.min.replace(tzinfo=UTC)


class Mark(NamedTuple):
    """A glyph, also with a bracket before it, and its color."""

    glyph: str
    style: Style


GOOD = Mark("✓", Style.GOOD)
BAD = Mark("✗", Style.BAD)
ATTENTION = Mark("!", Style.ATTENTION)
CURRENT = Mark("▸", Style.CURRENT)
ADDED = Mark("+", Style.CURRENT)
QUIET = Mark("·", Style.FAINT)


def to_text(lines: Iterable[Line]) -> str:
    """Return ``lines`` without their colors."""
    return "\n".join(line.text for line in lines)


def headline(text: str, screen: Screen, style: Style = Style.STRONG) -> Iterator[Line]:
    """Yield the line that says the answer."""
    yield from (Line(row, style, len(row)) for row in hanging("", text, screen.columns, 0))


def paragraph(text: str, screen: Screen, indent: str = "") -> Iterator[Line]:
    """Yield ``text`` wrapped, below ``indent``."""
    yield from (Line(row) for row in hanging(indent, text, screen.columns))


def marked(mark: Mark, text: str, screen: Screen, indent: str = "") -> Iterator[Line]:
    """Yield ``text`` wrapped, after a mark."""
    head = f"{indent}{mark.glyph} "
    for number, row in enumerate(hanging(head, text, screen.columns)):
        yield Line(row, mark.style, 0 if number else len(head))


def table(
    rows: Sequence[Sequence[str]], screen: Screen, indent: str = "", marks: Sequence[Mark] = ()
) -> Iterator[Line]:
    """Yield rows of cells in columns. The last cell is wrapped; the others are clipped where they are too wide."""
    rows = [[*(strip_controls(cell).expandtabs(1).replace("\n", " ") for cell in row[:-1]), row[-1]] for row in rows]
    room = max(screen.columns, MIN_COLUMNS) - len(indent) - (text_width(marks[0].glyph) + 1 if marks else 0)
    widths = _column_widths(rows, room)
    for number, row in enumerate(rows):
        head = indent + (f"{marks[number].glyph} " if marks else "")
        style, styled = (marks[number].style, len(head)) if marks else (Style.PLAIN, 0)
        cells = [pad(clip_to_width(cell, width), width) for cell, width in zip(row[:-1], widths, strict=False)]
        text = hanging(head + "".join(cell + GAP for cell in cells), row[-1], screen.columns, len(indent) + 4)
        yield from (Line(each, style, 0 if below else styled) for below, each in enumerate(text))


def _column_widths(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return the widths of all columns but the last; the widest ones shrink until the last one has room."""
    fixed = [[text_width(cell) for cell in column] for column in zip(*(row[:-1] for row in rows), strict=False)]
    widths = [max(column, default=0) for column in fixed]
    last = max((text_width(line) for row in rows for line in row[-1].split("\n")), default=0)
    limit = room - min(last, max(_MIN_LAST_COLUMNS, room // 3)) - len(GAP) * len(widths)
    while widths and sum(widths) > limit and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths


def hanging(head: str, text: str, columns: int, fallback_indent: int = 4) -> Iterator[str]:
    """Yield ``head`` and ``text``, wrapped so that further rows begin below the text.

    Where the head leaves too little room, they begin after ``fallback_indent`` columns.
    """
    columns, text = max(columns, MIN_COLUMNS), strip_controls(text).expandtabs(1)
    indent = text_width(head)
    if columns - indent < min(_MIN_LAST_COLUMNS, max(text_width(text), 1)):
        if head.strip():
            yield head.rstrip(" ")
        indent = min(fallback_indent, columns // 2)
        head = " " * indent
    for row in wrap_to_width(text, columns - indent).split("\n"):
        for piece in _break_word(row, columns - indent):
            yield (head + piece).rstrip(" ")
            head = " " * indent


def _break_word(row: str, columns: int) -> Iterator[str]:
    """Yield a row of one word that is too long in pieces that fit."""
    while text_width(row) > columns:
        end = used = 0
        while used + text_width(row[end]) <= columns:
            used += text_width(row[end])
            end += 1
        yield row[: end or 1]
        row = row[end or 1 :]
    yield row


def relative_time(at: str | float, screen: Screen) -> str:
    """Return how long ago ``at`` was (ISO 8601, or seconds since the epoch): ``3 min ago``; empty for no time."""
    try:
        then = datetime.fromisoformat(at) if isinstance(at, str) else datetime.fromtimestamp(at, UTC)
        seconds = max((screen.now - then).total_seconds(), 0)
    except (ValueError, TypeError, OverflowError, OSError):
        return str(at)
    if not at:
        return ""
    texts = load_messages("screens", screen.language)
    for below, unit, text in _AGE_UNITS:
        if seconds < below:
            return str(texts[text].format(count=int(seconds // unit)))
    return str(texts["days_ago"].format(count=int(seconds // 86400)))


def text_width(text: str) -> int:
    """Return the columns that ``text`` takes in a terminal."""
    if text.isascii():
        return len(text)
    from wcwidth import width  # takes 25 ms to load: only for text that needs it

    return width(text)


def pad(text: str, columns: int) -> str:
    """Return ``text`` with spaces up to ``columns``."""
    return text + " " * max(columns - text_width(text), 0)


def clip_to_width(text: str, width: int) -> str:
    """Return ``text`` in at most ``width`` columns of a terminal; clipped text ends with ``…``."""
    columns = 0
    fits = 0
    for position, char in enumerate(text):
        columns += text_width(char)
        if columns <= width - 1:
            fits = position + 1
        if columns > width:
            return text[:fits] + "…"
    return text


def wrap_to_width(text: str, width: int) -> str:
    """Wrap long lines of ``text`` between words; the terminal wraps words that are too long."""
    return "\n".join(part for line in text.split("\n") for part in _wrap_line(line, width))


def _wrap_line(line: str, width: int) -> Iterator[str]:
    start = end = columns = 0
    for word in _BREAK_UNIT.findall(line):
        size = text_width(word.rstrip(" "))
        if columns + size > width and end > start:
            yield line[start:end].rstrip(" ")
            start, columns = end, 0
        columns += size + len(word) - len(word.rstrip(" "))
        end += len(word)
    yield line[start:]


def join(parts: Iterable[object]) -> SafeText:
    """Return the parts that are not empty, with a dot between them."""
    return SafeText(" · ".join(str(part) for part in parts if part))
