"""The uses of names in one file, as a parser gives them or as the index keeps them.

Law: what is asked of them has the same answer either way; kept ones are looked through without making an object
for each.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import compress
from typing import overload

from .parse import Parsed, Reference


class KeptReferences(Sequence[Reference]):
    """References by columns: which of ``names``, the line, the definition around it, whether it is a call."""

    def __init__(
        self, names: list[str], which: array[int], lines: array[int], enclosing: array[int], calls: bytes
    ) -> None:
        self.names = names
        self._which, self._lines, self._enclosing, self._calls = which, lines, enclosing, calls

    def __len__(self) -> int:
        return len(self._which)

    @overload
    def __getitem__(self, at: int) -> Reference: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Reference]: ...
    def __getitem__(self, at: int | slice) -> Reference | Sequence[Reference]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        return Reference(self.names[self._which[at]], self._lines[at], self._enclosing[at], bool(self._calls[at]))

    def named(self, name: str) -> list[Reference]:
        """Those of ``name``, in order."""
        try:
            wanted = self.names.index(name)
        except ValueError:
            return []
        return [self[at] for at in _places_of(wanted, self._which)]

    def calls_in(self, positions: Container[int]) -> list[Reference]:
        """The calls inside of the definitions at ``positions``, in order."""
        calls = self._calls
        places = compress(range(len(calls)), map(positions.__contains__, self._enclosing))
        return [self[at] for at in places if calls[at]]


def _places_of(value: int, column: array[int]) -> Iterator[int]:
    """Where ``value`` stands in ``column``, in order."""
    data, wanted = column.tobytes(), array(column.typecode, [value]).tobytes()
    width = len(wanted)
    at = data.find(wanted)
    while at >= 0:
        if at % width == 0:
            yield at // width
        at = data.find(wanted, at + 1)


def uses(parsed: Parsed, name: str) -> Iterable[Reference]:
    """The uses of ``name`` in the file, in order."""
    found = parsed.references
    return found.named(name) if isinstance(found, KeptReferences) else [one for one in found if one.name == name]


def calls_in(parsed: Parsed, positions: Container[int]) -> Iterable[Reference]:
    """The calls inside of the definitions at ``positions``, in order."""
    found = parsed.references
    if isinstance(found, KeptReferences):
        return found.calls_in(positions)
    return [one for one in found if one.is_call and one.enclosing in positions]


def mentions(parsed: Parsed, name: str) -> bool:
    """Whether the file uses ``name`` at all."""
    found = parsed.references
    return name in found.names if isinstance(found, KeptReferences) else any(one.name == name for one in found)
