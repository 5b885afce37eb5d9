"""Candidate retrieval: a rough BM25 over all files of a tree selects those that get a closer look.

Invariant: one scorer for every ``PostingSource``. It may select too many files and should miss few. Tests,
documentation and the like are searched when the query asks for them, or when the sources do not answer it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import compress

from upbeat.adapters.code.cancellation import raise_if_cancelled
from upbeat.adapters.code.files.file_types import FileRole
from upbeat.adapters.code.query.named_paths import match_named_paths, names_in_query
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.posting_source import LENGTH_K1, FileGroup, PostingSource
from upbeat.adapters.code.query.signals import PATH_FACTOR, Needle, build_needles, inverse_document_frequency
from upbeat.core.engine.ports import Cancellation

MAX_NEEDLES = 26
MAX_SECONDARY_NEEDLES = 8
MAX_CANDIDATES = 60
MAX_SECONDARY_CANDIDATES = 20
MIN_COVERAGE = 0.4
"""Share of the query's weight that some file must have; if none does, the other roles are searched too."""

MIN_SCORE = 1e-300
"""Smallest score of a candidate: more than zero."""


@dataclass(slots=True)
class RetrievalResult:
    """Result of the first pass.

    Attributes:
        candidates: Paths with their scores, best first.
        idf: Inverse document frequency of everything that was counted.
        file_count: Files of the tree; ``scanned_count`` and ``byte_count`` are of those that were searched.
        name_matches: The files that the query names, with how completely (0..1).
    """

    candidates: list[tuple[str, float]] = field(default_factory=list)
    idf: dict[str, float] = field(default_factory=dict)
    file_count: int = 0
    scanned_count: int = 0
    byte_count: int = 0
    name_matches: dict[str, float] = field(default_factory=dict)


def retrieve(source: PostingSource, search_query: SearchQuery, cancelled: Cancellation) -> RetrievalResult:
    """Rank the files of ``source`` roughly; when time is up, rank what was searched so far.

    Raises:
        ToolFailure: The search was cancelled.
    """
    result = RetrievalResult(file_count=len(source.paths))
    result.name_matches = match_named_paths(source.paths_named(names_in_query(search_query)), search_query)
    primary = primary_roles(search_query)
    group = source.group(primary)
    needles = _select_needles(source, build_needles(search_query), group, MAX_NEEDLES)
    scores, coverage = _score_group(source, group, needles, search_query, result, cancelled)
    candidates = _top_scores(scores, MAX_CANDIDATES)
    if not source.is_truncated and (len(candidates) < MAX_SECONDARY_CANDIDATES or coverage < MIN_COVERAGE):
        group = source.group(set(FileRole) - primary - {FileRole.DATA})
        needles = _select_needles(source, needles, group, MAX_SECONDARY_NEEDLES)
        scores, _ = _score_group(source, group, needles, search_query, result, cancelled)
        candidates += _top_scores(scores, MAX_SECONDARY_CANDIDATES if candidates else MAX_CANDIDATES)
    known = {path for path, _ in candidates}
    named = sorted(result.name_matches.keys() - known, key=lambda path: (-result.name_matches[path], path))
    result.candidates = candidates + [(path, 0.0) for path in named[:MAX_SECONDARY_CANDIDATES]]
    return result


def primary_roles(search_query: SearchQuery) -> set[FileRole]:
    """Return the roles that are searched first."""
    return {role for role in FileRole if search_query.wants_role(role)}


def _select_needles(source: PostingSource, needles: Sequence[Needle], group: FileGroup, limit: int) -> Sequence[Needle]:
    """Return the ``limit`` needles that discriminate best between files."""
    if len(needles) <= limit:
        return needles
    return sorted(needles, key=lambda needle: -needle.weight * source.rarity(needle, group))[:limit]


def _score_group(
    source: PostingSource,
    group: FileGroup,
    needles: Sequence[Needle],
    search_query: SearchQuery,
    result: RetrievalResult,
    cancelled: Cancellation,
) -> tuple[Mapping[str, float], float]:
    """Return the best scores of the group by path, and the largest share of the needles' gain in one file."""
    norms, members = group.length_norms, group.members
    totals, covered = [0.0] * len(norms), [0.0] * len(norms)
    total_gain = 0.0
    for needle in needles:
        raise_if_cancelled(cancelled)
        hits = source.hits(needle, group)
        if hits is None:
            break
        idf = inverse_document_frequency(group.file_count, len(hits))
        result.idf.setdefault(needle.key, idf)
        gain = needle.weight * idf
        total_gain += gain
        for position, count in hits:
            totals[position] += gain * count * (LENGTH_K1 + 1) / (count + norms[position])
            covered[position] += gain
    for term, weight in search_query.terms.items():
        gain = PATH_FACTOR * weight * result.idf.get(term, 1.0)
        for position in group.positions_by_term.get(term, ()):
            if members[position]:
                totals[position] += gain
    result.scanned_count += group.file_count
    result.byte_count += group.byte_count
    minimum = max(min(nlargest(MAX_CANDIDATES, filter(None, totals)), default=0.0), MIN_SCORE)
    best = compress(range(len(totals)), map(minimum.__le__, totals))
    return {group.paths[position]: totals[position] for position in best}, max(covered, default=0.0) / (
        total_gain or 1.0
    )


def _top_scores(scores: Mapping[str, float], limit: int) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
