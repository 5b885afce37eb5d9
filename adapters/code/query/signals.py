"""Signals of one candidate file: the raw numbers that ``rank`` scales and weights.

Invariant: pure functions of features and corpus statistics; nothing here reads a file.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from upbeat.adapters.code.query.features import DefinitionHits, FileFeatures
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.terms import joined_key, split_identifier, terms_in

K1 = 1.2
B = 0.5
FILE_B = 0.6
"""BM25 length normalization for whole files; larger than ``B``, so that long files count less."""

TYPICAL_FUNCTION_LINES = 30
"""Length of a definition that is neither favored nor penalized."""

QUALIFIED_BONUS = 8.0
QUALIFIED_FACTOR = 1.5
"""For a definition that the query names with its owner, as in ``Session.send``."""

OWN_NAME_FACTOR = 2.0
"""Weight of a term in a definition's own name, compared with one in its body."""

PATH_FACTOR = 1.5
"""Weight of a term in a file's path, compared with one in its text."""

MIN_NAME_LIKENESS = 0.5
"""From here on a word of the query counts as an identifier."""

NAME_FACTOR = 2.5
MIN_NUMBER_DIGITS = 3
"""Digits of a number that distinguishes names."""


@dataclass(frozen=True, slots=True)
class Needle:
    """A term, or a whole name (lowercase), that the first pass counts, with its weight."""

    pattern: bytes
    key: str
    weight: float
    is_name: bool = False


def build_needles(search_query: SearchQuery) -> list[Needle]:
    """Return what the first pass can count: terms that are long enough, and names that look like identifiers."""
    needles = [
        Needle(term.encode(), term, weight)
        for term, weight in search_query.terms.items()
        if len(term) > 2 or not term.isascii()
    ]
    for name, likeness in search_query.names.items():
        lower = name.lower()
        if likeness >= MIN_NAME_LIKENESS and (len(terms_in(name)) > 1 or _has_number(name)):
            needles.append(Needle(lower.encode(), lower, likeness * NAME_FACTOR, is_name=True))
    return needles


def _has_number(name: str) -> bool:
    """Return whether a number distinguishes ``name``, as in handler_0149; in utf8 it is part of the word."""
    parts = split_identifier(name)
    return len(parts) > 1 and any(part.isdigit() and len(part) >= MIN_NUMBER_DIGITS for part in parts)


@lru_cache(maxsize=32768)
def path_terms(path: str) -> tuple[str, ...]:
    """Return the terms of all parts of a path, without duplicates."""
    return tuple(dict.fromkeys(term for part in path.split("/") for term in terms_in(part.partition(".")[0])))


def inverse_document_frequency(total: int, frequency: int) -> float:
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Statistics over all candidates: how rare terms and names are, and the average length.

    Attributes:
        term_gains: Weight times inverse document frequency (idf) of each term of the query.
        title_gains: The same for the terms of its first line.
        first_pass_idf: The idf over the whole tree of everything that the first pass counted.
        file_term_gains: Weight times ``first_pass_idf`` of each counted term; ``file_name_gains``: of each name.
    """

    idf: dict[str, float]
    name_idf: dict[str, float]
    average_length: float
    term_gains: dict[str, float]
    title_gains: dict[str, float]
    first_pass_idf: dict[str, float]
    file_term_gains: dict[str, float]
    file_name_gains: dict[str, float]


def compute_corpus_statistics(
    features: list[FileFeatures], search_query: SearchQuery, first_pass_idf: dict[str, float], total_files: int
) -> CorpusStatistics:
    """Return the statistics of the candidates with ``features``; the first pass searched ``total_files``."""
    size = len(features) or 1
    frequencies = Counter(term for file in features for term in file.term_counts)
    idf = {}
    for term, frequency in frequencies.items():
        among = math.log(1 + (size - frequency + 0.5) / (frequency + 0.5)) + 0.1
        idf[term] = (
            max(first_pass_idf[term], among)
            if term in first_pass_idf
            else among + math.log(max(total_files / size, 1.0)) / 2
        )
    names = Counter(name for file in features for name in (*file.name_counts, *file.joined_names))
    name_idf = {name: math.log(1 + (size - n + 0.5) / (n + 0.5)) + 0.2 for name, n in names.items()}
    average = sum(file.length for file in features) / size or 1.0
    gains, title_gains = (
        {term: weight * idf[term] for term, weight in weights.items() if term in idf}
        for weights in (search_query.terms, search_query.title_terms)
    )
    needles = [needle for needle in build_needles(search_query) if needle.key in first_pass_idf]
    whole, whole_names = (
        {needle.key: needle.weight * first_pass_idf[needle.key] for needle in needles if needle.is_name is is_name}
        for is_name in (False, True)
    )
    return CorpusStatistics(idf, name_idf, average, gains, title_gains, first_pass_idf, whole, whole_names)


def score_definition(features: FileFeatures, hits: DefinitionHits, corpus: CorpusStatistics) -> float:
    """Return how well one definition answers: its terms, weighted by rarity and length, and exact names."""
    if hits.score is not None:
        return hits.score
    total = score_terms(features, hits, corpus.term_gains)
    if hits.position in features.qualified_positions:
        total = total * QUALIFIED_FACTOR + QUALIFIED_BONUS
    if hits.exact_names:
        name = features.outline.definitions[hits.position].name if hits.position >= 0 else ""
        own = (name, joined_key(name))
        for exact, weight in hits.exact_names.items():
            total += (3.0 if exact in own else 1.0) * weight * corpus.name_idf.get(exact, 0.0)
    hits.score = total
    return total


def score_terms(features: FileFeatures, hits: DefinitionHits, gains: dict[str, float]) -> float:
    """Return the BM25 score of the terms of one definition, with ``gains`` as their weights."""
    if not hits.length_norm:
        length = TYPICAL_FUNCTION_LINES * 2
        if hits.position >= 0:
            definition = features.outline.definitions[hits.position]
            hits.name_terms = terms_in(definition.name)
            length = definition.end_line - definition.start_line + 1
        hits.length_norm = K1 * (1 - B + B * min(length / TYPICAL_FUNCTION_LINES, 6.0))
    own, norm = hits.name_terms, hits.length_norm
    total = 0.0
    for term, count in hits.terms.items():
        gain = gains.get(term)
        if gain:
            total += (OWN_NAME_FACTOR if term in own else 1.0) * gain * count * (K1 + 1) / (count + norm)
    return total


def compute_file_signals(
    features: FileFeatures, search_query: SearchQuery, corpus: CorpusStatistics, name_match: float
) -> dict[str, float]:
    """Return the raw signals of one file as a whole; see ``rank.WEIGHTS`` for their weights."""
    norm = K1 * (1 - B + B * min(features.length / corpus.average_length, 6.0))
    saturated = {term: count * (K1 + 1) / (count + norm) for term, count in features.term_counts.items()}
    folder, _, name = features.path.rpartition("/")
    stem = name.partition(".")[0] or name
    stem_terms = terms_in(stem)
    in_stem = [term for term in stem_terms if term in search_query.terms]
    share = len(in_stem) / (len(stem_terms) or 1)
    rare = corpus.name_idf
    return {
        "body": _weighted_sum(corpus.term_gains, saturated),
        "title": _weighted_sum(corpus.title_gains, saturated),
        "first_pass": _first_pass_score(features, search_query, corpus),
        "length": math.log1p(features.length),
        "definition": max(
            (_name_coverage(n, terms, corpus.term_gains) for n, terms in features.terms_by_defined_name.items()),
            default=0.0,
        ),
        "compound": max((_compound_coverage(n, terms, corpus) for n, terms in features.compounds.items()), default=0.0),
        "folder": _weighted_sum(corpus.term_gains, dict.fromkeys(path_terms(folder), 1.0)),
        "stem_title": _weighted_sum(corpus.title_gains, dict.fromkeys(in_stem, share)),
        "qualified_names": math.log1p(len(features.qualified_positions)),
        "names_defined": sum(w * rare.get(n, 0.0) for n, w in features.defined_names.items() if w >= MIN_NAME_LIKENESS),
        **_usage_signals(features, search_query, rare),
        "joined_names_used": sum(w * rare.get(n, 0.0) for n, w in features.joined_names.items()),
        "joined_stem_match": search_query.joined_names.get(joined_key(stem), 0.0),
        "stem_is_name": max(search_query.names.get(stem, 0.0), search_query.names.get(stem.capitalize(), 0.0)),
        "name_match": name_match,
    }


def compute_detail_signals(
    features: FileFeatures, corpus: CorpusStatistics, literal_idf: Mapping[str, float]
) -> dict[str, float]:
    """Return the raw signals of a file's definitions, lines and quoted texts."""
    scores = sorted(
        (score_definition(features, hits, corpus) for hits in features.definition_hits.values()), reverse=True
    )
    return {
        "top_definitions": sum(scores[:3]),
        "phrases": sum(sum(corpus.idf.get(term, 0.0) for term in terms) for terms in features.phrases),
        "literals": sum(literal_idf[literal] for literal in features.literals),
        "line": _best_line_gain(features, corpus.term_gains),
    }


def compute_literal_idf(features: Collection[FileFeatures], total_files: int) -> dict[str, float]:
    """Return how rare each literal is among the candidates with ``features``, the best of ``total_files``."""
    literals = Counter(literal for file in features for literal in file.literals)
    return {literal: inverse_document_frequency(total_files, count) for literal, count in literals.items()}


def _best_line_gain(features: FileFeatures, gains: dict[str, float]) -> float:
    """Return the summed gains of the terms on the best line."""
    totals: dict[int, float] = defaultdict(float)
    for term, lines in features.lines_of_terms.items():
        gain = gains.get(term, 0.0)
        for line in lines:
            totals[line] += gain
    return max(totals.values(), default=0.0)


def _weighted_sum(gains: dict[str, float], amounts: dict[str, float]) -> float:
    return sum(gains.get(term, 0.0) * amount for term, amount in amounts.items())


def _usage_signals(features: FileFeatures, search_query: SearchQuery, name_idf: dict[str, float]) -> dict[str, float]:
    """Return signals for words of the query that the file uses as written: identifiers, and other words."""
    names = words = 0.0
    for name, count in features.name_counts.items():
        likeness = search_query.names[name]
        worth = likeness * name_idf.get(name, 0.0) * count * 2 / (count + 1.0)
        if likeness >= MIN_NAME_LIKENESS:
            names += worth
        else:
            words += worth
    return {"names_used": names, "words_used": words}


def _first_pass_score(features: FileFeatures, search_query: SearchQuery, corpus: CorpusStatistics) -> float:
    """Return the score of the first pass, recomputed from the features: text, names and path."""
    norm = K1 * (1 - FILE_B + FILE_B * min(features.length / corpus.average_length, 8.0))
    names: Counter[str] = Counter()
    for name, count in features.name_counts.items():
        names[name.lower()] += count
    total = 0.0
    for gains, counts in ((corpus.file_term_gains, features.term_counts), (corpus.file_name_gains, names)):
        total += sum(gains[key] * n * (K1 + 1) / (n + norm) for key, n in counts.items() if key in gains)
    in_path = sum(
        search_query.terms.get(term, 0.0) * corpus.first_pass_idf.get(term, 1.0) for term in path_terms(features.path)
    )
    return total + PATH_FACTOR * in_path


def _name_coverage(name: str, terms: tuple[str, ...], gains: dict[str, float]) -> float:
    """Return the gains of those ``terms`` of ``name`` that the query has, times their share of all its terms."""
    return sum(gains.get(term, 0.0) for term in terms) * len(terms) / (len(terms_in(name)) or 1)


def _compound_coverage(name: str, terms: tuple[str, ...], corpus: CorpusStatistics) -> float:
    """Return the same for a name with at least two terms of the query's first line, by their gains there."""
    if sum(term in corpus.title_gains for term in terms) < 2:
        return 0.0
    return _name_coverage(name, terms, corpus.title_gains)
