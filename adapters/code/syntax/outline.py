"""Outlines a file: its definitions, by small patterns for each language family and by indentation.

Invariant: good enough to name the enclosing function or class and its lines; it is not a parser. Every pattern
starts at the beginning of a line and cannot backtrack over more than one line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from upbeat.adapters.code.syntax.parsed_file import Definition, Nesting
from upbeat.core.package_data import load_rows

MAX_DEFINITIONS = 4000
MAX_LINE_CHARS = 400
"""Longer lines are generated and are ignored."""


_ABOVE = re.compile(r"(\s*)(?://|/\*|\*|#(?!\w)|--|;|@)")
"""The beginning of a line of a comment or annotation."""

_COMPILED = {
    language: re.compile(pattern, re.M)
    for language, pattern in load_rows("upbeat.adapters.code.syntax", "outline_patterns.tsv")
}


class Outline:
    """The definitions of one text in order, and its lines."""

    def __init__(self, text: str, language: str) -> None:
        self.lines = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines[:-1])]
        pattern = _COMPILED.get(language)
        self.definitions = _definitions(text, pattern, self) if pattern else ()
        self._nesting = Nesting(
            [item.start_line for item in self.definitions], [item.end_line for item in self.definitions]
        )

    def line_at(self, offset: int) -> int:
        """Return the line that contains the character at ``offset``."""
        return bisect_right(self._starts, offset)

    def enclosing_position(self, line: int) -> int:
        """Return the position of the innermost definition around ``line``, or -1."""
        return self._nesting.enclosing_position(line)

    def positions_by_line(self) -> list[int]:
        """Return ``enclosing_position`` of every line, and for a line that documents a definition its position."""
        positions = [-1] * len(self.lines)
        for position, item in enumerate(self.definitions):  # inner definitions follow outer ones
            positions[item.start_line - 1 : item.end_line] = [position] * (item.end_line - item.start_line + 1)
        for position, item in enumerate(self.definitions):
            for index in self.documenting_indexes(item):
                positions[index] = position
        return positions

    def documenting_indexes(self, item: Definition) -> range:
        """Return the indexes of the lines right above ``item`` that are comments or annotations."""
        first = end = item.start_line - 1
        indent = _indent(self.lines[end])
        while first and (match := _ABOVE.match(self.lines[first - 1])) and 0 <= len(match[1]) - indent <= 1:
            first -= 1
        return range(first, end)


def _definitions(text: str, pattern: re.Pattern[str], outline: Outline) -> tuple[Definition, ...]:
    """Return all definitions that ``pattern`` finds; each extends as far as deeper indentation does."""
    starts: list[tuple[str, str, int, int]] = []
    for match in pattern.finditer(text):
        name = next((group for group in match.groups()[1:] if group), "")
        if name and len(starts) < MAX_DEFINITIONS:
            line = outline.line_at(match.end() - 1)
            receiver = (match[1] or "").strip()  # of a method in Go; elsewhere the group is the indentation
            starts.append((name, receiver, line, _indent(outline.lines[line - 1])))
    ends = _last_lines(outline.lines, [(line, indent) for _, _, line, indent in starts])
    definitions: list[Definition] = []
    enclosing: list[tuple[int, str]] = []
    for (name, receiver, line, _), end in zip(starts, ends, strict=True):
        while enclosing and enclosing[-1][0] < line:
            enclosing.pop()
        owner = enclosing[-1][1] if enclosing else receiver
        definitions.append(Definition(name, "definition", line, end, owner))
        if end > line:
            enclosing.append((end, name))
    return tuple(definitions)


def _last_lines(lines: list[str], starts: list[tuple[int, int]]) -> list[int]:
    """Return the last line of each definition that starts at (line, indent), by indentation."""
    ends = [line for line, _ in starts]
    enclosing: list[int] = []
    next_start = 0
    last_used = 0
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if not bare:
            continue
        indent = _indent(line)
        is_closing = bare[0] in ")}]>" or bare in ("end", "fi", "done")
        while enclosing and indent <= starts[enclosing[-1]][1]:
            position = enclosing[-1]
            if number <= starts[position][0]:
                break
            is_own_end = is_closing and indent == starts[position][1]
            if indent == starts[position][1] and (bare[0] == "{" or (is_closing and bare[-1] in "{(:")):
                ends[position] = number
                break
            ends[position] = number if is_own_end else last_used
            enclosing.pop()
            if is_own_end:
                break
        while next_start < len(starts) and starts[next_start][0] == number:
            enclosing.append(next_start)
            next_start += 1
        last_used = number
    for position in enclosing:
        ends[position] = last_used
    return [max(end, line) for end, (line, _) in zip(ends, starts, strict=True)]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
