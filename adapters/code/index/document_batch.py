"""New documents with their postings, words and parses, collected to be stored in one transaction.

Invariant: a row of postings has all documents of one batch with its key, so that large batches take less space and are
read faster than many small ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from upbeat.adapters.code.index.code_record import encode_code
from upbeat.adapters.code.index.document import IndexedDocument, encode_indexed_document, encode_lines, index_keys
from upbeat.adapters.code.index.posting import encode_postings, encode_words
from upbeat.adapters.code.syntax.parsed_file import ParsedFile


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
        self._rows_by_word: dict[str, list[int]] = {}
        """The id of each word, and then in turn the documents that have it and how often they do."""
        self._words_by_key: dict[str, str] = {}
        """The words of each key, separated by spaces."""

    def add(self, digest: bytes, document: IndexedDocument) -> tuple[int, int]:
        """Add a document; return its id and length."""
        number = self.first_doc + len(self.documents)
        self.documents[digest] = number, document.length
        rows_by_word, ids = self._rows_by_word, []
        for word, count in zip(document.words, document.line_counts, strict=True):
            rows = rows_by_word.get(word) or self._add_word(word)
            rows += number, count
            ids.append(rows[0])
        body, lines = encode_indexed_document(document, ids), encode_lines(document)
        self.rows.append((number, digest, document.length, not document.is_code, body, lines))
        self.size += len(body) + len(lines)
        return self.documents[digest]

    def add_parse(self, doc_id: int, parsed: ParsedFile) -> None:
        """Add the parse of a document, of this batch or an earlier one."""
        body = encode_code(parsed)
        self.code_rows.append((doc_id, body))
        self.defined += [(name, doc_id) for name in {definition.name for definition in parsed.definitions}]
        self.size += len(body)

    def posting_rows(self) -> Iterator[tuple[str, int, int, bytes, bytes | None]]:
        """Yield the key, the batch, the number of documents, the postings and the new words of each key, in order."""
        for key in sorted(self._words_by_key):
            words = sorted(self._words_by_key[key].split())
            docs, counts = self._postings(words)
            new = [word for word in words if word in self.new_words]
            encoded = encode_words(new, [self.new_words[word] for word in new]) if new else None
            yield key, self.first_doc, len(docs), encode_postings(docs, counts), encoded

    def _postings(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the documents that have any of ``words``, in order, and how often each has them."""
        all_rows = [self._rows_by_word[word] for word in words]
        if len(all_rows) == 1:
            return all_rows[0][1::2], all_rows[0][2::2]
        totals: dict[int, int] = {}
        for rows in all_rows:
            for doc, count in zip(rows[1::2], rows[2::2], strict=True):
                totals[doc] = totals.get(doc, 0) + count
        docs = sorted(totals)
        return docs, [totals[doc] for doc in docs]

    def _add_word(self, word: str) -> list[int]:
        keys = index_keys(word)
        number = self._find_word(word, keys[-1])
        if not number:
            number = self.last_word = self.last_word + 1
            self.new_words[word] = number
        for key in keys:
            self._words_by_key[key] = f"{self._words_by_key.get(key, '')} {word}"
        rows = self._rows_by_word[word] = [number]
        return rows
