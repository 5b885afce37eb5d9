"""Where things are defined in a file: small patterns for each family of languages, and indentation.

Law: good enough to name the enclosing function or class and its lines, never a parser. Every pattern starts
at a line's beginning and cannot backtrack over more than one line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MAX_DEFINITIONS = 4000
MAX_LINE = 400
"""Longer lines are not looked at: they are generated."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or the like; lines count from 1 and include both ends. ``owner`` encloses it."""

    name: str
    start_line: int
    end_line: int
    owner: str = ""

    @property
    def symbol(self) -> str:
        """The name with its owner's, as in ``Session.send``."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async|override|virtual|inline"
    r"|sealed|partial|open|suspend|const|constexpr|extern|unsafe|data|pub(?:\([a-z: ]+\))?) +){0,6}"
)
_NOT_JS = r"(?!(?:if|for|while|switch|catch|return|function|else|with|do)\b)"
_NOT_JAVA = r"(?!(?:return|new|else|throw|if|for|while|case|yield)\b)"
_NOT_C = r"(?!(?:return|else|if|for|while|switch|case|goto|do|sizeof)\b)"
_PATTERNS = {
    "python": (
        r"^([ \t]*)(?:async[ \t]+)?(?:def|class|cpdef|cdef class)[ \t]+([A-Za-z_]\w*)"
        r"|^()([A-Z_a-z][A-Za-z0-9_]*)(?:: ?[^=\n]{1,60})? = "
    ),
    "javascript": (
        r"^([ \t]*)" + _MODIFIERS + r"(?:(?:function\*?|class|interface|enum|namespace|type)[ ]+([A-Za-z_$][\w$]*)"
        r"|(?:const|let|var)[ ]+([A-Za-z_$][\w$]*)(?:: ?[^=\n]{1,80})? = "
        rf"|{_NOT_JS}(?:get |set |\*|#)?([A-Za-z_$][\w$]*)(?:<[^>\n]{{1,60}}>)?\([^\n;]{{0,200}}\{{[ \t]*$"
        r"|([A-Za-z_$][\w$]*) ?[:=] ?(?:async )?(?:function\b|\([^()\n]{0,120}\) ?=>))"
    ),
    "go": (
        r"^()(?:func[ ]+(?:\([^)\n]{1,80}\)[ ]*)?([A-Za-z_]\w*)"
        r"|type[ ]+([A-Za-z_]\w*)|(?:var|const)[ ]+([A-Za-z_]\w*))"
    ),
    "rust": (
        r"^([ \t]*)"
        + _MODIFIERS
        + r"(?:(?:fn|struct|enum|trait|mod|type|union|macro_rules!|const|static)[ ]+(?:mut +)?"
        r"([A-Za-z_]\w*)|impl(?:<[^>\n]{0,80}>)?[ ]+(?:[\w:<>&', ]{1,80}[ ]for[ ]+)?([A-Za-z_]\w*))"
    ),
    "java": (
        r"^([ \t]*)(?:@\w+[ ]+)?"
        + _MODIFIERS
        + r"(?:(?:class|interface|enum|record|object|struct|trait|fun|func|def|val"
        r"|protocol|extension)[ ]+(?:<[^>\n]{1,60}> )?(?:[A-Z]\w*\.)?([A-Za-z_]\w*)"
        rf"|{_NOT_JAVA}[\w<>\[\],.?]{{1,80}}[ ]+([A-Za-z_]\w*)\([^;\n]{{0,200}}(?:\{{|,|\)|\()[ \t]*$)"
    ),
    "c": (
        r"^()(?:#[ \t]*define[ \t]+([A-Za-z_]\w*)"
        r"|(?:typedef[ ]+)?(?:struct|enum|union|class|namespace)[ ]+([A-Za-z_]\w*)[^;\n]{0,120}$"
        rf"|{_NOT_C}[A-Za-z_][\w \t*&:<>,~]{{0,120}}?[\s*&:~]([A-Za-z_]\w*)[ ]?\([^;\n]{{0,250}}$)"
    ),
    "ruby": r"^([ \t]*)(?:def[ ]+(?:self\.)?([A-Za-z_]\w*[?!]?)|(?:class|module)[ ]+(?:\w+::)*([A-Z]\w*))",
    "php": r"^([ \t]*)" + _MODIFIERS + r"(?:function|class|interface|trait|enum)[ ]+&?([A-Za-z_]\w*)",
    "shell": r"^([ \t]*)(?:function[ ]+([A-Za-z_][\w:.-]*)|([A-Za-z_][\w:.-]*)[ ]?\(\))",
    "lua": r"^([ \t]*)(?:local[ ]+)?function[ ]+(?:\w+[.:])*([A-Za-z_]\w*)",
    "sql": (
        r"^([ \t]*)(?:create|CREATE)[ ]+(?:(?:or|OR)[ ]+(?:replace|REPLACE)[ ]+)?\w+[ ]+"
        r"(?:if not exists |IF NOT EXISTS )?[\"`]?(\w+)"
    ),
    "other": (
        r"^([ \t]*)(?:defp?|defmodule|sub|function|fn|func|proc|let|module|class|package|pub fn|message|service|rpc)"
        r"[ ]+([A-Za-z_][\w.]*)"
    ),
}
_COMPILED = {language: re.compile(pattern, re.M) for language, pattern in _PATTERNS.items()}


class Nesting:
    """Which definition is the innermost one around a line. Definitions come in the order of their first lines."""

    def __init__(self, first_lines: Sequence[int], last_lines: Sequence[int]) -> None:
        self._first_lines = first_lines
        self._last_lines = last_lines
        self._next: list[int] = []
        """For each definition the nearest one before it that does not end before it: the next to be asked."""
        open_ones: list[int] = []
        for at, end in enumerate(self._last_lines):
            while open_ones and self._last_lines[open_ones[-1]] < end:
                open_ones.pop()
            self._next.append(open_ones[-1] if open_ones else -1)
            open_ones.append(at)

    def around(self, line: int) -> int:
        """The position of the innermost definition around ``line``, or -1."""
        at = bisect_right(self._first_lines, line) - 1
        while at >= 0 and self._last_lines[at] < line:
            at = self._next[at]
        return at


class Outline:
    """The definitions of one text in order, and the way from offsets to lines."""

    def __init__(self, text: str, language: str) -> None:
        self.lines = text.split("\n")
        self._starts = _line_starts(self.lines)
        pattern = _COMPILED.get(language)
        self.definitions = _definitions(text, pattern, self) if pattern else ()
        self._nesting = Nesting(
            [one.start_line for one in self.definitions], [one.end_line for one in self.definitions]
        )

    @property
    def names(self) -> list[str]:
        """The names of the definitions, in order."""
        return [one.name for one in self.definitions]

    def line_at(self, offset: int) -> int:
        """The line that holds the character at ``offset``."""
        return bisect_right(self._starts, offset)

    def around(self, line: int) -> int:
        """The position of the innermost definition around ``line``, or -1."""
        return self._nesting.around(line)


def _line_starts(lines: list[str]) -> list[int]:
    starts = []
    offset = 0
    for line in lines:
        starts.append(offset)
        offset += len(line) + 1
    return starts


def _definitions(text: str, pattern: re.Pattern[str], outline: Outline) -> tuple[Definition, ...]:
    """All definitions that ``pattern`` finds, each as long as what is indented deeper goes on."""
    found: list[tuple[str, int, int]] = []
    for match in pattern.finditer(text):
        name = next((group for group in match.groups()[1:] if group), "")
        if name and len(found) < MAX_DEFINITIONS:
            line = outline.line_at(match.end() - 1)
            found.append((name, line, _indent(outline.lines[line - 1])))
    ends = _ends(outline.lines, [(line, indent) for _, line, indent in found])
    definitions: list[Definition] = []
    open_ones: list[tuple[int, str]] = []
    for (name, line, _), end in zip(found, ends, strict=True):
        while open_ones and open_ones[-1][0] < line:
            open_ones.pop()
        owner = open_ones[-1][1] if open_ones else ""
        definitions.append(Definition(name, line, end, owner))
        if end > line:
            open_ones.append((end, name))
    return tuple(definitions)


def _ends(lines: list[str], starts: list[tuple[int, int]]) -> list[int]:
    """For each start (line, indent): the last line that belongs to it, by indentation."""
    ends = [line for line, _ in starts]
    open_ones: list[int] = []
    at = 0
    last_used = 0
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if not bare:
            continue
        indent = _indent(line)
        is_closing = bare[0] in ")}]>" or bare in ("end", "fi", "done")
        while open_ones and indent <= starts[open_ones[-1]][1]:
            position = open_ones[-1]
            if number <= starts[position][0]:
                break
            is_own_end = is_closing and indent == starts[position][1]
            if indent == starts[position][1] and (bare[0] == "{" or (is_closing and bare[-1] in "{(:")):
                ends[position] = number
                break
            ends[position] = number if is_own_end else last_used
            open_ones.pop()
            if is_own_end:
                break
        while at < len(starts) and starts[at][0] == number:
            open_ones.append(at)
            at += 1
        last_used = number
    for position in open_ones:
        ends[position] = last_used
    return [max(end, line) for end, (line, _) in zip(ends, starts, strict=True)]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
