"""Regular expressions of users, bounded: RE2 takes time linear in the text.

Lookaround and back references, which RE2 lacks, are reported as problems. An invalid expression never raises when it is
matched.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass

MAX_PATTERN_CHARS = 2000
"""Maximum characters of an expression."""
MAX_TEXT_BYTES = 262_144
"""Maximum bytes of a text."""
MAX_PROGRAM_SIZE = 2000
"""Maximum size of the program that RE2 compiles; a simple expression has a few dozen steps."""

_MAX_MEMORY = 1 << 19
"""Memory limit of one expression, in bytes."""
_UNSUPPORTED_SYNTAX = (
    (re.compile(r"\(\?<?[=!]"), "lookaround, (?= (?! (?<= (?<!, is not supported; write two rules"),
    (re.compile(r"\(\?P=|\\[1-9]"), "a back reference, \\1 or (?P=name), is not supported; write the text out"),
    (re.compile(r"\(\?>|[*+?}]\+"), "atomic groups and possessive quantifiers are not supported, nor needed"),
    (re.compile(r"\\[ZGKRXh]"), "this escape is not supported; the end of the text is \\z"),
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One expression. ``is_anchored``: it must match at the beginning of the text, and ``.`` stands for line ends too.

    Otherwise it may match anywhere, and ``^`` and ``$`` stand for the ends of lines.
    """

    source: str
    is_anchored: bool = False
    ignores_case: bool = False

    def compile(self) -> CompiledPattern:
        """Return the compiled expression. Raises ``re2.error`` for an invalid one."""
        return _compile(self.source, self.is_anchored, self.ignores_case)

    def matches(self, text: bytes) -> bool:
        """Return whether it matches ``text`` (UTF-8)."""
        return bool(self.compile().find(text))


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """``find`` takes a text (UTF-8) and returns a match or None, in at most ``program_size`` steps per byte."""

    find: Callable[[bytes], object]
    program_size: int


def find_pattern_problem(source: str) -> str:
    """Return why ``source`` is not a valid expression, and how to fix it; empty if it is."""
    if len(source) > MAX_PATTERN_CHARS:
        return f"is longer than {MAX_PATTERN_CHARS} characters"
    if control := next((char for char in source if char < " " or char == "\x7f"), ""):
        return f"contains the character {control!r}; YAML has escapes in double quotes, so use single quotes"
    import re2

    try:
        size = _compile(source, False, False).program_size
    except re2.error as error:
        reason = next((hint for syntax, hint in _UNSUPPORTED_SYNTAX if syntax.search(source)), "")
        detail = error.args[0] if error.args else b""
        text = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
        return f"is not a regular expression of RE2: {text[:120]}" + (f"; {reason}" if reason else "")
    except UnicodeEncodeError:
        return "contains half of a surrogate pair"
    if size > MAX_PROGRAM_SIZE:
        return f"is too large: {size} steps, at most {MAX_PROGRAM_SIZE}; use smaller repeat counts"
    return ""


@lru_cache(maxsize=2048)
def _compile(source: str, is_anchored: bool, ignores_case: bool) -> CompiledPattern:
    flags = ("s" if is_anchored else "m") + ("i" if ignores_case else "")
    compiled = compile_bytes(f"(?{flags}){source}".encode())
    return CompiledPattern(compiled.match if is_anchored else compiled.search, compiled.programsize)


def compile_bytes(source: bytes, *, dot_is_all: bool = False) -> Any:
    """Compile with RE2. Raises ``re2.error`` for an invalid expression."""
    import re2  # takes milliseconds: only with rules

    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    options.dot_nl = dot_is_all
    return re2.compile(source, options)
