"""New documents with their postings, words and parses, collected to be stored in one transaction.

Invariant: a row of postings has all documents of one batch with its key, so that large batches take less space and are
read faster than many small ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from upbeat.adapters.code.index.code_record import encode_code
from upbeat.adapters.code.index.document import IndexedDocument, encode_indexed_document, encode_lines, index_keys
from upbeat.adapters.code.index.posting import encode_postings, encode_words
from upbeat.adapters.code.syntax.parsed_file import ParsedFile

Postings = tuple[list[int], list[int]]
"""Documents, and how often each has a key."""


class DocumentBatch:
    """Documents whose ids follow ``last_doc``; new words get the ids from ``last_word`` on."""

    def __init__(self, last_doc: int, last_word: int, find_word: Callable[[str, str], int]) -> None:
        """``find_word`` returns the id of a word, given its most selective key; 0 for a new word."""
        self.first_doc = last_doc + 1
        self.last_word = last_word
        self.size = 0
        """Bytes of the documents and parses."""
        self.documents: dict[bytes, tuple[int, int]] = {}
        """The id and the length of each document by its digest."""
        self.rows: list[tuple[int, bytes, int, bool, bytes, bytes]] = []
        self.new_words: dict[str, int] = {}
        self.code_rows: list[tuple[int, bytes]] = []
        self.defined: list[tuple[str, int]] = []
        self._find_word = find_word
        self._postings: defaultdict[str, Postings] = defaultdict(lambda: ([], []))
        self._new_words_by_key: defaultdict[str, list[str]] = defaultdict(list)
        self._entries: dict[str, tuple[int, list[Postings]]] = {}

    def add(self, digest: bytes, document: IndexedDocument, parsed: ParsedFile | None = None) -> None:
        """Add a document, and its parse if it is known."""
        number = self.first_doc + len(self.documents)
        self.documents[digest] = number, document.length
        entries = self._entries
        ids = []
        start = 0
        for word, end in zip(document.words, document.line_ends, strict=True):
            entry = entries.get(word) or self._add_word(word)
            ids.append(entry[0])
            for docs, counts in entry[1]:
                if docs and docs[-1] == number:
                    counts[-1] += end - start
                else:
                    docs.append(number)
                    counts.append(end - start)
            start = end
        body, lines = encode_indexed_document(document, ids), encode_lines(document)
        self.rows.append((number, digest, document.length, bool(parsed) or not document.is_code, body, lines))
        self.size += len(body) + len(lines)
        if parsed:
            self.add_parse(number, parsed)

    def add_parse(self, doc_id: int, parsed: ParsedFile) -> None:
        """Add the parse of a document, which may be of an earlier batch."""
        body = encode_code(parsed)
        self.code_rows.append((doc_id, body))
        self.defined += [(name, doc_id) for name in {definition.name for definition in parsed.definitions}]
        self.size += len(body)

    def parsed_docs(self) -> list[tuple[int]]:
        """Return the ids of the parsed documents that are in earlier batches."""
        return [(doc,) for doc, _ in self.code_rows if doc < self.first_doc]

    def posting_rows(self) -> Iterator[tuple[str, int, int, bytes, bytes | None]]:
        """Yield the key, the batch, the number of documents, the postings and the new words of each key, in order."""
        for key, (docs, counts) in sorted(self._postings.items()):
            words = sorted(self._new_words_by_key.get(key, ()))
            encoded = encode_words(words, [self.new_words[word] for word in words]) if words else None
            yield key, self.first_doc, len(docs), encode_postings(docs, counts), encoded

    def _add_word(self, word: str) -> tuple[int, list[Postings]]:
        keys = index_keys(word)
        number = self._find_word(word, keys[-1])
        if not number:
            number = self.last_word = self.last_word + 1
            self.new_words[word] = number
            for key in keys:
                self._new_words_by_key[key].append(word)
        entry = self._entries[word] = number, [self._postings[key] for key in keys]
        return entry
