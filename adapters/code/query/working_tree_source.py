"""Postings from the files themselves, for a tree without an index.

Invariant: the first pass only counts substrings of raw bytes, because nothing slower is fast enough. Every term is a
prefix of its words, so it misses no file. When time runs out, ``is_truncated`` says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from upbeat.adapters.code.cancellation import raise_if_cancelled
from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.files.tree import SourceFile, WorkingTree
from upbeat.adapters.code.index.document import StoredDocument, WordLines
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.posting_source import FileGroup, TextDocuments, length_norms
from upbeat.adapters.code.query.signals import Needle, inverse_document_frequency, path_terms
from upbeat.core.engine.ports import Cancellation

MAX_FILES = 20_000
MAX_SCANNED_BYTES = 300_000_000
MAX_CACHED_COUNTS = 48
"""Counts that are cached with one file for the next query."""

SAMPLE_FILES = 160
CANCEL_CHECK_INTERVAL = 32
COUNT_SECONDS = 0.2
FEATURE_SECONDS = 0.4
"""Time after the deadline for counting, and for feature extraction."""

MIN_LATE_CANDIDATES = 10
"""Candidates whose features are extracted even when time is up."""


@dataclass(frozen=True, slots=True)
class _ScannedGroup(FileGroup):
    sources: Sequence[SourceFile]


class WorkingTreeSource(TextDocuments):
    """Implements ``PostingSource`` by reading files until ``deadline`` (``monotonic``)."""

    mode = "scan"

    def __init__(
        self,
        tree: WorkingTree,
        files: Sequence[str],
        search_query: SearchQuery,
        cancelled: Cancellation,
        deadline: float,
        *,
        is_truncated: bool = False,
    ) -> None:
        super().__init__(tree, search_query)
        self.is_truncated = is_truncated
        self.stale_paths: list[str] = []
        self.paths: Mapping[str, int] = {path: position for position, path in enumerate(files)}
        self._cancelled = cancelled
        self._deadline = deadline
        self._byte_count = 0

    def paths_named(self, names: set[str]) -> Iterable[str]:
        return self.paths if names else ()

    def group(self, roles: set[FileRole]) -> FileGroup:
        files = sorted(
            (path for path in self.paths if classify_file(path).role in roles), key=lambda path: path.count("/") // 6
        )
        sources = list(self._read_sources(files[:MAX_FILES]))
        sizes = [len(source.lowercase_bytes) for source in sources]
        positions_by_term: dict[str, list[int]] = defaultdict(list)
        for position, source in enumerate(sources):
            for term in path_terms(source.path):
                positions_by_term[term].append(position)
        return _ScannedGroup(
            [source.path for source in sources],
            length_norms(sizes, sum(sizes) / (len(sizes) or 1) or 1.0),
            len(sizes),
            sum(sizes),
            b"\1" * len(sizes),
            positions_by_term,
            sources,
        )

    def _read_sources(self, files: Sequence[str]) -> Iterator[SourceFile]:
        for number, path in enumerate(files):
            if number % CANCEL_CHECK_INTERVAL == 0:
                raise_if_cancelled(self._cancelled)
                if self._byte_count > MAX_SCANNED_BYTES or (monotonic() > self._deadline and self._byte_count):
                    self.is_truncated = True
                    return
            source = self.tree.read_source(path)
            if source:
                self._byte_count += len(source.lowercase_bytes)
                yield source

    def rarity(self, needle: Needle, group: FileGroup) -> float:
        assert isinstance(group, _ScannedGroup)
        sample = group.sources[:: max(1, group.file_count // SAMPLE_FILES)]
        frequency = sum([needle.pattern in source.lowercase_bytes for source in sample])
        return inverse_document_frequency(len(sample), frequency)

    def hits(self, needle: Needle, group: FileGroup) -> Sequence[tuple[int, int]] | None:
        if monotonic() > self._deadline + COUNT_SECONDS:
            self.is_truncated = True
            return None
        assert isinstance(group, _ScannedGroup)
        hits = []
        for position, source in enumerate(group.sources):
            if position % 1024 == 0:
                raise_if_cancelled(self._cancelled)
            count = source.needle_counts.get(needle.pattern)
            if count is None:
                if len(source.needle_counts) >= MAX_CACHED_COUNTS:
                    source.needle_counts.clear()
                count = source.needle_counts[needle.pattern] = source.lowercase_bytes.count(needle.pattern)
            if count:
                hits.append((position, count))
        return hits

    def documents(self, paths: Sequence[str]) -> Iterator[tuple[str, StoredDocument]]:
        for number, path in enumerate(paths):
            raise_if_cancelled(self._cancelled)
            if monotonic() > self._deadline + FEATURE_SECONDS and number >= MIN_LATE_CANDIDATES:
                self.is_truncated = True
                return
            document = self.build(path)
            if document is not None:
                yield path, document

    def word_lines(self, paths: Sequence[str]) -> dict[str, WordLines]:
        return self.built_lines(paths)
