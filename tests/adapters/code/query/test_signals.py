"""Each view of a file has its own signal."""

from __future__ import annotations

from upbeat.adapters.code.query.features import FeatureExtractor
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.signals import (
    compute_corpus_statistics,
    compute_detail_signals,
    compute_file_signals,
    compute_literal_idf,
)

UPLOADS = """
def save_upload(chunk):
    limit = chunk.size
    raise ValueError("the upload is over its limit")


def upload_size_limit(chunk):
    return 3
"""
OTHER = """
def save(upload):
    return upload


def size():
    return limit
"""


def rows(query: str, **texts: str) -> dict[str, dict[str, float]]:
    """The numbers of each of ``texts`` for ``query``."""
    question = parse_search_query(query)
    reader = FeatureExtractor(question)
    profiles = [reader.extract(f"{name}.py", text) for name, text in texts.items()]
    corpus = compute_corpus_statistics(profiles, question, {}, len(profiles))
    literals = compute_literal_idf(profiles, len(profiles))
    return {
        name: compute_file_signals(profile, question, corpus, 0.0) | compute_detail_signals(profile, corpus, literals)
        for name, profile in zip(texts, profiles, strict=True)
    }


def test_terms_on_one_line_are_worth_more_than_apart() -> None:
    """The best line is the one where most of the question meets."""
    found = rows("alpha beta gamma", near="x\nalpha beta gamma", apart="alpha\nbeta\ngamma")

    assert found["near"]["line"] > found["apart"]["line"] > 0


def test_a_definition_counts_by_what_its_name_holds() -> None:
    """A name that the question covers wholly is worth more than its parts in several names."""
    found = rows("the size limit of an upload", uploads=UPLOADS, other=OTHER)

    assert found["uploads"]["definition"] > found["other"]["definition"] > 0
    assert found["uploads"]["compound"] > found["other"]["compound"] == 0


def test_a_literal_is_matched_as_it_is_written() -> None:
    """What stands in quotes is looked for as a whole, in its own case."""
    query = 'it says "the upload is over its limit" wrongly'
    found = rows(query, uploads=UPLOADS, lower=UPLOADS.replace("upload is over", "Upload is over"), other=OTHER)

    assert found["uploads"]["literals"] > 0
    assert (0, 0) == (found["lower"]["literals"], found["other"]["literals"])


def test_names_of_code_and_words_are_told_apart() -> None:
    """What looks like an identifier and what may be any word give two numbers."""
    found = rows("save_upload gets no chunk", uploads=UPLOADS, other=OTHER)

    assert found["uploads"]["names_used"] > 0 < found["uploads"]["words_used"]
    assert found["uploads"]["names_defined"] > 0
    assert (0, 0) == (found["other"]["names_used"], found["other"]["names_defined"])
