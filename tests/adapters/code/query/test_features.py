"""A file has the same features from the index as from its text."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.source_tree import FILES
from repositories import read_tree

from upbeat.adapters.code.files.file_types import classify_file
from upbeat.adapters.code.index.document import (
    StoredDocument,
    WordLines,
    build_document,
    encode_indexed_document,
    encode_lines,
)
from upbeat.adapters.code.query.features import FeatureExtractor, FileFeatures
from upbeat.adapters.code.query.parse_query import parse_search_query

UPLOADS = read_tree(Path(__file__).with_name("sources.txt"))["uploads.py"]
MACROS = """#ifdef BIG
# define SIZE_T long
# define SIZE_MAXIMUM 9
# elif defined SMALL
#  include <stddef.h> /* the size */
# define SIZE_T short
# define SIZE_MAXIMUM 7
#endif
int size_of(int size) { return SIZE_MAXIMUM; }
"""
"""Here lines inside of one definition are above the next one, as if they documented it."""
QUERIES = [
    "file upload permissions are wrong: FILE_UPLOAD_PERMISSIONS",
    "FileSystemStorage.save loses content; the name must be given",
    "cannot connect to the broker\n\n    skip_whitespace(token)",
    "the fileuploads and shoppingcart total, 会话 登录",
    "where is the maximum size?",
    'upload_size_limit is ignored: "over its limit" for a chunk',
]
COMPARED = (
    *("term_counts", "name_counts", "joined_names", "defined_names", "terms_by_defined_name", "compounds"),
    *("qualified_positions", "lines_of_terms", "phrases", "literals", "text_lines"),
)


def features_from_index(path: str, text: str, query: str) -> FileFeatures:
    """Return the features of ``text`` from the document and the lines that an index stores."""
    document = build_document(text, classify_file(path).language)
    words = dict(enumerate(document.words, 7))
    extractor = FeatureExtractor(parse_search_query(query))
    extractor.words_by_id |= words
    features = extractor.extract_summary(path, StoredDocument(encode_indexed_document(document, list(words))))
    extractor.add_details(features, WordLines(encode_lines(document)), lambda: text)
    extractor.add_line_terms(features, text)
    return features


def roles_of_words(path: str, text: str, query: str, *, is_whole: bool) -> dict[str, list[tuple[int, ...]]]:
    """Return the roles of the words that match, from the whole document or from one for the query only."""
    extractor = FeatureExtractor(parse_search_query(query))
    document, stored = extractor.build_document(path, text)
    if is_whole:
        document = build_document(text, classify_file(path).language)
        stored = StoredDocument(encode_indexed_document(document, range(len(document.words))))
        extractor.words_by_id = dict(enumerate(document.words))
    return {
        match.word: list(zip(*stored.enclosing_of(index), stored.roles_of(index), strict=True))
        for index, match in extractor.matching_words(stored)
    }


@pytest.mark.parametrize("path", [*FILES, "uploads.py", "macros.c"])
def test_a_document_has_the_features_of_its_text(path: str) -> None:
    """All hits of terms, names, phrases and literals are the same, for every kind of file."""
    text = MACROS if path == "macros.c" else FILES.get(path, UPLOADS)
    for query in QUERIES:
        expected = FeatureExtractor(parse_search_query(query)).extract(path, text)
        features = features_from_index(path, text, query)

        assert {name: getattr(expected, name) for name in COMPARED} == {
            name: getattr(features, name) for name in COMPARED
        }
        assert expected.document.length == features.document.length
        assert roles_of_words(path, text, query, is_whole=False) == roles_of_words(path, text, query, is_whole=True)
        assert expected.definition_hits.keys() == features.definition_hits.keys()
        for position, hits in expected.definition_hits.items():
            others = features.definition_hits[position]
            assert (hits.terms, hits.exact_names) == (others.terms, others.exact_names)
            assert sorted(hits.line_terms) == sorted(others.line_terms)


def test_a_literal_of_the_query_is_found() -> None:
    """A quoted text is found in a file that contains it."""
    assert ["over its limit"] == features_from_index("a.py", UPLOADS, QUERIES[-1]).literals
