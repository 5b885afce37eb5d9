"""The first look: what an index knows of a query's words, before anything is ranked.

Invariant: a few of the best candidates are looked at, no text is read from an index, and no history.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from upbeat.adapters.code.files.file_types import classify_file
from upbeat.adapters.code.index.document import StoredDocument
from upbeat.adapters.code.query import terms
from upbeat.adapters.code.query.features import TermMatch
from upbeat.adapters.code.query.glossary import translate_to_english
from upbeat.adapters.code.query.parse_query import BASIC_ROLES, SearchQuery
from upbeat.adapters.code.query.posting_source import PostingSource
from upbeat.adapters.code.query.retrieval import RetrievalResult
from upbeat.core.prompt.gate import Evidence

MAX_FILES = 8
"""Candidates that the first look reads."""

MAX_FUNCTION_TERMS = 4
NOISE_FACTOR = 0.3
"""Weight of a word that most prompts about code have."""


def collect_evidence(
    source: PostingSource, query: str, search_query: SearchQuery, retrieval: RetrievalResult
) -> Evidence:
    """Return what the first candidates of ``retrieval`` know of the words of ``query``.

    Raises:
        ToolFailure: The search was cancelled.
    """
    file_count = source.group(BASIC_ROLES).file_count
    if not file_count:
        return Evidence()
    words = [term for term in search_query.terms if term.isascii() and term in retrieval.idf]
    rarest = terms.inverse_document_frequency(file_count, 0)
    gains = {
        term: min(1.0, retrieval.idf[term] / rarest) * (NOISE_FACTOR if _is_noise(search_query, term) else 1.0)
        for term in words
    }
    paths = [path for path in retrieval.candidates if classify_file(path).role in BASIC_ROLES][:MAX_FILES]
    best: set[str] = set()
    best_gain = rare_pair = name_gain = path_gain = 0.0
    for path, document in source.documents(paths):
        matches = [(index, match) for index, match in source.extractor.matching_words(document) if match.terms]
        for found in _terms_by_function(document, matches, gains):
            ranked = sorted((gains[term] for term in found), reverse=True)
            if sum(ranked) > best_gain:
                best, best_gain = found, sum(ranked)
            rare_pair = max(rare_pair, ranked[1] if len(ranked) > 1 else 0.0)
        names = {match.word for _, match in matches}.intersection(document.definitions.names)
        name_gain = max([name_gain, *(_name_gain(name, gains) for name in names)])
        path_gain = max(path_gain, _total(gains, terms.path_terms(path)))
    runs = terms.CJK_RUN_PATTERN.findall(query)
    total = sum(gains.values()) or 1.0
    unknown = _total(gains, (term for term in gains if retrieval.idf[term] >= rarest))
    return Evidence(
        function_terms=min(len(best), MAX_FUNCTION_TERMS),
        function_share=best_gain / total,
        function_gain=best_gain,
        rare_pair=rare_pair,
        name_gain=name_gain,
        path_gain=path_gain,
        unknown_gain=unknown,
        unknown_share=unknown / total * math.log1p(file_count),
        terms=math.log1p(len(gains)),
        chinese=math.log1p(sum(map(len, runs))),
        translated=math.log1p(len({word for run in runs for word in translate_to_english(run)})),
        files=math.log1p(file_count),
    )


def _is_noise(search_query: SearchQuery, term: str) -> bool:
    return search_query.word_by_term.get(term, term) in terms.NOISE_WORDS


def _total(gains: Mapping[str, float], found: Iterable[str]) -> float:
    return sum(gains.get(term, 0.0) for term in found)


def _name_gain(name: str, gains: Mapping[str, float]) -> float:
    """Return the gains of the terms in ``name``, times their share of all its terms."""
    parts = terms.terms_in(name)
    found = [part for part in parts if part in gains]
    return _total(gains, found) * len(found) / (len(parts) or 1)


def _terms_by_function(
    document: StoredDocument, matches: Iterable[tuple[int, TermMatch]], gains: Mapping[str, float]
) -> Iterable[set[str]]:
    """Return the terms with gains that each definition of ``document`` contains."""
    functions: dict[int, set[str]] = {}
    for index, match in matches:
        found = [term for term in match.terms if term in gains]
        for position in document.enclosing_of(index)[0] if found else ():
            if position >= 0:
                functions.setdefault(position, set()).update(found)
    return functions.values()
