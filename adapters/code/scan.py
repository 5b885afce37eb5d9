"""The first pass over a whole tree: which files deserve a careful look.

Law: only counting of plain bytes, nothing that is slow in Python; it may favour too many files and must miss
few. Tests, documentation and the like are read when they are asked for, or when the sources say too little.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from time import monotonic

from ...core.contract.codes import ErrorCode
from ...core.errors import ToolFailure
from ...core.ports import Cancellation
from .kinds import Role, kind_of
from .question import Question
from .tree import Source, Tree
from .words import split_name, terms_of

LEAST_NUMBER = 3
"""Digits of a number that tells names apart."""

MAX_FILES = 20_000
MAX_BYTES = 300_000_000
MAX_COUNTED = 26
MAX_COUNTED_LATER = 8
MAX_REMEMBERED = 48
"""Counts kept with one file, for the next question."""

SAMPLE = 160
CHECK_EVERY = 32
CANDIDATES = 60
LATER_CANDIDATES = 20
POOR_COVERAGE = 0.4
"""Of the weight of all terms: when no source file has more than that, the other files are read too."""

NAME_LIKENESS = 0.5
NAME_FACTOR = 2.5
PATH_FACTOR = 1.5
K1 = 1.2
B = 0.6

PACKAGE_FILES = ("__init__", "index", "mod")
"""Files that are called by their folder's name, without their extensions."""

kind_of_cached = lru_cache(maxsize=32768)(kind_of)


@dataclass(slots=True)
class Scan:
    """What the first pass found: ``candidates`` best first, ``idf`` of what was counted, sizes for people."""

    candidates: list[tuple[str, float]]
    idf: dict[str, float]
    files: int = 0
    scanned: int = 0
    bytes: int = 0
    truncated: bool = False
    named: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counted:
    """A string to count, its weight, and whether a file is poorer for not having it."""

    needle: bytes
    key: str
    weight: float
    is_name: bool = False


def scan(tree: Tree, files: Sequence[str], question: Question, cancelled: Cancellation, deadline: float) -> Scan:
    """Rank ``files`` roughly. Raises ``ToolFailure`` (timeout) when cancelled; at ``deadline`` it ranks what it has."""
    first, later = _by_importance(files, question)
    result = Scan([], {}, files=len(files))
    result.named = named_paths(files, question)
    counted = needles_of(question)
    sources = _read(tree, first, cancelled, deadline, result)
    chosen = _choose(sources, counted, MAX_COUNTED)
    scores, best_cover = _score(sources, chosen, question, result, cancelled, deadline)
    ranked = top(scores, CANDIDATES)
    if later and not result.truncated and says_too_little(ranked, best_cover):
        more = _read(tree, later, cancelled, deadline, result)
        few = _choose(more, chosen, MAX_COUNTED_LATER)
        scores, _ = _score(more, few, question, result, cancelled, deadline)
        ranked += top(scores, LATER_CANDIDATES if ranked else CANDIDATES)
    result.candidates = with_named(ranked, result.named)
    return result


def says_too_little(ranked: Sequence[tuple[str, float]], best_cover: float) -> bool:
    """Whether the files that were looked at first do not answer, so that the others are looked at too."""
    return len(ranked) < LATER_CANDIDATES or best_cover < POOR_COVERAGE


def with_named(ranked: list[tuple[str, float]], named: dict[str, float]) -> list[tuple[str, float]]:
    """``ranked`` and behind it the files that the query names and that are not in it."""
    known = {path for path, _ in ranked}
    others = sorted((path for path in named if path not in known), key=lambda path: -named[path])
    return ranked + [(path, 0.0) for path in others[:LATER_CANDIDATES]]


def check(cancelled: Cancellation) -> None:
    """Raise the timeout failure once ``cancelled`` is set."""
    if cancelled.is_set():
        raise ToolFailure(ErrorCode.TIMEOUT, "the search was stopped before it had an answer")


def named_paths(files: Iterable[str], question: Question) -> dict[str, float]:
    """The files that the query names, by path, by file name or by dotted name, with how completely (0..1).

    A name that many files have says less of each.
    """
    wanted = _tails(question)
    modules = _modules(question)
    if not wanted and not modules:
        return {}
    last_parts = _last_parts(wanted, modules)
    found: dict[str, float] = {}
    shared: Counter[tuple[str, ...]] = Counter()
    keys: dict[str, tuple[str, ...]] = {}
    for path in files:
        degree, key = _degree(path.lower(), wanted, modules, last_parts)
        if degree:
            found[path], keys[path] = degree, key
            shared[key] += 1
    return {path: degree / (1 + math.log(shared[keys[path]])) for path, degree in found.items()}


def names_of(path: str) -> set[str]:
    """The names by which a query may call the file at ``path``: of these it has to have one (``names_asked``)."""
    parts = path.lower().split("/")
    bare = parts[-1].partition(".")[0]
    names = {parts[-1], bare}
    return names | {parts[-2]} if len(parts) > 1 and bare in PACKAGE_FILES else names


def names_asked(question: Question) -> set[str]:
    """The names of files and modules in the query."""
    return _last_parts(_tails(question), _modules(question))


def _last_parts(*tables: dict[tuple[str, ...], float]) -> set[str]:
    return {parts[-1] for table in tables for parts in table}


def _tails(question: Question) -> dict[tuple[str, ...], float]:
    """The ends of every path of the query, with how much of the path each is."""
    tails: dict[tuple[str, ...], float] = {}
    for path in question.paths:
        parts = tuple(part for part in path.lower().split("/") if part not in ("", ".", ".."))
        for start in range(len(parts)):
            kept = parts[start:]
            tails[kept] = max(tails.get(kept, 0.0), len(kept) / len(parts))
    return tails


def _modules(question: Question) -> dict[tuple[str, ...], float]:
    """The stretches of every dotted name, with how much of the name each is."""
    modules: dict[tuple[str, ...], float] = {}
    for dotted in question.dotted:
        parts = tuple(part.lower() for part in dotted)
        for start in range(len(parts)):
            for end in range(start + 2, len(parts) + 1):
                kept = parts[start:end]
                modules[kept] = max(modules.get(kept, 0.0), 0.9 * len(kept) / len(parts))
    return modules


def _degree(
    path: str,
    wanted: dict[tuple[str, ...], float],
    modules: dict[tuple[str, ...], float],
    last_parts: set[str],
) -> tuple[float, tuple[str, ...]]:
    """How completely ``path`` (lower-case) is named, and by which parts."""
    parts = tuple(path.split("/"))
    bare = parts[-1].partition(".")[0]
    package = parts[:-1] if bare in PACKAGE_FILES else ()
    if not (parts[-1] in last_parts or bare in last_parts or (package and package[-1] in last_parts)):
        return 0.0, ()
    best: tuple[float, tuple[str, ...]] = (0.0, ())
    module = (*parts[:-1], bare)
    for start in range(len(parts)):
        for names, table in ((parts, wanted), (module, modules), (package, modules)):
            degree = table.get(names[start:], 0.0)
            if degree > best[0]:
                best = degree, names[start:]
    return best


def first_roles(question: Question) -> set[Role]:
    """What a file is for if it is looked at before the others."""
    wanted = {Role.SOURCE, Role.CONFIG}
    if question.wants_tests:
        wanted.add(Role.TEST)
    if question.wants_docs:
        wanted.add(Role.DOCS)
    return wanted


def _by_importance(files: Sequence[str], question: Question) -> tuple[list[str], list[str]]:
    """The files to read at once, and those to read when these do not answer. Data is in neither."""
    wanted = first_roles(question)
    first: list[str] = []
    later: list[str] = []
    for path in files:
        role = kind_of_cached(path).role
        if role in wanted:
            first.append(path)
        elif role is not Role.DATA:
            later.append(path)
    first.sort(key=lambda path: path.count("/") // 6)
    return first[:MAX_FILES], later[:MAX_FILES]


def _read(tree: Tree, files: Iterable[str], cancelled: Cancellation, deadline: float, result: Scan) -> list[Source]:
    sources: list[Source] = []
    for number, path in enumerate(files):
        if number % CHECK_EVERY == 0:
            check(cancelled)
            if result.bytes > MAX_BYTES or (monotonic() > deadline and sources):
                result.truncated = True
                break
        source = tree.source(path)
        if source:
            sources.append(source)
            result.bytes += len(source.lowered)
    result.scanned += len(sources)
    return sources


def needles_of(question: Question) -> list[Counted]:
    """What could be counted: terms long enough to mean something, and names that look like code."""
    found = [Counted(term.encode(), term, weight) for term, weight in question.terms.items() if is_telling(term)]
    for name, likeness in question.names.items():
        lower = name.lower()
        if likeness >= NAME_LIKENESS and (len(terms_of(name)) > 1 or _has_number(name)):
            found.append(Counted(lower.encode(), lower, likeness * NAME_FACTOR, is_name=True))
    return found


def _has_number(name: str) -> bool:
    """Whether a number tells ``name`` from its likes, as in handler_0149; that of utf8 belongs to the word."""
    parts = split_name(name)
    return len(parts) > 1 and any(part.isdigit() and len(part) >= LEAST_NUMBER for part in parts)


def is_telling(term: str) -> bool:
    return len(term) > 2 or not term.isascii()


def _choose(sources: Sequence[Source], counted: Sequence[Counted], most: int) -> list[Counted]:
    """The ``most`` strings that tell files apart best, judged by a sample of the files."""
    if len(counted) <= most or not sources:
        return list(counted)
    sample = sources[:: max(1, len(sources) // SAMPLE)]
    worth = {}
    for needle in counted:
        frequency = sum([needle.needle in source.lowered for source in sample])
        worth[needle.key] = needle.weight * idf_of(len(sample), frequency)
    order = {needle.key: number for number, needle in enumerate(counted)}
    return sorted(counted, key=lambda needle: (-worth[needle.key], order[needle.key]))[:most]


def _score(
    sources: Sequence[Source],
    chosen: Sequence[Counted],
    question: Question,
    result: Scan,
    cancelled: Cancellation,
    deadline: float,
) -> tuple[dict[str, float], float]:
    """A rough BM25 of every source with any hit, and the best share of the terms' weight in one file."""
    average = sum(len(source.lowered) for source in sources) / (len(sources) or 1) or 1.0
    norms = [K1 * (1 - B + B * min(len(source.lowered) / average, 8.0)) for source in sources]
    totals = [0.0] * len(sources)
    cover = [0.0] * len(sources)
    everything = 0.0
    for needle in chosen:
        check(cancelled)
        if monotonic() > deadline + 0.2:
            result.truncated = True
            break
        counts = _counts(sources, needle.needle, cancelled)
        idf = idf_of(len(sources), len(sources) - counts.count(0))
        result.idf.setdefault(needle.key, idf)
        gain = needle.weight * idf
        everything += gain
        for at, count in enumerate(counts):
            if count:
                totals[at] += gain * count * (K1 + 1) / (count + norms[at])
                cover[at] += gain
    scores = {}
    for at, source in enumerate(sources):
        bonus = sum([question.terms.get(term, 0.0) * result.idf.get(term, 1.0) for term in path_terms(source.path)])
        if totals[at] or bonus:
            scores[source.path] = totals[at] + PATH_FACTOR * bonus
    return scores, max(cover, default=0.0) / (everything or 1.0)


def _counts(sources: Sequence[Source], needle: bytes, cancelled: Cancellation) -> list[int]:
    """How often ``needle`` occurs in each source; remembered with the source."""
    counts = []
    for number, source in enumerate(sources):
        if number % 1024 == 0:
            check(cancelled)
        count = source.counts.get(needle)
        if count is None:
            if len(source.counts) >= MAX_REMEMBERED:
                source.counts.clear()
            count = source.counts[needle] = source.lowered.count(needle)
        counts.append(count)
    return counts


@lru_cache(maxsize=32768)
def path_terms(path: str) -> tuple[str, ...]:
    """The terms of all parts of a path, each once."""
    return tuple(dict.fromkeys(term for part in path.split("/") for term in terms_of(part.partition(".")[0])))


def idf_of(total: int, frequency: int) -> float:
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def top(scores: dict[str, float], most: int) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:most]
