"""Find armored private keys: complete, without their end, or without their beginning."""

from __future__ import annotations

import re
from collections.abc import Iterator

from upbeat.core.sanitize.secrets.span import SecretSpan

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_TRUNCATED_END = re.compile(r"-{1,5}(?:E(?:N(?:D(?: [A-Z0-9 ]{0,40}-{0,5})?)?)?)?")
_LINE_SEPARATOR = re.compile(r"(?:\\[nrt]?|[0-9]{1,6}[:|→\-]|[\s\"'`,;|>#*()]|//(?=\s)|[+-](?=[\s\"'A-Za-z0-9+/]))*+")
"""Separators between two lines of a key: line ends, escapes, quotes, and the marks of diffs and line numbers."""
_HEADER = re.compile(r"[A-Z][A-Za-z-]{1,30}: [^\n\\\"']{0,200}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/=]|\\/)++")
_MIN_LINE_LENGTH, _MAX_LINE_LENGTH = 16, 200
_BASE64_LINE = re.compile(r"[\s>#*+/|\"'`0-9:→-]{0,16}?[A-Za-z0-9+/=]{16,}[\s\"'`,;+\\n]{0,8}")
_LAST_LINE = re.compile(r"[^\n]{0,60}=[\s\"'`,;+\\n]{0,8}")


def find_private_keys(text: str) -> Iterator[SecretSpan]:
    """Yield keys in PEM and PGP armor: complete, without their end, or without their beginning."""
    if "PRIVATE KEY" not in text:
        return
    for begin in _BEGIN.finditer(text):
        if end := _end_of_key(text, begin.end()):
            yield SecretSpan(begin.start(), end, 0, "private-key")
    for end_line in _END.finditer(text):
        start = _start_of_key(text, end_line.start())
        if start < end_line.start():
            yield SecretSpan(start, end_line.end(), 0, "private-key")


def _end_of_key(text: str, offset: int) -> int:
    """Return the end of the key whose first line ends at ``offset``; 0 if there is no other line."""
    end = 0
    while True:
        before, offset = offset, _skip(_LINE_SEPARATOR, text, offset)
        if closing := _END.match(text, offset):
            return closing.end() if end else 0
        if header := _HEADER.match(text, offset):
            offset = header.end()
            continue
        line = _BASE64.match(text, offset)
        if line is None:
            return _skip(_TRUNCATED_END, text, offset) if end else 0
        after = _skip(_LINE_SEPARATOR, text, line.end())
        gaps = text[before:offset], text[line.end() : after]
        is_last = _END.match(text, after) is not None and all("\n" in gap or "\\n" in gap for gap in gaps)
        if len(line[0]) < _MIN_LINE_LENGTH and not is_last and not (end and line[0].endswith("=")):
            return end
        offset = end = line.end()


def _start_of_key(text: str, offset: int) -> int:
    """Return the start of the base64 lines right before ``offset``; ``offset`` if there are none."""
    start = offset
    line_start = _line_start(text, offset)
    while line_start > 0:
        line_end = line_start - 1
        line_start = _line_start(text, line_end)
        shape = _LAST_LINE if start == offset else _BASE64_LINE
        if not (shape.fullmatch(text, line_start, line_end) or _BASE64_LINE.fullmatch(text, line_start, line_end)):
            break
        start = line_start
    return start


def _line_start(text: str, offset: int) -> int:
    """Return the start of the line of ``offset``, at most ``_MAX_LINE_LENGTH`` before it."""
    earliest = max(offset - _MAX_LINE_LENGTH, 0)
    line_end = text.rfind("\n", earliest, offset)
    return line_end + 1 if line_end >= 0 else earliest


def _skip(pattern: re.Pattern[str], text: str, offset: int) -> int:
    match = pattern.match(text, offset)
    return match.end() if match else offset
