"""A batch collects documents with their postings and words."""

from __future__ import annotations

from upbeat.adapters.code.index.document import StoredDocument, build_document
from upbeat.adapters.code.index.document_batch import DocumentBatch
from upbeat.adapters.code.index.posting import decode_postings, decode_words
from upbeat.adapters.code.syntax.parse import parse_source

TEXTS = ("def saveUpload(limit):\n    return limit\n", "limit = uploads\n")


def make_batch() -> DocumentBatch:
    """A batch behind four documents and nine words, of which ``limit`` is known."""
    batch = DocumentBatch(4, 9, lambda word, _: 3 if word == "limit" else 0)
    for text in TEXTS:
        batch.add(text.encode(), build_document(text, "python"))
    return batch


def test_documents_and_words_get_the_next_ids() -> None:
    """Known words keep their ids, and each document has those of its words."""
    batch = make_batch()

    assert [(5, len(TEXTS[0])), (6, len(TEXTS[1]))] == list(batch.documents.values())
    assert {"def": 10, "saveUpload": 11, "return": 12, "uploads": 13} == batch.new_words
    assert [[10, 11, 3, 12], [3, 13]] == [list(StoredDocument(row[4]).word_ids) for row in batch.rows]


def test_a_key_has_the_documents_and_the_new_words() -> None:
    """All documents of the batch are in one row, in the order of the keys; known words are not stored again."""
    rows = {
        key: (
            [list(column) for column in decode_postings(postings, number)],
            decode_words(words) if words else {},
        )
        for key, _, number, postings, words in make_batch().posting_rows()
    }

    assert sorted(rows) == list(rows)
    assert ([[5, 6], [1, 1]], {11: "saveUpload", 13: "uploads"}) == rows["upload"]
    assert ([[5, 6], [2, 1]], {}) == rows["limit"]


def test_parses_come_with_the_names_that_they_define() -> None:
    """A parse belongs to a new document, or to one of an earlier batch."""
    batch = make_batch()
    batch.add_parse(5, parse_source("a.py", TEXTS[0].encode()))
    batch.add_parse(2, parse_source("b.py", b"class Old:\n    pass\n"))

    assert [("saveUpload", 5), ("Old", 2)] == batch.defined
    assert [5, 2] == [doc for doc, _ in batch.code_rows]
