"""Ranks files: each signal is scaled within one query, then a linear model adds them up.

Invariant: the model is only the table of weights, which were fitted on bug fixes, issues and questions about public
projects, except ``role_penalty``, which is set manually; ``benchmarks/localization`` measures them. Nothing here reads
a file, except for quoted phrases.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from operator import itemgetter

from upbeat.adapters.code.concurrency import raise_if_cancelled
from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.query.coverage import Coverage
from upbeat.adapters.code.query.features import DefinitionHits, FileFeatures
from upbeat.adapters.code.query.parse_query import BASIC_ROLES, SearchQuery
from upbeat.adapters.code.query.posting_source import PostingSource
from upbeat.adapters.code.query.retrieval import (
    MIN_NAME_LIKENESS,
    PATH_FACTOR,
    ROUNDING,
    RetrievalResult,
    build_needles,
    build_neighbor_needles,
)
from upbeat.adapters.code.query.terms import inverse_document_frequency, joined_key, path_terms, terms_in
from upbeat.core.engine.ports import Cancellation
from upbeat.core.package_data import load_rows

_ROWS = load_rows("upbeat.adapters.code.query", "weights.tsv")
WEIGHTS, WEIGHTS_WITH_HISTORY, QUESTION_WEIGHTS, QUESTION_WEIGHTS_WITH_HISTORY = (
    {row[0]: float(row[column]) for row in _ROWS if float(row[column])} for column in range(1, 5)
)
"""Weight of each signal, scaled to at most 1: for reports and for plain questions (``is_plain_question``), each
without a history and with one; ``history_…`` are the signals of ``CommitHistory.compute_signals``."""

MAX_QUESTION_CHARS = 160
"""Length below which a question without identifiers is a plain question."""

HISTORY_SIGNALS = tuple(name for name, *_ in _ROWS if name.startswith("history_"))
HISTORY_DAMPING_CHARS = 300
"""Length of a query beyond which history counts less: commit messages are short, reports are long."""

MESSAGES_SIGNAL = "history_messages"
"""The signal of all messages together; it counts even less for long queries, which match some message anyway."""

SIMILAR_SIGNAL = "history_similar"
"""The signal that makes a file a candidate because of the history alone."""

SCORE_SPREAD = 3.0
"""Distance in total from the first file at which a score is 1/e."""

DECLARATION_EXTENSIONS = (".h", ".hh", ".hpp", ".hxx", ".pyi", ".d.ts")

MAX_DETAILED_FILES = 16
"""Candidates whose definitions and lines count: the best ones as whole files. Of 305 cases with an answer, none had it
behind rank fifteen."""

REQUESTED_ROLE_PENALTY = 0.03
"""Ranks requested tests and documentation slightly behind the sources that they are about."""

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


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A ranked file. ``score`` is in 0..1; ``name_match`` says how completely the query names the file (0..1).

    ``named_positions`` are the definitions, and ``named_lines`` the first and last lines, that the query names.
    """

    features: FileFeatures
    score: float
    name_match: float
    named_positions: tuple[int, ...] = ()
    named_lines: tuple[tuple[int, int], ...] = ()


def rank_candidates(
    source: PostingSource,
    search_query: SearchQuery,
    retrieval: RetrievalResult,
    history_signals: Mapping[str, dict[str, float]],
    cancelled: Cancellation,
) -> tuple[list[RankedFile], CorpusStatistics]:
    """Return the best ``MAX_DETAILED_FILES`` candidates, best first, and the statistics over all of them.

    All are compared as whole files; for the best ones definitions and lines count too.
    """
    documents = source.documents(retrieval.candidates)
    selected = {*retrieval.name_matches, *(path for path, row in history_signals.items() if row.get(SIMILAR_SIGNAL))}
    features = [
        file
        for file in (source.extractor.extract_summary(path, document) for path, document in documents)
        if file.path in selected or _has_match(file, search_query)
    ]
    corpus = compute_corpus_statistics(features, search_query, retrieval)
    rows: list[dict[str, float]] = []
    for file in features:
        raise_if_cancelled(cancelled)
        row = compute_file_signals(file, search_query, corpus, retrieval.name_matches.get(file.path, 0.0))
        rows.append(row | history_signals.get(file.path, {}))
    paths = [file.path for file in features]
    scale_columns(rows)
    add_sibling_signal(paths, rows)
    add_path_signals(paths, search_query, retrieval.name_matches, rows)
    if history_signals:
        damp_history(rows, search_query.length)
    weights = select_weights(search_query, bool(history_signals))
    totals = {path: weighted_total(row, weights) for path, row in zip(paths, rows, strict=True)}
    best = sorted(features, key=lambda file: (-totals[file.path], file.path))[:MAX_DETAILED_FILES]
    raise_if_cancelled(cancelled)
    lines = source.word_lines([file.path for file in best])
    for file in best:
        source.extractor.add_details(file, lines[file.path], partial(source.read_text, file.path))
    if is_plain_question(search_query):
        coverage = Coverage(search_query, corpus.idf)
        for file in best:
            coverage.add_to(file, source.extractor.matching_words(file.document))
    details = compute_detail_signals(best, corpus, len(features))
    scale_columns(details)
    for file, row in zip(best, details, strict=True):
        totals[file.path] += weighted_total(row, weights)
    best.sort(key=lambda file: (-totals[file.path], file.path))
    scores = to_scores([totals[file.path] for file in best])
    return [
        RankedFile(file, score, retrieval.name_matches.get(file.path, 0.0))
        for file, score in zip(best, scores, strict=True)
    ], corpus


def select_weights(search_query: SearchQuery, has_history: bool) -> Mapping[str, float]:
    """Return the weights for this kind of query."""
    if is_plain_question(search_query):
        return QUESTION_WEIGHTS_WITH_HISTORY if has_history else QUESTION_WEIGHTS
    return WEIGHTS_WITH_HISTORY if has_history else WEIGHTS


def is_plain_question(search_query: SearchQuery) -> bool:
    """Return whether the query is a short question about the sources, without identifiers."""
    is_short = search_query.is_question and search_query.length < MAX_QUESTION_CHARS
    has_names = max(search_query.names.values(), default=0.0) >= MIN_NAME_LIKENESS
    return is_short and not has_names and search_query.wanted_roles == BASIC_ROLES


def _has_match(features: FileFeatures, search_query: SearchQuery) -> bool:
    """Return whether the file has a word of the query; without an index it may only have the letters of one."""
    in_text = features.term_counts or features.neighbor_counts or features.name_counts or features.joined_names
    return bool(in_text) or any(term in search_query.terms for term in path_terms(features.path))


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Statistics over all candidates: how rare terms and names are, and the average length.

    Attributes:
        term_gains: Weight times inverse document frequency (idf) of each term of the query.
        title_gains: The same for the terms of its first line.
        first_pass_idf: The idf over the whole tree of everything that the first pass counted.
        neighbor_gains: Weight times idf of the neighbors that some candidate has.
        file_term_gains: Weight times ``first_pass_idf`` of each counted term; ``file_name_gains``: of each name.
    """

    idf: dict[str, float]
    name_idf: dict[str, float]
    average_length: float
    term_gains: dict[str, float]
    title_gains: dict[str, float]
    neighbor_gains: dict[str, float]
    first_pass_idf: dict[str, float]
    file_term_gains: dict[str, float]
    file_name_gains: dict[str, float]


NO_STATISTICS = CorpusStatistics({}, {}, 1.0, {}, {}, {}, {}, {}, {})


def compute_corpus_statistics(
    features: Collection[FileFeatures], search_query: SearchQuery, retrieval: RetrievalResult
) -> CorpusStatistics:
    """Return the statistics of the candidates with ``features``."""
    size = len(features) or 1
    frequencies = Counter(term for file in features for term in (*file.term_counts, *file.neighbor_counts))
    idf = {}
    for term, frequency in frequencies.items():
        among = inverse_document_frequency(size, frequency) + 0.1
        idf[term] = (
            max(retrieval.idf[term], among)
            if term in retrieval.idf
            else among + math.log(max(retrieval.scanned_count / size, 1.0)) / 2
        )
    names = Counter(name for file in features for name in (*file.name_counts, *file.joined_names))
    name_idf = {name: inverse_document_frequency(size, count) + 0.2 for name, count in names.items()}
    average = sum(file.document.length for file in features) / size or 1.0
    gains, title_gains = (
        {term: weight * idf[term] for term, weight in weights.items() if term in idf}
        for weights in (search_query.terms, search_query.title_terms)
    )
    neighbor_gains = {term: near.weight * idf[term] for term, near in search_query.neighbors.items() if term in idf}
    counted = [*build_needles(search_query), *build_neighbor_needles(search_query)]
    needles = [needle for needle in counted if needle.key in retrieval.idf]
    whole, whole_names = (
        {needle.key: needle.weight * retrieval.idf[needle.key] for needle in needles if needle.is_name is is_name}
        for is_name in (False, True)
    )
    return CorpusStatistics(
        idf, name_idf, average, gains, title_gains, neighbor_gains, retrieval.idf, whole, whole_names
    )


def score_definition(features: FileFeatures, hits: DefinitionHits, corpus: CorpusStatistics) -> float:
    """Return how well one definition answers: its terms, weighted by rarity and length, and exact names."""
    if hits.score is not None:
        return hits.score
    definition = features.document.definitions[hits.position] if hits.position >= 0 else None
    length = definition.end_line - definition.start_line + 1 if definition else 2 * TYPICAL_FUNCTION_LINES
    own = terms_in(definition.name) if definition else ()
    norm = K1 * (1 - B + B * min(length / TYPICAL_FUNCTION_LINES, 6.0))
    total = _score_terms(hits.terms, own, norm, corpus.term_gains)
    if hits.neighbors:
        total += _score_terms(hits.neighbors, own, norm, corpus.neighbor_gains)
    if hits.position in features.qualified_positions:
        total = total * QUALIFIED_FACTOR + QUALIFIED_BONUS
    if hits.exact_names:
        name = definition.name if definition else ""
        names = (name, joined_key(name))
        for exact, weight in hits.exact_names.items():
            total += (3.0 if exact in names else 1.0) * weight * corpus.name_idf.get(exact, 0.0)
    hits.score = total
    return total


def _score_terms(counts: Mapping[str, int], own: Collection[str], norm: float, gains: Mapping[str, float]) -> float:
    """Return the BM25 score of terms with ``counts``, weighted by ``gains``; those of the ``own`` name count more."""
    total = 0.0
    for term, count in counts.items():
        if term in gains:
            saturated = gains[term] * count * (K1 + 1) / (count + norm)
            total += OWN_NAME_FACTOR * saturated if term in own else saturated
    return total


def compute_file_signals(
    features: FileFeatures, search_query: SearchQuery, corpus: CorpusStatistics, name_match: float
) -> dict[str, float]:
    """Return the raw signals of one file as a whole; see ``rank.WEIGHTS`` for their weights."""
    norm = K1 * (1 - B + B * min(features.document.length / corpus.average_length, 6.0))
    saturated = {term: count * (K1 + 1) / (count + norm) for term, count in features.term_counts.items()}
    near = {term: count * (K1 + 1) / (count + norm) for term, count in features.neighbor_counts.items()}
    folder, _, name = features.path.rpartition("/")
    stem = name.partition(".")[0] or name
    stem_terms = terms_in(stem)
    in_stem = [term for term in stem_terms if term in search_query.terms]
    share = len(in_stem) / (len(stem_terms) or 1)
    rare = corpus.name_idf
    names = search_query.names
    uses = [
        (names[name], names[name] * rare.get(name, 0.0) * count * 2 / (count + 1.0))
        for name, count in features.name_counts.items()
    ]
    return {
        "body": _total_gain(saturated, corpus.term_gains) + _total_gain(near, corpus.neighbor_gains),
        "title": _total_gain(saturated, corpus.title_gains),
        "first_pass": _first_pass_score(features, search_query, corpus),
        "length": math.log1p(features.document.length),
        "definition": max(
            (_name_coverage(name, terms, corpus.term_gains) for name, terms in features.terms_by_defined_name.items()),
            default=0.0,
        ),
        "compound": max(
            (
                _name_coverage(name, terms, corpus.title_gains)
                for name, terms in features.compounds.items()
                if sum(term in corpus.title_gains for term in terms) >= 2
            ),
            default=0.0,
        ),
        "folder": _total_gain(dict.fromkeys(path_terms(folder), 1.0), corpus.term_gains),
        "stem_title": _total_gain(dict.fromkeys(in_stem, share), corpus.title_gains),
        "qualified_names": math.log1p(len(features.qualified_positions)),
        "names_defined": sum(w * rare.get(n, 0.0) for n, w in features.defined_names.items() if w >= MIN_NAME_LIKENESS),
        "names_used": sum(worth for likeness, worth in uses if likeness >= MIN_NAME_LIKENESS),
        "words_used": sum(worth for likeness, worth in uses if likeness < MIN_NAME_LIKENESS),
        "joined_names_used": sum(w * rare.get(n, 0.0) for n, w in features.joined_names.items()),
        "joined_stem_match": search_query.joined_names.get(joined_key(stem), 0.0),
        "stem_is_name": max(names.get(stem, 0.0), names.get(stem.capitalize(), 0.0)),
        "name_match": name_match,
        "is_generated": float(features.document.is_generated),
    }


def compute_detail_signals(
    files: Collection[FileFeatures], corpus: CorpusStatistics, total_files: int
) -> list[dict[str, float]]:
    """Return the raw signals of the definitions, lines and quoted texts of ``files``, the best of ``total_files``.

    Definitions count either by their coverage of a plain question or by their terms.
    """
    literals = Counter(literal for features in files for literal in features.literals)
    rows = []
    for features in files:
        hits_by_position = {} if features.coverages else features.definition_hits
        scores = [score_definition(features, hits, corpus) for hits in hits_by_position.values()]
        rows.append(
            {
                "top_definitions": sum(sorted(scores, reverse=True)[:3]),
                "phrases": sum(sum(corpus.idf.get(term, 0.0) for term in terms) for terms in features.phrases),
                "literals": sum(
                    inverse_document_frequency(total_files, literals[literal]) for literal in features.literals
                ),
                "line": best_line_gain(features.lines_of_terms, corpus.term_gains),
                "coverage": max(features.coverages.values(), default=0.0),
                "path_coverage": features.path_coverage,
                "name_coverage": features.name_coverage,
                "top_coverages": sum(nlargest(3, features.coverages.values())),
            }
        )
    return rows


def best_line_gain(lines_of_terms: Mapping[str, Collection[int]], gains: Mapping[str, float]) -> float:
    """Return the largest sum of the ``gains`` of the terms on one line.

    The heaviest terms come first: once the others, which are on most lines, cannot make another line the best one,
    only those lines are looked at that can still be it.
    """
    order = sorted([(gains[term], lines) for term, lines in lines_of_terms.items() if term in gains], key=itemgetter(0))
    rest, best = sum([gain for gain, _ in order]), 0.0
    totals: dict[int, float] = {}
    while order and rest * ROUNDING >= best:
        gain, lines = order.pop()
        rest -= gain
        for line in lines:
            totals[line] = totals.get(line, 0.0) + gain
        best = max(totals.values(), default=0.0)
    while order:
        totals = {line: total for line, total in totals.items() if total + rest * ROUNDING >= best}
        gain, lines = order.pop()
        rest -= gain
        for line in totals.keys() & lines:
            totals[line] += gain
        best = max(totals.values())
    return best


def _first_pass_score(features: FileFeatures, search_query: SearchQuery, corpus: CorpusStatistics) -> float:
    """Return the score of the first pass, recomputed from the features: text, names and path."""
    norm = K1 * (1 - FILE_B + FILE_B * min(features.document.length / corpus.average_length, 8.0))
    names: Counter[str] = Counter()
    for name, count in features.name_counts.items():
        names[name.lower()] += count
    total = 0.0
    for gains, counts in (
        (corpus.file_term_gains, features.term_counts),
        (corpus.file_term_gains, features.neighbor_counts),
        (corpus.file_name_gains, names),
    ):
        total += sum(gains[key] * n * (K1 + 1) / (n + norm) for key, n in counts.items() if key in gains)
    in_path = sum(
        search_query.terms.get(term, 0.0) * corpus.first_pass_idf.get(term, 1.0) for term in path_terms(features.path)
    )
    return total + PATH_FACTOR * in_path


def _name_coverage(name: str, terms: tuple[str, ...], gains: dict[str, float]) -> float:
    """Return the gains of those ``terms`` of ``name`` that the query has, times their share of all its terms."""
    return sum(gains.get(term, 0.0) for term in terms) * len(terms) / (len(terms_in(name)) or 1)


def scale_columns(rows: Sequence[dict[str, float]]) -> None:
    """Divide every signal by its maximum among ``rows``."""
    for name in {name for row in rows for name in row}:
        maximum = max([row.get(name, 0.0) for row in rows])
        if maximum > 0:
            for row in rows:
                row[name] = row.get(name, 0.0) / maximum


def add_sibling_signal(paths: Sequence[str], rows: Sequence[dict[str, float]]) -> None:
    """Add the average of the best three other candidates in the same folder."""
    folders: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for path, row in zip(paths, rows, strict=True):
        folders[path.rpartition("/")[0]].append((row.get("body", 0.0), path))
    for path, row in zip(paths, rows, strict=True):
        others = sorted((value for value, other in folders[path.rpartition("/")[0]] if other != path), reverse=True)
        row["siblings"] = sum(others[:3]) / 3


def add_path_signals(
    paths: Sequence[str], search_query: SearchQuery, name_matches: Mapping[str, float], rows: Sequence[dict[str, float]]
) -> None:
    """Add the signals of the paths; the role penalty is how far a file ranks behind the sources (0..1)."""
    kinds = [classify_file(path) for path in paths]
    languages = Counter(kind.language for kind in kinds if kind.role is FileRole.SOURCE)
    main_language = languages.most_common(1)[0][0] if languages else ""
    for path, kind, row in zip(paths, kinds, rows, strict=True):
        is_meant = name_matches.get(path, 0.0) >= 1.0 and any(
            intended.endswith(path) or path.endswith(intended) for intended in search_query.intended_paths
        )
        row["is_config"] = float(kind.role is FileRole.CONFIG)
        row["is_other_language"] = float(kind.role is FileRole.SOURCE and kind.language != main_language)
        row["is_declaration"] = float(path.endswith(DECLARATION_EXTENSIONS))
        if kind.role in BASIC_ROLES or is_meant:
            row["role_penalty"] = 0.0
        else:
            row["role_penalty"] = REQUESTED_ROLE_PENALTY if kind.role in search_query.wanted_roles else 1.0


def damp_history(rows: Sequence[dict[str, float]], length: int) -> None:
    """Reduce the history signals for a query of ``length`` characters."""
    factor = math.sqrt(HISTORY_DAMPING_CHARS / max(length, HISTORY_DAMPING_CHARS))
    for row in rows:
        for name in HISTORY_SIGNALS:
            row[name] = row.get(name, 0.0) * (factor * factor if name == MESSAGES_SIGNAL else factor)


def _total_gain(amounts: Mapping[str, float], gains: Mapping[str, float]) -> float:
    """Return the sum of the ``amounts`` of terms, each times its gain; a file has few of a long query's terms."""
    return sum([amount * gains[term] for term, amount in amounts.items() if term in gains])


def weighted_total(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the sum of ``values``, each times its weight; a missing one is 0."""
    return sum([weight * values.get(name, 0.0) for name, weight in weights.items()])


def to_scores(totals: Sequence[float]) -> list[float]:
    """Return ``totals`` as scores in 0..1, which are comparable within one answer."""
    if not totals:
        return []
    best = max(totals)
    return [round(min(1.0, math.exp((value - best) / SCORE_SPREAD)), 4) for value in totals]
