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
from upbeat.adapters.code.query.glossary import translate_terms
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
    rarest = terms.inverse_document_frequency(file_count, 0)
    gains = {
        term: min(1.0, idf / rarest) * (NOISE_FACTOR if _is_noise(search_query, term) else 1.0)
        for term, idf in retrieval.idf.items()
        if (term in search_query.terms and term.isascii()) or (idf < rarest and _means_a_word(search_query, term))
    }
    runs = terms.CJK_RUN_PATTERN.findall(query)
    translations = [words for run in runs for words in translate_terms(run)]
    concepts = _number_concepts(gains, translations, search_query)
    known = _gains_by_concept((term for term in gains if retrieval.idf[term] < rarest), gains, concepts)
    unknown = sum(gain for concept, gain in _gains_by_concept(gains, gains, concepts).items() if concept not in known)
    total = sum(known.values()) + unknown or 1.0
    paths = [path for path in retrieval.candidates if classify_file(path).role in BASIC_ROLES][:MAX_FILES]
    best_count, has_whole_name = 0, False
    best_gain = rare_pair = name_gain = path_gain = 0.0
    for path, document in source.documents(paths):
        matches = source.extractor.matching_words(document)
        for found in _terms_by_function(document, matches, gains):
            ranked = sorted(_gains_by_concept(found, gains, concepts).values(), reverse=True)
            if sum(ranked) > best_gain:
                best_count, best_gain = len(ranked), sum(ranked)
            rare_pair = max(rare_pair, ranked[1] if len(ranked) > 1 else 0.0)
        names = {match.word for _, match in matches}.intersection(document.definitions.names)
        name_gain = max([name_gain, *(_name_gain(name, gains) for name in names)])
        has_whole_name |= any(set(terms.terms_in(name)) <= gains.keys() for name in names)
        path_gain = max(path_gain, _total(gains, terms.path_terms(path)))
    return Evidence(
        function_terms=min(best_count, MAX_FUNCTION_TERMS),
        function_share=best_gain / total,
        function_gain=best_gain,
        rare_pair=rare_pair,
        name_gain=name_gain,
        whole_name=float(has_whole_name and len(set(concepts.values())) == 1),
        path_gain=path_gain,
        unknown_gain=unknown,
        unknown_share=unknown / total * math.log1p(file_count),
        terms=math.log1p(len(set(concepts.values()))),
        chinese=math.log1p(sum(map(len, runs))),
        translated=math.log1p(len({word for words in translations for word in words})),
        files=math.log1p(file_count),
    )


def _means_a_word(search_query: SearchQuery, term: str) -> bool:
    """Return whether ``term`` is one of the query, or the British or American spelling of one."""
    neighbor = search_query.neighbors.get(term)
    return term in search_query.terms or (neighbor is not None and neighbor.is_spelling)


def _number_concepts(
    gains: Iterable[str], translations: Iterable[Iterable[str]], search_query: SearchQuery
) -> dict[str, int]:
    """Return the concept of each term: one for all English words of a Chinese term, one for every other word."""
    concepts: dict[str, int] = {}
    for number, words in enumerate(translations):
        for word in words:
            concepts.setdefault(terms.stem(word), -1 - number)
    numbered = {term: concepts.get(term, number) for number, term in enumerate(gains)}
    spellings = {term: near.origin for term, near in search_query.neighbors.items() if near.is_spelling}
    return {term: numbered.get(spellings.get(term, term), number) for term, number in numbered.items()}


def _gains_by_concept(
    found: Iterable[str], gains: Mapping[str, float], concepts: Mapping[str, int]
) -> dict[int, float]:
    """Return the highest gain among the ``found`` terms of each concept."""
    highest: dict[int, float] = {}
    for term in found:
        highest[concepts[term]] = max(highest.get(concepts[term], 0.0), gains[term])
    return highest


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
        found = [term for term in (*match.terms, *match.neighbors) if term in gains]
        for position in document.enclosing_of(index)[0] if found else ():
            if position >= 0:
                functions.setdefault(position, set()).update(found)
    return functions.values()
