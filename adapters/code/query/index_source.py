"""Postings and documents from the index, without reading the tree.

Invariant: a file that has changed since it was indexed is read from the tree. Use a source only while its view of the
index is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from upbeat.adapters.code.cancellation import raise_if_cancelled
from upbeat.adapters.code.files.file_types import FileRole
from upbeat.adapters.code.files.tree import WorkingTree
from upbeat.adapters.code.index.document import WHOLE_NAME_PREFIX, StoredDocument, WordLines
from upbeat.adapters.code.index.manager import IndexView
from upbeat.adapters.code.index.store import RACY
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.posting_source import FileGroup, TextDocuments, length_norms
from upbeat.adapters.code.query.signals import Needle, inverse_document_frequency
from upbeat.adapters.code.query.terms import joined_key, stem
from upbeat.core.engine.ports import Cancellation


@dataclass(frozen=True, slots=True)
class _IndexedGroup(FileGroup):
    """``position_by_doc`` holds the documents of one file, ``positions_by_doc`` those of several identical files."""

    position_by_doc: Mapping[int, int]
    positions_by_doc: Mapping[int, Sequence[int]]


class IndexSource(TextDocuments):
    """Implements ``PostingSource`` from an index. Raises StorageError, and ValueError for a damaged index."""

    mode = "index"
    is_truncated = False

    def __init__(self, tree: WorkingTree, view: IndexView, search_query: SearchQuery, cancelled: Cancellation) -> None:
        super().__init__(tree, search_query)
        self.stale_paths: list[str] = []
        self._store, self._table, self._verified = view.store, view.table, view.verified
        self._cancelled = cancelled
        self._doc_ids: dict[str, int] = {}
        self.paths: Mapping[str, int] = view.table.position_by_path

    def paths_named(self, names: set[str]) -> Iterable[str]:
        positions = {position for name in names for position in self._table.positions_by_name.get(name, ())}
        return self._table.paths_at(sorted(positions))

    def group(self, roles: set[FileRole]) -> FileGroup:
        key = frozenset(roles)
        group: FileGroup | None = self._table.groups_by_roles.get(key)
        if group is None:
            group = self._table.groups_by_roles[key] = self._build_group(roles)
        return group

    def _build_group(self, roles: set[FileRole]) -> _IndexedGroup:
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
        frequency = self._store.key_frequency(_index_key(needle))
        return inverse_document_frequency(group.file_count, min(group.file_count, frequency))

    def hits(self, needle: Needle, group: FileGroup) -> Sequence[tuple[int, int]]:
        assert isinstance(group, _IndexedGroup)
        single, shared = group.position_by_doc, group.positions_by_doc
        hits: list[tuple[int, int]] = []
        for docs, counts in self._store.postings(_index_key(needle)):
            pairs = zip(map(single.get, docs), counts, strict=True)
            hits += [(position, count) for position, count in pairs if position is not None]
            if shared:
                hits += [
                    (position, count)
                    for doc, count in zip(docs, counts, strict=True)
                    if doc in shared
                    for position in shared[doc]
                ]
        return hits

    def documents(self, paths: Sequence[str]) -> Iterator[tuple[str, StoredDocument]]:
        self.extractor.add_words(self._matching_words())
        self._doc_ids = {path: doc for path in paths if (doc := self._current_doc(path))}
        documents = self._store.get_documents(self._doc_ids.values())
        for path in paths:
            raise_if_cancelled(self._cancelled)
            if path in self._doc_ids:
                if self._doc_ids[path] not in documents:
                    raise ValueError(f"the index has no document of {path}")
                yield path, documents[self._doc_ids[path]]
            elif document := self.build(path):
                yield path, document

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
        stored = self._store.get_word_lines([self._doc_ids[path] for path in paths if path in self._doc_ids])
        lines = self.built_lines(paths)
        for path in paths:
            if path in self._doc_ids:
                if self._doc_ids[path] not in stored:
                    raise ValueError(f"the index has no lines of {path}")
                lines[path] = stored[self._doc_ids[path]]
        return lines

    def _matching_words(self) -> dict[int, str]:
        """Return all words of the index that may match the query, by their ids."""
        query = self.extractor.search_query
        keys = dict.fromkeys(query.terms)
        for joined in query.joined_names:
            keys |= dict.fromkeys((WHOLE_NAME_PREFIX + joined, stem(joined), stem(joined + "s")))
        words = self._store.words_of_keys(keys)
        return words | {word_id: name for name in query.names if (word_id := self._store.word_id(name))}


def _index_key(needle: Needle) -> str:
    """Return the key of the index for a needle: a term, or the key of a whole name."""
    return WHOLE_NAME_PREFIX + joined_key(needle.key) if needle.is_name else needle.key
