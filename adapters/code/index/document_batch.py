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

Postings = list[int]
"""Documents, each followed by how often it has the key; one list, because a batch has tens of thousands of keys."""


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
        self._postings: defaultdict[str, Postings] = defaultdict(list)
        self._new_words_by_key: dict[str, str] = {}
        """The new words of each key, separated by spaces."""
        self._entries: dict[str, tuple[int, tuple[Postings, ...]]] = {}

    def add(self, digest: bytes, document: IndexedDocument, parsed: ParsedFile | None = None) -> None:
        """Add a document, and its parse if it is known."""
        number = self.first_doc + len(self.documents)
        self.documents[digest] = number, document.length
        entries, ids = self._entries, []
        for word, count in zip(document.words, document.line_counts, strict=True):
            word_id, postings = entries.get(word) or self._add_word(word)
            ids.append(word_id)
            for rows in postings:
                if rows and rows[-2] == number:
                    rows[-1] += count
                else:
                    rows += number, count
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
        for key in sorted(self._postings):
            rows = self._postings[key]
            words = sorted(self._new_words_by_key.get(key, "").split())
            encoded = encode_words(words, [self.new_words[word] for word in words]) if words else None
            yield key, self.first_doc, len(rows) // 2, encode_postings(rows[::2], rows[1::2]), encoded

    def _add_word(self, word: str) -> tuple[int, tuple[Postings, ...]]:
        keys = index_keys(word)
        number = self._find_word(word, keys[-1])
        if not number:
            number = self.last_word = self.last_word + 1
            self.new_words[word] = number
            for key in keys:
                self._new_words_by_key[key] = f"{self._new_words_by_key.get(key, '')} {word}"
        entry = self._entries[word] = number, tuple([self._postings[key] for key in keys])
        return entry
