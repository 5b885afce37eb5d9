"""What the graph tools ask about a repository, answered from its files.

Invariant: a tool opens nothing itself. A file is read once, parsed only on demand, and both are cached while the
process lives. When time runs out, answers are incomplete and ``is_past_deadline`` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from time import monotonic

from upbeat.adapters.code.concurrency import LruCache, raise_if_cancelled
from upbeat.adapters.code.files.file_types import group_by_name, select_code_files
from upbeat.adapters.code.files.tree import SourceCache, SourceFile, WorkingTree
from upbeat.adapters.code.index.document import index_keys
from upbeat.adapters.code.index.manager import IndexView
from upbeat.adapters.code.query.terms import IDENTIFIER_PATTERN
from upbeat.adapters.code.syntax.occurrence import DEFINED, USED, classify_occurrence
from upbeat.adapters.code.syntax.parse import parse_source
from upbeat.adapters.code.syntax.parsed_file import ParsedFile
from upbeat.adapters.system.git.commands import list_files
from upbeat.core.engine.ports import Cancellation

LIST_SECONDS = 1.0
CANCEL_CHECK_INTERVAL = 64
MAX_CACHED_NAMES = 2_000_000
"""References and definitions that the cache of parsed files holds, about 100 bytes each."""

ParseCache = LruCache[tuple[str, str, tuple[int, int]], ParsedFile]
"""Parsed files by root, path, and the size and time of the file; a file's size is the number of its names."""


class CodeBase:
    """A repository's code for one call of a tool. Paths are relative, with ``/``.

    Every method raises ``ToolFailure`` (timeout) when the call is cancelled.
    """

    backend = "scan"
    """Where the answers come from: ``index`` or ``scan``."""

    def __init__(
        self, root: str, sources: SourceCache, parses: ParseCache, cancelled: Cancellation, seconds: float
    ) -> None:
        self._root = root
        self._cancelled = cancelled
        self._deadline = monotonic() + seconds
        self._tree = WorkingTree(root, sources)
        self._parses = parses
        self._sources: dict[str, SourceFile | None] = {}
        self._parsed: dict[str, ParsedFile | None] = {}
        self._files_by_word: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files that contain code, the project's own first, tests and examples after them."""
        listing = list_files(self._root, self._cancelled, LIST_SECONDS)
        raise_if_cancelled(self._cancelled)
        return select_code_files(listing.files)

    @cached_property
    def files_by_name(self) -> Mapping[str, Sequence[str]]:
        """The files by their names without extension, and by their folders' names."""
        return group_by_name(self.files)

    def files_defining(self, word: str) -> tuple[str, ...]:
        """Return those of ``files_mentioning(word)`` that seem to define it; it may name too many."""
        return self._files_by_occurrence(word)[0]

    def may_define(self, path: str, word: str) -> bool:  # noqa: ARG002
        """Return whether ``path`` can define ``word``, as far as that is known without reading the file."""
        return True

    def files_mentioning(self, word: str) -> Iterable[str]:
        """Return the files that contain the identifier ``word``, those that seem to define it first."""
        return self._files_by_occurrence(word)[1]

    def _files_by_occurrence(self, word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if word not in self._files_by_word:
            needle = word.lower().encode("utf-8", "replace")
            kinds = [
                (classify_occurrence(source.lowercase_bytes, needle), source.path) for source in self._find(needle)
            ]
            defining = tuple(path for kind, path in kinds if kind == DEFINED)
            self._files_by_word[word] = defining, defining + tuple(path for kind, path in kinds if kind == USED)
        return self._files_by_word[word]

    def files_containing(self, text: str) -> tuple[str, ...]:
        """Return the files that contain ``text``, ignoring case."""
        return tuple(source.path for source in self._find(text.lower().encode("utf-8", "replace"), text))

    def _find(self, needle: bytes, text: str = "") -> list[SourceFile]:
        """Return the files with the bytes ``needle``, as far as time allows."""
        if not needle.strip():
            return []
        whole_words = IDENTIFIER_PATTERN.findall(text)[1:-1]  # the first and the last may be parts of longer words
        matches = []
        for number, path in enumerate(self._files_with_all(whole_words) if whole_words else self.files):
            if number % CANCEL_CHECK_INTERVAL == 0:
                raise_if_cancelled(self._cancelled)
                if self.is_past_deadline():
                    break
            if path not in self._sources:
                self._sources[path] = self._tree.read_source(path)
            source = self._sources[path]
            if source and needle in source.lowercase_bytes:
                matches.append(source)
        return matches

    def _files_with_all(self, words: Sequence[str]) -> Iterable[str]:  # noqa: ARG002
        """Return the files that can contain all of ``words``."""
        return self.files

    def parsed_file(self, path: str) -> ParsedFile | None:
        """Return what the file defines and uses; None when it cannot be read, or time is up."""
        raise_if_cancelled(self._cancelled)
        if path not in self._parsed:
            stamp = self._tree.file_stamp(path)
            known = self._parses.get((self._root, path, stamp)) if stamp else None
            self._parsed[path] = known or (self._load_parsed(path, stamp) if stamp else None)
        return self._parsed[path]

    def _load_parsed(self, path: str, stamp: tuple[int, int]) -> ParsedFile | None:
        parsed = self._stored_parse(path, stamp)
        if parsed is None and not self.is_past_deadline():
            text = self._tree.read_text(path)
            if text is not None:
                parsed = parse_source(path, text.encode("utf-8", "replace"), self._cancelled)
                raise_if_cancelled(self._cancelled)
        if parsed:
            names = len(parsed.references) + len(parsed.definitions) + 1
            self._parses.put((self._root, path, stamp), parsed, names)
        return parsed

    def _stored_parse(self, path: str, stamp: tuple[int, int]) -> ParsedFile | None:  # noqa: ARG002
        """Return the indexed parse of the file with size and time ``stamp``."""
        return None

    def read_lines(self, path: str) -> list[str]:
        """Return the file's lines; empty when it cannot be read."""
        raise_if_cancelled(self._cancelled)
        text = self._tree.read_text(path)
        return text.split("\n") if text is not None else []

    def is_past_deadline(self) -> bool:
        """Return whether time is up; what has not been read by then is left out."""
        return monotonic() > self._deadline


class IndexedCodeBase(CodeBase):
    """A repository's code from its index. Methods raise StorageError, and ValueError for a damaged index."""

    backend = "index"

    def __init__(
        self,
        root: str,
        view: IndexView,
        sources: SourceCache,
        parses: ParseCache,
        cancelled: Cancellation,
        seconds: float,
    ) -> None:
        super().__init__(root, sources, parses, cancelled, seconds)
        self._store, self._table, self._unparsed = view.store, view.table, view.unparsed_docs
        self.files, self.files_by_name = view.table.code_files, view.table.code_files_by_name
        self._files_by_definition: dict[str, dict[str, None]] = {}

    def files_defining(self, word: str) -> tuple[str, ...]:
        return tuple(self._defining(word))

    def may_define(self, path: str, word: str) -> bool:
        return path in self._defining(word)

    def _defining(self, word: str) -> dict[str, None]:
        if word not in self._files_by_definition:
            docs = self._store.docs_defining(word)
            if self._unparsed:
                ids = self._store.word_ids_any_case(word)
                documents = self._store.get_documents(self._unparsed)
                docs = [*docs, *(doc for doc in self._unparsed if documents[doc].has_any(ids))]
            self._files_by_definition[word] = dict.fromkeys(self._ordered_paths(docs))
        return self._files_by_definition[word]

    def files_mentioning(self, word: str) -> Iterator[str]:
        defining = self.files_defining(word)
        yield from defining
        known = set(defining)
        for number, path in enumerate(self._files_with_all([word])):
            if number % CANCEL_CHECK_INTERVAL == 0:
                raise_if_cancelled(self._cancelled)
                if self.is_past_deadline():
                    return
            if path not in known:
                yield path

    def _stored_parse(self, path: str, stamp: tuple[int, int]) -> ParsedFile | None:
        position = self._table.position_by_path.get(path)
        entry = self._table.entries[position] if position is not None else None
        if entry and entry.doc_id and stamp == (entry.size, entry.mtime_ns):
            return self._store.get_parsed(entry.doc_id)
        return None

    def _files_with_all(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the files that contain all of ``words``, ignoring case, in the order of ``files``."""
        parts = [part for word in words for part in IDENTIFIER_PATTERN.findall(word)]
        if not parts:
            return
        rarest = min((index_keys(part)[-1] for part in parts), key=self._store.key_frequency)
        docs = (doc for docs, _ in self._store.postings(rarest) for doc in docs)
        word_ids = [self._store.word_ids_any_case(part) for part in dict.fromkeys(parts)]
        for path in self._ordered_paths(docs):
            doc_id = self._table.entries[self._table.position_by_path[path]].doc_id
            document = self._store.get_documents([doc_id])[doc_id]
            if all(document.has_any(ids) for ids in word_ids):
                yield path

    def _ordered_paths(self, doc_ids: Iterable[int]) -> list[str]:
        """Return the files of ``doc_ids`` that contain code, in the order of ``files``."""
        order, by_doc = self._table.code_order, self._table.positions_by_doc
        positions = {position for doc in doc_ids for position in by_doc.get(doc, ()) if position in order}
        return [self._table.entries[position].path for position in sorted(positions, key=order.__getitem__)]
