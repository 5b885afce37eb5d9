"""How a name stands in a file, judged without parsing it: not at all, as a use, or as if it were defined there.

Law: bytes in lower case, a few of them around each occurrence; it may take a use for a definition, and seldom the
reverse. The parser has the last word.
"""

from __future__ import annotations

import re

NOT, USED, DEFINED = 0, 1, 2
MAX_OCCURRENCES = 40
"""Looked at in one file; a name that stands there more often, and was not defined so far, is used."""

BEFORE, AFTER = 120, 160

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


def stands(data: bytes, name: bytes) -> int:
    """``NOT``, ``USED`` or ``DEFINED`` for ``name`` as a whole word in ``data``, both in lower case."""
    at = data.find(name)
    found = NOT
    for _ in range(MAX_OCCURRENCES):
        if at < 0:
            break
        end = at + len(name)
        if not (at and _is_part(data[at - 1])) and not (end < len(data) and _is_part(data[end])):
            found = USED
            if _seems_defined(data, at, end):
                return DEFINED
        at = data.find(name, end)
    return found


def _is_part(byte: int) -> bool:
    return 97 <= byte <= 122 or 48 <= byte <= 57 or byte in (36, 95)


def _seems_defined(data: bytes, at: int, end: int) -> bool:
    """Whether the occurrence from ``at`` to ``end`` has a definition's words around it."""
    before = data[data.rfind(b"\n", max(0, at - BEFORE), at) + 1 or max(0, at - BEFORE) : at]
    if _KEYWORD.search(before):
        return True
    stop = data.find(b"\n", end, end + AFTER)
    after = data[end : stop if stop >= 0 else end + AFTER]
    if _VALUE.match(after) or (not before and _CONSTANT.match(after)):
        return True
    if not _BODY.match(after):
        return False
    if not before.strip() or before.rstrip().endswith((b"#", b"*")):
        return b"{" in after
    word = _TYPE.search(before)
    return word is not None and word.group(1) not in _NOT_TYPES
