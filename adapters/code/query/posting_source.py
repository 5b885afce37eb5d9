"""Where a search gets its postings and documents from: the working tree, or its index.

Invariant: a source only counts and reads; all scoring is in ``retrieval``, ``signals`` and ``rank``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from upbeat.adapters.code.files.file_types import FileRole
from upbeat.adapters.code.files.tree import WorkingTree
from upbeat.adapters.code.index.document import (
    IndexedDocument,
    StoredDocument,
    WordLines,
    encode_lines,
)
from upbeat.adapters.code.query.features import FeatureExtractor
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.signals import Needle

LENGTH_K1 = 1.2
LENGTH_B = 0.6
MAX_LENGTH_RATIO = 8.0
"""Times the average length beyond which a file's length no longer counts against it."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files of the same roles, which are scored together; positions index ``paths`` and ``length_norms``.

    Attributes:
        file_count: Number of readable files.
        byte_count: Their length in bytes.
        members: For each position 1 if the file belongs to the group, else 0.
        positions_by_term: The files whose paths contain a term; some may belong to other groups.
    """

    paths: Sequence[str]
    length_norms: Sequence[float]
    file_count: int
    byte_count: int
    members: bytes
    positions_by_term: Mapping[str, Sequence[int]]


def length_norms(sizes: Iterable[int], average: float) -> list[float]:
    """Return the BM25 length normalization for files of ``sizes`` bytes."""
    return [LENGTH_K1 * (1 - LENGTH_B + LENGTH_B * min(size / average, MAX_LENGTH_RATIO)) for size in sizes]


class PostingSource(Protocol):
    """The files of one tree for one query. Methods raise ``ToolFailure`` (timeout) when the search is cancelled."""

    mode: str
    """``index`` or ``scan``."""
    is_truncated: bool
    """Whether time ran out before every file was searched."""
    stale_paths: list[str]
    """Files that have changed since they were indexed."""
    tree: WorkingTree
    extractor: FeatureExtractor

    @property
    def paths(self) -> Mapping[str, int]:
        """Every path of the tree, with its position."""

    def paths_named(self, names: set[str]) -> Iterable[str]:
        """Return the paths that have one of ``names`` (see ``names_of_path``); it may return more."""

    def group(self, roles: set[FileRole]) -> FileGroup:
        """Return the files with one of ``roles``."""

    def rarity(self, needle: Needle, group: FileGroup) -> float:
        """Return about how rare ``needle`` is in ``group``, as an inverse document frequency."""

    def hits(self, needle: Needle, group: FileGroup) -> Sequence[tuple[int, int]] | None:
        """Return the position of every file with ``needle``, and how often it occurs; None when time is up."""

    def documents(self, paths: Sequence[str]) -> Iterator[tuple[str, StoredDocument]]:
        """Yield the documents of those of ``paths`` that are readable, in order, as far as time allows."""

    def word_lines(self, paths: Sequence[str]) -> dict[str, WordLines]:
        """Return the lines of the words in the documents of ``paths``."""

    def read_text(self, path: str) -> str | None:
        """Return the content of the file; None when it cannot be read any more."""


class TextDocuments:
    """Documents that are built from files on the spot; they have only the words that matter to the query."""

    def __init__(self, tree: WorkingTree, search_query: SearchQuery) -> None:
        self.tree = tree
        self.extractor = FeatureExtractor(search_query)
        self._texts: dict[str, str | None] = {}
        self._documents: dict[str, IndexedDocument] = {}

    def read_text(self, path: str) -> str | None:
        if path not in self._texts:
            self._texts[path] = self.tree.read_text(path)
        return self._texts[path]

    def build(self, path: str) -> StoredDocument | None:
        """Return the document of the file at ``path``; None when the file cannot be read."""
        text = self.read_text(path)
        if text is None:
            return None
        self._documents[path], document = self.extractor.build_document(path, text)
        return document

    def built_lines(self, paths: Iterable[str]) -> dict[str, WordLines]:
        """Return the lines of the words in those documents that were built here."""
        return {path: WordLines(encode_lines(self._documents[path])) for path in paths if path in self._documents}
