"""A file has the same features from the index as from its text."""

from __future__ import annotations

from upbeat.adapters.code.index.document import (
    StoredDocument,
    WordLines,
    build_document,
    encode_indexed_document,
    encode_lines,
)
from upbeat.adapters.code.query.features import FeatureExtractor
from upbeat.adapters.code.query.parse_query import parse_search_query

UPLOADS = """
def save_upload(chunk):
    limit = chunk.size
    raise ValueError("the upload is over its limit")


def upload_size_limit(chunk):
    return 3
"""


def test_a_document_says_the_same_as_the_text() -> None:
    """Lines, literals and long names are the same from what the index keeps."""
    question = parse_search_query('upload_size_limit is ignored: "over its limit" for a chunk')
    document = build_document(UPLOADS, "python")
    words = dict(enumerate(document.words))
    stored, lines = StoredDocument(encode_indexed_document(document, list(words))), WordLines(encode_lines(document))

    read = FeatureExtractor(question).extract("a.py", UPLOADS)
    reader = FeatureExtractor(question)
    reader.add_words(words)
    kept = reader.extract_summary("a.py", stored)
    reader.add_details(kept, lines, lambda: UPLOADS)

    assert (read.lines_of_terms, read.literals, read.compounds, read.terms_by_defined_name) == (
        kept.lines_of_terms,
        kept.literals,
        kept.compounds,
        kept.terms_by_defined_name,
    )
    assert ["over its limit"] == kept.literals
