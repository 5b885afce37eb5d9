"""The answers of a ``CodeBase`` from the index: files are opened only to show their lines, or when they changed.

Law: a file that is not as it was indexed is read and parsed; a definition is one that the grammar of its language
finds, as it is for ``ScannedCode``. What of the index is damaged raises, and is not passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...core.ports import Cancellation
from .codebase import CHECK_EVERY, ParseCache, TreeOfCall
from .index_doc import Kept
from .library import ParsedView
from .parse import Parsed, parse
from .scan import check
from .tree import SourceCache
from .words import NAME


class IndexedCode(TreeOfCall):
    """Implements ``CodeBase`` for one call of a tool. May raise StorageError, and ValueError for a damaged index."""

    source = "index"

    def __init__(
        self,
        root: str,
        view: ParsedView,
        sources: SourceCache,
        parses: ParseCache,
        cancelled: Cancellation,
        seconds: float,
    ) -> None:
        super().__init__(root, sources, parses, cancelled, seconds)
        self._store, self._table, self._unparsed = view.store, view.table, view.unparsed
        self._parsed: dict[str, Parsed | None] = {}
        self._defining: dict[str, tuple[str, ...]] = {}

    def files(self) -> tuple[str, ...]:
        return self._table.code

    def parsed(self, path: str) -> Parsed | None:
        check(self._cancelled)
        if path not in self._parsed:
            self._parsed[path] = self._parse(path)
        return self._parsed[path]

    def _parse(self, path: str) -> Parsed | None:
        stamp = self._tree.stamp(path)
        if stamp is None:
            return None
        size, time = stamp
        found = self._parses.get(self._root, path, (time, size))
        if found is None:
            found = self._kept(path, stamp) or self._read(path)
            if found:
                self._parses.put(self._root, path, (time, size), found)
        return found

    def files_with(self, word: str) -> Iterator[str]:
        defining = self.files_defining(word)
        yield from defining
        known = set(defining)
        for number, path in enumerate(self._narrowed([word])):
            if number % CHECK_EVERY == 0:
                check(self._cancelled)
                if self.is_late():
                    return
            if path not in known:
                yield path

    def files_defining(self, word: str) -> tuple[str, ...]:
        known = self._defining.get(word)
        if known is None:
            docs = self._store.defining(word)
            if self._unparsed:
                ids = self._store.numbers_of(word)
                docs = [*docs, *(doc for doc in self._unparsed if self._document(doc).has_any(ids))]
            known = self._defining[word] = tuple(self._ordered(docs))
        return known

    def named(self, stem: str) -> tuple[str, ...]:
        return tuple(self._table.code_by_name.get(stem, ()))

    def holding(self, text: str) -> tuple[str, ...]:
        needle = text.lower().encode("utf-8", "replace")
        if not needle.strip():
            return ()
        whole = NAME.findall(text)[1:-1]  # the first and the last may go on outside of the text
        found = []
        for number, path in enumerate(self._narrowed(whole) if whole else self.files()):
            if number % CHECK_EVERY == 0:
                check(self._cancelled)
                if self.is_late():
                    break
            source = self._tree.source(path)
            if source and needle in source.lowered:
                found.append(path)
        return tuple(found)

    def _kept(self, path: str, stamp: tuple[int, int]) -> Parsed | None:
        """What the index keeps of the file, if that is as it was."""
        at = self._table.at.get(path)
        entry = self._table.entries[at] if at is not None else None
        return self._store.code(entry.doc) if entry and entry.doc and stamp == (entry.size, entry.stamp) else None

    def _read(self, path: str) -> Parsed | None:
        if self.is_late():
            return None
        text = self._tree.text(path)
        if text is None:
            return None
        found = parse(path, text.encode("utf-8", "replace"), self._cancelled)
        check(self._cancelled)
        return found

    def _narrowed(self, words: Sequence[str]) -> Iterator[str]:
        """The files that have all of ``words``, whatever the case, in order."""
        parts = [part for word in words for part in NAME.findall(word)]
        if not parts:
            return
        rarest = min(parts, key=lambda part: self._store.frequency_of(part))
        wanted = [self._store.numbers_of(part) for part in dict.fromkeys(parts)]
        for path in self._ordered(self._store.having(rarest)):
            kept = self._document(self._table.entries[self._table.at[path]].doc)
            if all(kept.has_any(numbers) for numbers in wanted):
                yield path

    def _document(self, doc: int) -> Kept:
        found = self._store.document(doc)
        if found is None:
            raise ValueError(f"document {doc} is not there")
        return found

    def _ordered(self, docs: Iterable[int]) -> list[str]:
        """The files of ``docs`` that hold code, in the order of ``files``."""
        places, of_doc = self._table.code_places, self._table.of_doc
        positions = {position for doc in docs for position in of_doc.get(doc, ()) if position in places}
        return self._table.paths(sorted(positions, key=places.__getitem__))
