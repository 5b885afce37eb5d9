"""The uses of names in one file, from the parser or from the index.

Invariant: both give the same answers; stored references are searched without creating an object for each.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import compress
from typing import overload

from upbeat.adapters.code.syntax.parse import ParsedFile, Reference


class StoredReferences(Sequence[Reference]):
    """References in columns: index into ``names``, line, enclosing definition, whether it is a call."""

    def __init__(
        self, names: list[str], name_indexes: array[int], lines: array[int], enclosing: array[int], calls: bytes
    ) -> None:
        self.names = names
        self._name_indexes, self._lines, self._enclosing, self._calls = name_indexes, lines, enclosing, calls

    def __len__(self) -> int:
        return len(self._name_indexes)

    @overload
    def __getitem__(self, index: int) -> Reference: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Reference]: ...
    def __getitem__(self, index: int | slice) -> Reference | Sequence[Reference]:
        if isinstance(index, slice):
            return [self[item] for item in range(*index.indices(len(self)))]
        name = self.names[self._name_indexes[index]]
        return Reference(name, self._lines[index], self._enclosing[index], bool(self._calls[index]))

    def references_to(self, name: str) -> list[Reference]:
        """Return the references to ``name``, in order."""
        if name not in self.names:
            return []
        return [self[index] for index in _indexes_of(self.names.index(name), self._name_indexes)]

    def calls_inside(self, positions: Container[int]) -> list[Reference]:
        """Return the calls inside the definitions at ``positions``, in order."""
        calls = self._calls
        indexes = compress(range(len(calls)), map(positions.__contains__, self._enclosing))
        return [self[index] for index in indexes if calls[index]]


def _indexes_of(value: int, column: array[int]) -> Iterator[int]:
    """Yield the indexes of ``value`` in ``column``, in order."""
    data, needle = column.tobytes(), array(column.typecode, [value]).tobytes()
    offset = data.find(needle)
    while offset >= 0:
        if offset % len(needle) == 0:
            yield offset // len(needle)
        offset = data.find(needle, offset + 1)


def references_to(parsed: ParsedFile, name: str) -> Iterable[Reference]:
    """Return the uses of ``name`` in the file, in order."""
    references = parsed.references
    if isinstance(references, StoredReferences):
        return references.references_to(name)
    return [reference for reference in references if reference.name == name]


def calls_inside(parsed: ParsedFile, positions: Container[int]) -> Iterable[Reference]:
    """Return the calls inside the definitions at ``positions``, in order."""
    references = parsed.references
    if isinstance(references, StoredReferences):
        return references.calls_inside(positions)
    return [reference for reference in references if reference.is_call and reference.enclosing in positions]


def has_reference(parsed: ParsedFile, name: str) -> bool:
    """Return whether the file uses ``name``."""
    references = parsed.references
    if isinstance(references, StoredReferences):
        return name in references.names
    return any(reference.name == name for reference in references)
