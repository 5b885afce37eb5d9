"""Candidate retrieval: a rough BM25 over all files of a tree selects those that get a closer look.

Invariant: one scorer for every ``PostingSource``. It may select too many files and should miss few. Tests,
documentation and the like are searched when the query asks for them, or when the sources do not answer it. Files
that the query names by path, file name or dotted module name are candidates in any case.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import compress

from upbeat.adapters.code.concurrency import raise_if_cancelled
from upbeat.adapters.code.files.file_types import FileRole
from upbeat.adapters.code.index.document import WHOLE_NAME_PREFIX
from upbeat.adapters.code.query import terms
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.posting_source import (
    LENGTH_K1,
    FileGroup,
    Hits,
    Needle,
    PostingSource,
)
from upbeat.core.engine.ports import Cancellation

MAX_NEEDLES = 26
MAX_SECONDARY_NEEDLES = 8
MAX_NEIGHBOR_NEEDLES = 14
MAX_CANDIDATES = 40
MAX_SECONDARY_CANDIDATES = 14
"""Files that get a closer look. With 60 and 20 no more questions and fixes of the development sets had their answer
among the first ten files."""

MIN_COVERAGE = 0.4
"""Share of the query's weight that some file must have; if none does, the other roles are searched too."""

PATH_FACTOR = 1.5
"""Weight of a term in a file's path, compared with one in its text."""

MIN_NAME_LIKENESS = 0.5
"""From here on a word of the query counts as an identifier."""

NAME_FACTOR = 2.5
MIN_NUMBER_DIGITS = 3
"""Digits of a number that distinguishes names."""

DOTTED_MATCH_WEIGHT = 0.9
PRUNED_SHARE = 8
"""A needle in more than one of so many files is counted last."""

MAX_COVERED_HITS = 10_000
"""Hits up to which the covered share is added up for all files at once."""

ROUNDING = 1 + 1e-9
MIN_SCORE = 1e-300
"""Smallest score of a candidate: more than zero."""

_Parts = tuple[str, ...]


@dataclass(slots=True)
class RetrievalResult:
    """Result of the first pass.

    Attributes:
        candidates: Paths, best first.
        idf: Inverse document frequency of everything that was counted.
        scanned_count: Files that were searched; ``byte_count`` is their length.
        name_matches: The files that the query names, with how completely (0..1).
    """

    candidates: list[str] = field(default_factory=list)
    idf: dict[str, float] = field(default_factory=dict)
    scanned_count: int = 0
    byte_count: int = 0
    name_matches: dict[str, float] = field(default_factory=dict)


def retrieve(source: PostingSource, search_query: SearchQuery, cancelled: Cancellation) -> RetrievalResult:
    """Rank the files of ``source`` roughly; when time is up, rank what was searched so far.

    Raises:
        ToolFailure: The search was cancelled.
    """
    result = RetrievalResult(name_matches=match_named_paths(source.paths_named, search_query))
    group = source.group(search_query.wanted_roles)
    needles = _select_needles(source, build_needles(search_query), group, MAX_NEEDLES)
    counted = [*needles, *build_neighbor_needles(search_query)]
    candidates, is_covered = _score_group(source, group, counted, search_query, result, cancelled)
    if not source.is_truncated and (len(candidates) < MAX_SECONDARY_CANDIDATES or not is_covered):
        group = source.group(frozenset(FileRole) - search_query.wanted_roles - {FileRole.DATA})
        needles = _select_needles(source, needles, group, MAX_SECONDARY_NEEDLES)
        others, _ = _score_group(source, group, needles, search_query, result, cancelled)
        candidates += others[:MAX_SECONDARY_CANDIDATES] if candidates else others
    named = sorted(result.name_matches.keys() - candidates, key=lambda path: (-result.name_matches[path], path))
    result.candidates = candidates + named[:MAX_SECONDARY_CANDIDATES]
    return result


def build_needles(search_query: SearchQuery) -> list[Needle]:
    """Return what the first pass can count: terms that are long enough, and names that look like identifiers."""
    needles = [
        Needle(term.encode(), term, term, weight)
        for term, weight in search_query.terms.items()
        if len(term) > 2 or not term.isascii()
    ]
    for name, likeness in search_query.names.items():
        lower, parts = name.lower(), terms.split_identifier(name)
        has_number = len(parts) > 1 and any(part.isdigit() and len(part) >= MIN_NUMBER_DIGITS for part in parts)
        if likeness >= MIN_NAME_LIKENESS and (len(terms.terms_in(name)) > 1 or has_number):
            index_key = WHOLE_NAME_PREFIX + terms.joined_key(lower)
            needles.append(Needle(lower.encode(), lower, index_key, likeness * NAME_FACTOR, is_name=True))
    return needles


def build_neighbor_needles(search_query: SearchQuery) -> list[Needle]:
    """Return the heaviest neighbors, which the first pass counts beside the query's own terms."""
    order = sorted(search_query.neighbors.items(), key=lambda item: (-item[1].weight, item[0]))
    usable = [(term, neighbor) for term, neighbor in order if len(term) > 2]
    limit = MAX_NEIGHBOR_NEEDLES + sum(neighbor.is_spelling for _, neighbor in usable)  # most files have only one
    return [Needle(term.encode(), term, term, near.weight, is_neighbor=True) for term, near in usable[:limit]]


def _select_needles(source: PostingSource, needles: Sequence[Needle], group: FileGroup, limit: int) -> Sequence[Needle]:
    """Return the ``limit`` needles that discriminate best between files, and as many pairs of CJK characters."""
    selected: list[Needle] = []
    for is_ascii in (True, False):
        alike = [needle for needle in needles if needle.key.isascii() is is_ascii]
        if len(alike) > limit:
            alike.sort(key=lambda needle: -needle.weight * source.rarity(needle, group))
        selected += alike[:limit]
    return selected


@dataclass(frozen=True, slots=True)
class CountedNeedle:
    """A needle that was counted; ``own_gain`` is 0 for a neighbor."""

    gain: float
    own_gain: float
    hits: Hits


def _score_group(
    source: PostingSource,
    group: FileGroup,
    needles: Sequence[Needle],
    search_query: SearchQuery,
    result: RetrievalResult,
    cancelled: Cancellation,
) -> tuple[list[str], bool]:
    """Return the best files of the group, best first, and whether one has ``MIN_COVERAGE`` of the own words' gain."""
    counted: list[CountedNeedle] = []
    for needle in needles:
        raise_if_cancelled(cancelled)
        hits = source.hits(needle, group)
        if hits is None:
            break
        idf = terms.inverse_document_frequency(group.file_count, len(hits.positions))
        result.idf.setdefault(needle.key, idf)
        counted.append(CountedNeedle(needle.weight * idf, 0.0 if needle.is_neighbor else needle.weight * idf, hits))
    totals = [0.0] * len(group.paths)
    for term, weight in search_query.terms.items():
        gain = PATH_FACTOR * weight * result.idf.get(term, 1.0)
        for position in group.positions_by_term.get(term, ()):
            if group.members[position]:
                totals[position] += gain
    result.scanned_count += group.file_count
    result.byte_count += group.byte_count
    high = add_hits(totals, sorted(counted, key=lambda item: len(item.hits.positions)))
    best = sorted(high, key=lambda position: (-totals[position], group.paths[position]))[:MAX_CANDIDATES]
    return [group.paths[position] for position in best], _is_covered(counted, best, len(totals))


def add_hits(totals: list[float], counted: Sequence[CountedNeedle]) -> Iterable[int]:
    """Add the hits to ``totals``; return the positions of files that include the best ``MAX_CANDIDATES``.

    Once the needles that are left, which are in most files, cannot lift another file among the best, they are looked
    up only for those that can be among the best; the other totals stay incomplete.
    """
    rest = (LENGTH_K1 + 1) * sum(item.gain for item in counted)
    for index, item in enumerate(counted):
        if PRUNED_SHARE * len(item.hits.positions) > len(totals):
            floor = _candidate_floor(totals)
            if floor > rest * ROUNDING:
                left = counted[index:]
                break
        rest -= (LENGTH_K1 + 1) * item.gain
        gain = item.gain
        for position, saturation in zip(item.hits.positions, item.hits.saturations, strict=True):
            totals[position] += gain * saturation
    else:
        left, rest, floor = (), 0.0, _candidate_floor(totals)
    high = list(compress(range(len(totals)), map(max(floor - rest * ROUNDING, MIN_SCORE).__le__, totals)))
    for item in left:
        for position in high:
            totals[position] += item.gain * item.hits.saturation(position)
    return high


def _candidate_floor(totals: Iterable[float]) -> float:
    """Return the total of the last candidate if no other hit is added; 0 if there are fewer files."""
    best = nlargest(MAX_CANDIDATES, filter(None, totals))
    return best[-1] if len(best) == MAX_CANDIDATES else 0.0


def _is_covered(counted: Sequence[CountedNeedle], best: Sequence[int], total_files: int) -> bool:
    """Return whether a file has ``MIN_COVERAGE`` of the own words' gain; mostly one of the ``best`` has."""
    own = [item for item in counted if item.own_gain]
    wanted = MIN_COVERAGE * sum(item.own_gain for item in own)
    if sum(len(item.hits.positions) for item in own) > MAX_COVERED_HITS:
        for position in best:
            if sum(item.own_gain for item in own if item.hits.saturation(position)) >= wanted:
                return True
    covered = [0.0] * total_files
    for item in own:
        gain = item.own_gain
        for position in item.hits.positions:
            covered[position] += gain
    return bool(own) and max(covered, default=0.0) >= wanted


def match_named_paths(paths_named: Callable[[set[str]], Iterable[str]], search_query: SearchQuery) -> dict[str, float]:
    """Return the files that the query names, each with the share of the name that matches (0..1).

    A name that many files share counts less for each of them.

    Args:
        paths_named: Returns the paths that have one of the given names (see ``names_of_path``), or more.
    """
    suffixes, modules = _named_parts(search_query)
    last_parts = {parts[-1] for table in (suffixes, modules) for parts in table}
    matches: dict[str, tuple[float, _Parts]] = {}
    for path in paths_named(last_parts):
        share, name = _name_match(path.lower(), suffixes, modules, last_parts)
        if share:
            matches[path] = share, name
    uses = Counter(name for _, name in matches.values())
    return {path: share / (1 + math.log(uses[name])) for path, (share, name) in matches.items()}


def _named_parts(search_query: SearchQuery) -> tuple[dict[_Parts, float], dict[_Parts, float]]:
    """Return the parts of file and module names in the query, each with its share of the whole name.

    Every suffix of a path names a file, and every slice of at least two parts of a dotted name names a module.
    """
    suffixes: dict[_Parts, float] = {}
    for path in search_query.mentioned_paths:
        parts = tuple(part for part in path.lower().split("/") if part not in ("", ".", ".."))
        for start in range(len(parts)):
            suffix = parts[start:]
            suffixes[suffix] = max(suffixes.get(suffix, 0.0), len(suffix) / len(parts))
    modules: dict[_Parts, float] = {}
    for dotted in search_query.dotted_names:
        parts = tuple(part.lower() for part in dotted)
        for start in range(len(parts)):
            for end in range(start + 2, len(parts) + 1):
                module = parts[start:end]
                modules[module] = max(modules.get(module, 0.0), DOTTED_MATCH_WEIGHT * len(module) / len(parts))
    return suffixes, modules


def _name_match(
    path: str, suffixes: Mapping[_Parts, float], modules: Mapping[_Parts, float], last_parts: set[str]
) -> tuple[float, _Parts]:
    """Return the largest share of a name that ``path`` (lowercase) matches, and the matching parts."""
    parts = tuple(path.split("/"))
    stem = parts[-1].partition(".")[0]
    package = parts[:-1] if stem in terms.PACKAGE_STEMS else ()
    if not (parts[-1] in last_parts or stem in last_parts or (package and package[-1] in last_parts)):
        return 0.0, ()
    best: tuple[float, _Parts] = (0.0, ())
    for start in range(len(parts)):
        for names, table in ((parts, suffixes), ((*parts[:-1], stem), modules), (package, modules)):
            share = table.get(names[start:], 0.0)
            if share > best[0]:
                best = share, names[start:]
    return best
