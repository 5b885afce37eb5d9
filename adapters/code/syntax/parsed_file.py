"""What is known of one parsed file: its definitions, the uses of names in it, and its imports."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import NamedTuple

from upbeat.adapters.code.syntax.imports import Import


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or similar; lines count from 1 and include both ends.

    Attributes:
        kind: ``function``, ``method``, ``class`` and so on; ``definition`` when no grammar was used.
        parent: The names of the enclosing definitions, joined by dots.
        signature: The line with the name, without indentation; empty in an outline.
        branches: Decisions inside it, without those of inner definitions.
    """

    name: str
    kind: str
    start_line: int
    end_line: int
    parent: str = ""
    signature: str = ""
    branches: int = 0

    @property
    def symbol(self) -> str:
        """Return the qualified name, as in ``Session.send``."""
        return f"{self.parent}.{self.name}" if self.parent else self.name


class Nesting:
    """Finds the innermost definition around a line; definitions are ordered by their first lines."""

    def __init__(self, first_lines: Sequence[int], last_lines: Sequence[int]) -> None:
        self._first_lines = first_lines
        self._last_lines = last_lines
        self._next: list[int] = []
        """For each definition the nearest earlier one that does not end before it."""
        enclosing: list[int] = []
        for position, end in enumerate(self._last_lines):
            while enclosing and self._last_lines[enclosing[-1]] < end:
                enclosing.pop()
            self._next.append(enclosing[-1] if enclosing else -1)
            enclosing.append(position)

    def enclosing_position(self, line: int) -> int:
        """Return the position of the innermost definition around ``line``, or -1."""
        position = bisect_right(self._first_lines, line) - 1
        while position >= 0 and self._last_lines[position] < line:
            position = self._next[position]
        return position

    def position_below(self, line: int) -> int:
        """Return the position of the first definition that begins below ``line``, which may document it."""
        return bisect_right(self._first_lines, line)


class Reference(NamedTuple):
    """One use of a name; ``enclosing`` is the position of the innermost definition around it, or -1."""

    name: str
    line: int
    enclosing: int
    is_call: bool


@dataclass(slots=True)
class References:
    """The uses of names in one file, in order, as columns: a file has thousands, and few of them are ever asked for.

    Attributes:
        names: The index of each name; ``name_indexes`` has the index of each use.
        calls: For each use 1 if it is a call, else 0.
    """

    names: dict[str, int] = field(default_factory=dict)
    name_indexes: array[int] = field(default_factory=lambda: array("H"))
    lines: array[int] = field(default_factory=lambda: array("I"))
    enclosing: array[int] = field(default_factory=lambda: array("h"))
    calls: bytearray = field(default_factory=bytearray)

    def __len__(self) -> int:
        return len(self.calls)

    def __iter__(self) -> Iterator[Reference]:
        return iter(self._rows(range(len(self.calls))))

    def add(self, name: str, line: int, enclosing: int, is_call: bool) -> None:
        """Append one use."""
        self.name_indexes.append(self.names.setdefault(name, len(self.names)))
        self.lines.append(line)
        self.enclosing.append(enclosing)
        self.calls.append(is_call)

    def extend(
        self, name_indexes: Iterable[int], lines: Iterable[int], enclosing: Iterable[int], calls: Iterable[bool]
    ) -> None:
        """Append uses by columns."""
        self.name_indexes.extend(name_indexes)
        self.lines.extend(lines)
        self.enclosing.extend(enclosing)
        self.calls.extend(calls)

    def to_name(self, name: str) -> list[Reference]:
        """Return the uses of ``name``."""
        if name not in self.names:
            return []
        data, needle = self.name_indexes.tobytes(), array("H", [self.names[name]]).tobytes()
        indexes = []
        offset = data.find(needle)
        while offset >= 0:
            if offset % len(needle) == 0:
                indexes.append(offset // len(needle))
            offset = data.find(needle, offset + 1)
        return self._rows(indexes)

    def calls_inside(self, positions: Container[int]) -> list[Reference]:
        """Return the calls directly inside the definitions at ``positions``."""
        indexes = compress(range(len(self.calls)), map(positions.__contains__, self.enclosing))
        return self._rows(index for index in indexes if self.calls[index])

    def _rows(self, indexes: Iterable[int]) -> list[Reference]:
        names, name_indexes = list(self.names), self.name_indexes
        return [
            Reference(names[name_indexes[index]], self.lines[index], self.enclosing[index], bool(self.calls[index]))
            for index in indexes
        ]


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """One parsed file. Definitions are ordered by their first lines, outer ones first.

    Attributes:
        language: Name of the grammar, or the family of ``outline``; empty for what is not code.
        branches: Decisions outside all definitions.
        comment_ranges: First and last lines of comments that share no line with code.
        is_exact: Whether a grammar was used.
    """

    language: str
    definitions: tuple[Definition, ...] = ()
    references: References = field(default_factory=References)
    imports: tuple[Import, ...] = ()
    branches: int = 0
    comment_ranges: tuple[tuple[int, int], ...] = ()
    is_exact: bool = False
