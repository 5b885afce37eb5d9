"""Where a search gets its postings and documents from: the working tree, or its index.

Invariant: a source only counts and reads; all scoring is in ``retrieval`` and ``rank``. A file that has changed since
it was indexed is read from the tree, and a term is a prefix of its words, so neither source misses a file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic

from upbeat.adapters.code.concurrency import LruCache, raise_if_cancelled
from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.files.tree import SourceFile, WorkingTree
from upbeat.adapters.code.index.document import (
    WHOLE_NAME_PREFIX,
    IndexedDocument,
    StoredDocument,
    WordLines,
    encode_lines,
    index_keys,
)
from upbeat.adapters.code.index.manager import IndexView
from upbeat.adapters.code.index.store import RACY
from upbeat.adapters.code.query.features import FeatureExtractor
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.terms import inverse_document_frequency, path_terms, stem
from upbeat.adapters.code.syntax.occurrence import DEFINED, USED, classify_occurrence
from upbeat.core.engine.ports import Cancellation

LENGTH_K1 = 1.2
LENGTH_B = 0.6
MAX_LENGTH_RATIO = 8.0
"""Times the average length beyond which a file's length no longer counts against it."""

CACHED_HITS = 1_000_000
"""Hits of a group's files that are kept from one query to the next: 12 MB."""

CACHED_FREQUENCIES = 10_000
MAX_FILES = 20_000
MAX_SCANNED_BYTES = 300_000_000
MAX_CACHED_COUNTS = 48
"""Counts that are cached with one file for the next query."""

SAMPLE_FILES = 160
CANCEL_CHECK_INTERVAL = 32
COUNT_SECONDS = 0.2
FEATURE_SECONDS = 0.4
"""Time after the deadline for counting, and for feature extraction."""

MAX_EXAMINED = 24
"""Files with a name up to which all are examined for its definition: not every form of one is recognized."""

MIN_LATE_CANDIDATES = 10
"""Candidates whose features are extracted even when time is up."""


@dataclass(frozen=True, slots=True)
class Needle:
    """A term, or a whole name (lowercase), that the first pass counts, with its weight.

    Attributes:
        pattern: The bytes that are counted in a file without an index; ``index_key`` is the key in the index.
    """

    pattern: bytes
    key: str
    index_key: str
    weight: float
    is_name: bool = False
    is_neighbor: bool = False


@dataclass(frozen=True, slots=True)
class Hits:
    """The files with a needle: their positions, ascending, and the BM25 saturation of how often it occurs in each."""

    positions: Sequence[int]
    saturations: Sequence[float]

    def saturation(self, position: int) -> float:
        """Return the saturation at ``position``; 0 if that file has no hit."""
        index = bisect_left(self.positions, position)
        is_hit = index < len(self.positions) and self.positions[index] == position
        return self.saturations[index] if is_hit else 0.0


def make_hits(counts: Iterable[tuple[int, int]], norms: Sequence[float]) -> Hits:
    """Return the hits of files, given each file's position and count, in any order, and the norms of all files."""
    pairs = sorted(counts)
    saturations = [count * (LENGTH_K1 + 1) / (count + norms[position]) for position, count in pairs]
    return Hits(array("I", [position for position, _ in pairs]), array("d", saturations))


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


class PostingSource(ABC):
    """The files of one tree for one query. Methods raise ``ToolFailure`` (timeout) when the search is cancelled.

    Attributes:
        mode: ``index`` or ``scan``.
        paths: Every path of the tree, with its position.
        is_truncated: Whether time ran out before every file was searched.
        stale_paths: Files that have changed since they were indexed.
    """

    mode: str
    paths: Mapping[str, int]
    is_truncated = False

    def __init__(self, tree: WorkingTree, search_query: SearchQuery, cancelled: Cancellation) -> None:
        self.tree = tree
        self.extractor = FeatureExtractor(search_query)
        self.stale_paths: list[str] = []
        self._cancelled = cancelled
        self._texts: dict[str, str | None] = {}
        self._documents: dict[str, IndexedDocument] = {}

    @abstractmethod
    def paths_named(self, names: set[str]) -> Iterable[str]:
        """Return the paths that have one of ``names`` (see ``names_of_path``); it may return more."""

    @abstractmethod
    def paths_defining(self, name: str) -> Iterable[str]:
        """Return the paths of files that seem to define ``name``; it may return too many."""

    @abstractmethod
    def group(self, roles: frozenset[FileRole]) -> FileGroup:
        """Return the files with one of ``roles``."""

    @abstractmethod
    def rarity(self, needle: Needle, group: FileGroup) -> float:
        """Return about how rare ``needle`` is in ``group``, as an inverse document frequency."""

    @abstractmethod
    def hits(self, needle: Needle, group: FileGroup) -> Hits | None:
        """Return every file with ``needle``; None when time is up."""

    @abstractmethod
    def documents(self, paths: Sequence[str]) -> Iterator[tuple[str, StoredDocument]]:
        """Yield the documents of those of ``paths`` that are readable, in order, as far as time allows."""

    def word_lines(self, paths: Sequence[str]) -> dict[str, WordLines]:
        """Return the lines of the words in the documents of ``paths``."""
        return {path: WordLines(encode_lines(self._documents[path])) for path in paths if path in self._documents}

    def read_text(self, path: str) -> str | None:
        """Return the content of the file; None when it cannot be read any more."""
        if path not in self._texts:
            self._texts[path] = self.tree.read_text(path)
        return self._texts[path]

    def build_document(self, path: str) -> StoredDocument | None:
        """Return a document with only the words that matter to the query; None when the file cannot be read."""
        text = self.read_text(path)
        if text is None:
            return None
        self._documents[path], document = self.extractor.build_document(path, text)
        return document


@dataclass(frozen=True, slots=True)
class _IndexedGroup(FileGroup):
    """``position_by_doc`` holds the documents of one file, ``positions_by_doc`` those of several identical files.

    ``hits`` and ``frequencies`` of keys are kept from one query to the next.
    """

    position_by_doc: Mapping[int, int]
    positions_by_doc: Mapping[int, Sequence[int]]
    hits: LruCache[str, Hits] = field(default_factory=lambda: LruCache(CACHED_HITS))
    frequencies: LruCache[str, int] = field(default_factory=lambda: LruCache(CACHED_FREQUENCIES))


class IndexSource(PostingSource):
    """Postings and documents from an index, while its ``view`` is open.

    Methods raise StorageError, and ValueError for a damaged index.
    """

    mode = "index"

    def __init__(self, tree: WorkingTree, view: IndexView, search_query: SearchQuery, cancelled: Cancellation) -> None:
        super().__init__(tree, search_query, cancelled)
        self._store, self._table, self._verified = view.store, view.table, view.verified
        self._doc_ids: dict[str, int] = {}
        self._has_words = False
        self.paths = view.table.position_by_path

    def paths_named(self, names: set[str]) -> Iterable[str]:
        positions = {position for name in names for position in self._table.positions_by_name.get(name, ())}
        return [self._table.entries[position].path for position in sorted(positions)]

    def paths_defining(self, name: str) -> Iterable[str]:
        docs = dict.fromkeys(self._store.docs_defining(name))
        rarest = min(index_keys(name), key=self._store.key_frequency)
        if self._store.key_frequency(rarest) <= MAX_EXAMINED:
            docs |= dict.fromkeys(doc for found, _ in self._store.postings(rarest) for doc in found)
        positions = {position for doc in docs for position in self._table.positions_by_doc.get(doc, ())}
        return [self._table.entries[position].path for position in sorted(positions)]

    def group(self, roles: frozenset[FileRole]) -> FileGroup:
        group: FileGroup | None = self._table.groups_by_roles.get(roles)
        if group is None:
            group = self._table.groups_by_roles[roles] = self._build_group(roles)
        return group

    def _build_group(self, roles: frozenset[FileRole]) -> _IndexedGroup:
        table = self._table
        members = table.role_mask(roles)
        position_by_doc: dict[int, int] = {}
        positions_by_doc: dict[int, list[int]] = {}
        sizes: list[int] = []
        for doc, positions in table.positions_by_doc.items():
            selected = [position for position in positions if members[position]]
            sizes += [table.entries[position].size for position in selected]
            if len(selected) == 1:
                position_by_doc[doc] = selected[0]
            elif selected:
                positions_by_doc[doc] = selected
        return _IndexedGroup(
            [entry.path for entry in table.entries],
            length_norms([entry.size for entry in table.entries], sum(sizes) / (len(sizes) or 1) or 1.0),
            len(sizes),
            sum(sizes),
            members,
            table.positions_by_term,
            position_by_doc,
            positions_by_doc,
        )

    def rarity(self, needle: Needle, group: FileGroup) -> float:
        assert isinstance(group, _IndexedGroup)
        frequency = group.frequencies.get(needle.index_key)
        if frequency is None:
            frequency = self._store.key_frequency(needle.index_key)
            group.frequencies.put(needle.index_key, frequency, 1)
        return inverse_document_frequency(group.file_count, min(group.file_count, frequency))

    def hits(self, needle: Needle, group: FileGroup) -> Hits:
        assert isinstance(group, _IndexedGroup)
        hits = group.hits.get(needle.index_key)
        if hits is None:
            hits = make_hits(self._count_files(needle.index_key, group), group.length_norms)
            group.hits.put(needle.index_key, hits, len(hits.positions) + 1)
        return hits

    def _count_files(self, key: str, group: _IndexedGroup) -> Iterator[tuple[int, int]]:
        """Yield the position of each file with ``key``, and how often it occurs there."""
        single, shared = group.position_by_doc, group.positions_by_doc
        for docs, counts in self._store.postings(key):
            pairs = zip(map(single.get, docs), counts, strict=True)
            yield from [(position, count) for position, count in pairs if position is not None]
            for doc, count in zip(docs, counts, strict=True) if shared else ():
                yield from [(position, count) for position in shared.get(doc, ())]

    def documents(self, paths: Sequence[str]) -> Iterator[tuple[str, StoredDocument]]:
        if not self._has_words:
            self._load_words()
        self._doc_ids = {path: doc for path in paths if (doc := self._current_doc(path))}
        documents = self._store.get_documents(self._doc_ids.values())
        for path in paths:
            raise_if_cancelled(self._cancelled)
            if path in self._doc_ids:
                yield path, documents[self._doc_ids[path]]
            elif document := self.build_document(path):
                yield path, document

    def _load_words(self) -> None:
        """Load the words of the index that may match the query; all documents share them."""
        query = self.extractor.search_query
        keys = dict.fromkeys((*query.terms, *query.neighbors))
        for joined in query.joined_names:
            keys |= dict.fromkeys((WHOLE_NAME_PREFIX + joined, stem(joined), stem(joined + "s")))
        self.extractor.words_by_id |= self._store.words_of_keys(keys, query.names)
        self._has_words = True

    def _current_doc(self, path: str) -> int:
        """Return the document of ``path`` if the file is unchanged, else 0; note a changed file in ``stale_paths``."""
        position = self.paths.get(path)
        entry = self._table.entries[position] if position is not None else None
        if entry and entry.doc_id and position in self._verified:
            return entry.doc_id
        stamp = self.tree.file_stamp(path)
        if entry and entry.doc_id and stamp == (entry.size, entry.mtime_ns):
            return entry.doc_id
        known = (entry.size, entry.mtime_ns) if entry and entry.mtime_ns else None
        if entry is None or (entry.mtime_ns != RACY and stamp != known):
            self.stale_paths.append(path)
        return 0

    def word_lines(self, paths: Sequence[str]) -> dict[str, WordLines]:
        docs = {path: self._doc_ids[path] for path in paths if path in self._doc_ids}
        lines = self._store.get_word_lines(docs.values())
        return super().word_lines(paths) | {path: lines[doc] for path, doc in docs.items()}


@dataclass(frozen=True, slots=True)
class _ScannedGroup(FileGroup):
    sources: Sequence[SourceFile]


class WorkingTreeSource(PostingSource):
    """Postings from the files themselves, read until ``deadline`` (``monotonic``), for a tree without an index.

    The first pass only counts substrings of raw bytes, because nothing slower is fast enough.
    """

    mode = "scan"

    def __init__(
        self,
        tree: WorkingTree,
        files: Sequence[str],
        search_query: SearchQuery,
        cancelled: Cancellation,
        deadline: float,
    ) -> None:
        super().__init__(tree, search_query, cancelled)
        self.paths = {path: position for position, path in enumerate(files)}
        self._deadline = deadline
        self._byte_count = 0
        self._sources_read: dict[str, SourceFile] = {}

    def paths_named(self, names: set[str]) -> Iterable[str]:
        return self.paths if names else ()

    def paths_defining(self, name: str) -> Iterable[str]:
        needle = name.lower().encode("utf-8", "replace")
        kinds = {
            path: classify_occurrence(source.lowercase_bytes, needle)
            for path, source in self._sources_read.items()
            if needle in source.lowercase_bytes
        }
        used = [path for path, kind in kinds.items() if kind == USED]
        return [path for path, kind in kinds.items() if kind == DEFINED] + (used if len(kinds) <= MAX_EXAMINED else [])

    def group(self, roles: frozenset[FileRole]) -> FileGroup:
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
                self._sources_read[path] = source
                yield source

    def rarity(self, needle: Needle, group: FileGroup) -> float:
        assert isinstance(group, _ScannedGroup)
        sample = group.sources[:: max(1, group.file_count // SAMPLE_FILES)]
        frequency = sum([needle.pattern in source.lowercase_bytes for source in sample])
        return inverse_document_frequency(len(sample), frequency)

    def hits(self, needle: Needle, group: FileGroup) -> Hits | None:
        if monotonic() > self._deadline + COUNT_SECONDS:
            self.is_truncated = True
            return None
        assert isinstance(group, _ScannedGroup)
        counts = []
        for position, source in enumerate(group.sources):
            if position % 1024 == 0:
                raise_if_cancelled(self._cancelled)
            count = source.needle_counts.get(needle.pattern)
            if count is None:
                if len(source.needle_counts) >= MAX_CACHED_COUNTS:
                    source.needle_counts.clear()
                count = source.needle_counts[needle.pattern] = source.lowercase_bytes.count(needle.pattern)
            if count:
                counts.append((position, count))
        return make_hits(counts, group.length_norms)

    def documents(self, paths: Sequence[str]) -> Iterator[tuple[str, StoredDocument]]:
        for number, path in enumerate(paths):
            raise_if_cancelled(self._cancelled)
            if monotonic() > self._deadline + FEATURE_SECONDS and number >= MIN_LATE_CANDIDATES:
                self.is_truncated = True
                return
            document = self.build_document(path)
            if document is not None:
                yield path, document
