"""A private key in armour goes as a whole: between its lines, without its end, or without its beginning."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .secret_span import Span

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END_CUT_OFF = re.compile(r"-{1,5}(?:E(?:N(?:D(?: [A-Z0-9 ]{0,40}-{0,5})?)?)?)?")
_BETWEEN = re.compile(r"(?:\\[nrt]?|[0-9]{1,6}[:|→\-]|[\s\"'`,;|>#*()]|//(?=\s)|[+-](?=[\s\"'A-Za-z0-9+/]))*+")
"""What stands between two lines of a key: line ends, escapes, quotes, and the marks of diffs and line numbers."""
_HEADER = re.compile(r"[A-Z][A-Za-z-]{1,30}: [^\n\\\"']{0,200}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/=]|\\/)++")
_SHORTEST_LINE, _LONGEST_LINE = 16, 200
_BASE64_LINE = re.compile(r"[\s>#*+/|\"'`0-9:→-]{0,16}?[A-Za-z0-9+/=]{16,}[\s\"'`,;+\\n]{0,8}")
_LAST_LINE = re.compile(r"[^\n]{0,60}=[\s\"'`,;+\\n]{0,8}")


def private_keys(text: str) -> Iterator[Span]:
    """Keys in PEM and PGP armour: whole, without their end, or without their beginning."""
    if "PRIVATE KEY" not in text:
        return
    for begin in _BEGIN.finditer(text):
        if end := _end_of_key(text, begin.end()):
            yield Span(begin.start(), end, 0, "private-key")
    for last in _END.finditer(text):
        start = _start_of_key(text, last.start())
        if start < last.start():
            yield Span(start, last.end(), 0, "private-key")


def _end_of_key(text: str, place: int) -> int:
    """Where the key whose first line ends at ``place`` ends; 0 if only that line is there."""
    end = 0
    while True:
        before, place = place, _skip(_BETWEEN, text, place)
        if closing := _END.match(text, place):
            return closing.end() if end else 0
        if header := _HEADER.match(text, place):
            place = header.end()
            continue
        line = _BASE64.match(text, place)
        if line is None:
            return _skip(_END_CUT_OFF, text, place) if end else 0
        after = _skip(_BETWEEN, text, line.end())
        gaps = text[before:place], text[line.end() : after]
        is_last = _END.match(text, after) is not None and all("\n" in gap or "\\n" in gap for gap in gaps)
        if len(line[0]) < _SHORTEST_LINE and not is_last and not (end and line[0].endswith("=")):
            return end
        place = end = line.end()


def _start_of_key(text: str, place: int) -> int:
    """Where the base64 lines right before ``place`` begin; ``place`` itself if there are none."""
    start = place
    line_start = _line_start(text, place)
    while line_start > 0:
        line_end = line_start - 1
        line_start = _line_start(text, line_end)
        shape = _LAST_LINE if start == place else _BASE64_LINE
        if not (shape.fullmatch(text, line_start, line_end) or _BASE64_LINE.fullmatch(text, line_start, line_end)):
            break
        start = line_start
    return start


def _line_start(text: str, place: int) -> int:
    """Where the line of ``place`` begins; ``_LONGEST_LINE`` before it at most, or 0."""
    earliest = max(place - _LONGEST_LINE, 0)
    found = text.rfind("\n", earliest, place)
    return found + 1 if found >= 0 else earliest


def _skip(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place
