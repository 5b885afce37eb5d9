"""Regular expressions of users, bounded: RE2 takes time in proportion to the text, whatever the expression is.

What RE2 lacks, looking around and back references, is told as such; an expression that is none never raises when
it is held against a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MAX_PATTERN = 2000
"""Characters of an expression."""
MAX_TEXT = 262_144
"""Bytes of a text that an expression is held against."""
MAX_SIZE = 2000
"""Steps of the program that RE2 makes of an expression; a plain one has some dozens."""

_MAX_MEMORY = 1 << 19
"""Bytes that one expression may take when it is compiled, and when it runs."""
_LACKS = (
    (re.compile(r"\(\?<?[=!]"), "looking ahead or behind, (?= (?! (?<= (?<!, is not to be had; say it in two rules"),
    (re.compile(r"\(\?P=|\\[1-9]"), "a back reference, \\1 or (?P=name), is not to be had; write the text out"),
    (re.compile(r"\(\?>|[*+?}]\+"), "atomic groups and possessive counts are not to be had, nor needed"),
    (re.compile(r"\\[ZGKRXh]"), "that escape is not to be had; the end of the text is \\z"),
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One expression. ``is_anchored``: it must match at the beginning of the text, and ``.`` stands for line ends too.

    Otherwise it may match anywhere, and ``^`` and ``$`` stand for the ends of lines.
    """

    source: str
    is_anchored: bool = False
    ignores_case: bool = False

    def compiled(self) -> Compiled:
        """What finds it. Raises ``re2.error`` for what is no expression."""
        return _compiled(self.source, self.is_anchored, self.ignores_case)

    def matches(self, text: bytes) -> bool:
        """Whether it matches ``text`` (UTF-8)."""
        return bool(self.compiled().find(text))


@dataclass(frozen=True, slots=True)
class Compiled:
    """``find`` takes a text (UTF-8) and gives nothing, or what was found; it takes at most ``size`` steps a byte."""

    find: Callable[[bytes], object]
    size: int


def problem_of(source: str) -> str:
    """Why ``source`` is no expression, and the way out; empty for one that is."""
    if len(source) > MAX_PATTERN:
        return f"is longer than {MAX_PATTERN} characters"
    if control := next((char for char in source if char < " " or char == "\x7f"), ""):
        return f"holds the character {control!r}; between double quotes YAML reads \\b and the like, so use single ones"
    import re2

    try:
        size = _compiled(source, False, False).size
    except re2.error as error:
        reason = next((words for lack, words in _LACKS if lack.search(source)), "")
        told = error.args[0] if error.args else b""
        said = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
        return f"is no regular expression of RE2: {said[:120]}" + (f"; {reason}" if reason else "")
    except UnicodeEncodeError:
        return "holds half a character"
    return f"is too large: {size} steps, at most {MAX_SIZE}; count less far" if size > MAX_SIZE else ""


@lru_cache(maxsize=2048)
def _compiled(source: str, is_anchored: bool, ignores_case: bool) -> Compiled:
    flags = ("s" if is_anchored else "m") + ("i" if ignores_case else "")
    found = compile_bytes(f"(?{flags}){source}".encode())
    return Compiled(found.match if is_anchored else found.search, found.programsize)


def compile_bytes(source: bytes, *, dot_is_all: bool = False) -> Any:
    """RE2's own object; ``dot_is_all``: ``.`` is a line end, too. Raises ``re2.error`` for what is no expression."""
    import re2  # some milliseconds, and only who has rules pays for it

    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    options.dot_nl = dot_is_all
    return re2.compile(source, options)
