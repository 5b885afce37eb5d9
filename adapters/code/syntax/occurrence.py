"""Classifies how a file uses a name without parsing it: absent, used, or apparently defined.

Invariant: only a few lowercase bytes around each occurrence are examined. It may report a use as a definition, and
rarely the reverse; the parser decides.
"""

from __future__ import annotations

import re

ABSENT, USED, DEFINED = 0, 1, 2
MAX_OCCURRENCES = 40
"""Occurrences that are examined in one file; a name that is not defined by then counts as used."""

CHARS_BEFORE, CHARS_AFTER = 120, 160

_KEYWORD = re.compile(
    rb"(?:^|[^a-z0-9_$.])(?:def|class|func|fn|function|struct|enum|trait|interface|type|module|mod|macro_rules!|impl"
    rb"|namespace|record|union|const|static|let|var|#[ \t]*define|typedef)\b[^=;\"']*$"
)
_TYPE = re.compile(rb"([a-z0-9_$>\]]+)[ \t]*[*&]*[ \t]+[*&]*(?:[a-z0-9_$]+::)*$")
_NOT_TYPES = frozenset(
    b"return new else await throw case not and or in if yield raise assert goto do elif while delete typeof echo"
    b" print import from as is with export".split()
)
_VALUE = re.compile(rb"[ \t]*[:=][ \t]*(?:async\b[ \t]*)?(?:function\b|\(|[a-z_$]+[ \t]*=>)")
_CONSTANT = re.compile(rb"[ \t]*(?::[^=\n]{1,60})?=[^=]")
_BODY = re.compile(rb"[ \t]*(?:<[^>\n]*>)?\((?:[^;\n]*(?:\{[^\n]*|,|\)|\())?[ \t\r]*$")


def classify_occurrence(data: bytes, name: bytes) -> int:
    """Return ``ABSENT``, ``USED`` or ``DEFINED`` for ``name`` as a whole word in ``data``, both lowercase."""
    start = data.find(name)
    result = ABSENT
    for _ in range(MAX_OCCURRENCES):
        if start < 0:
            break
        end = start + len(name)
        is_inside_word = (start and _is_identifier_byte(data[start - 1])) or (
            end < len(data) and _is_identifier_byte(data[end])
        )
        if not is_inside_word:
            result = USED
            if _seems_defined(data, start, end):
                return DEFINED
        start = data.find(name, end)
    return result


def _is_identifier_byte(byte: int) -> bool:
    return 97 <= byte <= 122 or 48 <= byte <= 57 or byte in (36, 95)


def _seems_defined(data: bytes, start: int, end: int) -> bool:
    """Return whether the text around the occurrence looks like a definition."""
    before = data[data.rfind(b"\n", max(0, start - CHARS_BEFORE), start) + 1 or max(0, start - CHARS_BEFORE) : start]
    if _KEYWORD.search(before):
        return True
    stop = data.find(b"\n", end, end + CHARS_AFTER)
    after = data[end : stop if stop >= 0 else end + CHARS_AFTER]
    if _VALUE.match(after) or (not before and _CONSTANT.match(after)):
        return True
    if not _BODY.match(after):
        return False
    if not before.strip() or before.rstrip().endswith((b"#", b"*")):
        return b"{" in after
    word = _TYPE.search(before)
    return word is not None and word.group(1) not in _NOT_TYPES
