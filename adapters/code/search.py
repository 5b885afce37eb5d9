"""``ci_search``: find candidates, look at them closely, ask the past, order.

Law: the same tree, history and question give the same answer, from the index or from the files. What time did
not allow is said (``truncated``); a history that is not there in time is left out, and that is said too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from ...core.contract.finding import Finding, ToolOutput
from ...core.ports import Cancellation
from ..local.git import find_root, list_files
from ..local.journal_trouble import StorageError
from . import rank
from .excerpt import Ranked, findings, shown
from .features import Profile, Reader, measure, survey
from .history_store import prefix_of
from .index_search import Looked, look_up, profiles_of
from .kinds import Role
from .library import Library, Opening
from .question import Question, read_question
from .scan import Scan, check, kind_of_cached, scan
from .tree import SourceCache, Tree

MAX_LISTED_LARGE = 10
LIST_SECONDS = 1.0
LOOK_SECONDS = 0.4
"""After the deadline of the first pass, for the careful look."""

LOOK_CHARS = 6_000_000
LEAST_LATE_LOOKS = 10
LEAST_LOOKS = 30
"""Candidates that are looked at however long they are; beyond them, until ``LOOK_CHARS`` are read."""

PAST_CANDIDATES = 20
"""Sources that only the past speaks for."""

ASKED_ASIDE = 0.03
"""Tests and documentation that are asked for still come a little behind the sources that they are about."""


@dataclass(frozen=True, slots=True)
class Order:
    """The answer before it is cut: profiles with their scaled numbers, best first."""

    files: list[Ranked]
    rows: list[dict[str, float]]


def search(
    root: str,
    query: str,
    limit: int,
    files: tuple[str, ...],
    symbols: tuple[str, ...],
    cache: SourceCache,
    cancelled: Cancellation,
    seconds: float,
    library: Library | None = None,
) -> ToolOutput:
    """The ``limit`` files of ``root`` that answer ``query`` best. Looks no longer than about ``seconds``.

    With a ``library`` its index is asked, if there is one, and the history of the repository has its say.
    """
    deadline = monotonic() + seconds
    question = read_question(query, files, symbols)
    opening = library.open_history(root) if library else None
    look = _look_in_index(root, question, library, opening, cancelled, deadline) if library else None
    if look is None:
        look = _look_in_tree(root, question, Tree(root, cache), opening, cancelled, deadline)
        look.note = "not indexed yet" if library and library.keeps_indexes else ""
    corpus = survey(look.profiles, question, look.found.idf, look.found.scanned)
    numbers: list[dict[str, float]] = []
    for profile in look.profiles:
        check(cancelled)
        row = measure(profile, question, corpus, look.found.named.get(profile.path, 0.0))
        numbers.append(row | look.past.get(profile.path, {}))
    order = arrange(look.profiles, question, look.found.named, numbers, len(query) if look.past else None)
    best = _with_lines(order.files[:limit], look)
    rows = findings(best, question, corpus) + _named_large(look.tree, look.found)
    data = {
        "mode": look.mode,
        "vcs": look.vcs,
        "commits": look.commits,
        "candidates": [{"file": shown(file.profile.path), "score": file.score} for file in best],
        **_coverage(look),
    }
    return ToolOutput(_summary(best, look), rows, data, truncated=look.truncated)


@dataclass(slots=True)
class _Look:
    """What was looked at closely, and how it was found. ``note`` says what a reader should know of that."""

    mode: str
    tree: Tree
    found: Scan
    profiles: list[Profile]
    past: dict[str, dict[str, float]]
    commits: int
    vcs: str
    truncated: bool
    note: str = ""
    looked: Looked | None = None


def _look_in_tree(
    root: str, question: Question, tree: Tree, opening: Opening | None, cancelled: Cancellation, deadline: float
) -> _Look:
    """Read the files themselves, as far as time goes."""
    listing = list_files(root, cancelled, LIST_SECONDS)
    check(cancelled)
    found = scan(tree, listing.files, question, cancelled, deadline)
    history = opening.result(deadline) if opening else None
    past = history.signals(question, prefix_of(root)) if history else {}
    add_past_candidates(found, past, set(listing.files))
    profiles = _profiles(tree, found, question, cancelled, deadline)
    return _Look(
        "scan",
        tree,
        found,
        profiles,
        past,
        len(history.commits) if history else 0,
        "git" if listing.by_git else "none",
        found.truncated or listing.truncated,
    )


def _look_in_index(
    root: str, question: Question, library: Library, opening: Opening | None, cancelled: Cancellation, deadline: float
) -> _Look | None:
    """Ask the index; None when there is none, or it fails."""
    tree = Tree(root, SourceCache(0))
    try:
        with library.view(root) as view:
            if view is None:
                return None
            found = look_up(view.store, view.table, question, cancelled)
            history = opening.result(deadline) if opening else None
            past = history.signals(question, prefix_of(root)) if history else {}
            add_past_candidates(found, past, view.table.at)
            looked = profiles_of(view.store, view.table, tree, found, question, cancelled, view.fresh)
    except (StorageError, ValueError, OSError):
        return None
    if looked.stale:
        library.build_soon(root)
    for path in found.named:
        tree.stamp(path)  # counts a named file that is too large to be read
    commits = len(history.commits) if history else 0
    vcs = "git" if find_root(root).worktree else "none"
    note = "the index is behind the files" if view.is_behind else ""
    return _Look("index", tree, found, looked.profiles, past, commits, vcs, False, note, looked)


def _with_lines(best: list[Ranked], look: _Look) -> list[Ranked]:
    """``best`` with the lines of those that come from the index; what is gone meanwhile is left out."""
    if look.looked is None:
        return best
    profiles = [look.looked.with_lines(file.profile, look.tree) for file in best]
    return [replace(file, profile=profile) for file, profile in zip(best, profiles, strict=True) if profile]


def add_past_candidates(found: Scan, past: dict[str, dict[str, float]], listed: Container[str]) -> None:
    """Let the sources be looked at that the commits most like the question touched, though their words say little."""
    known = {path for path, _ in found.candidates}
    others = [path for path in past if path not in known and path in listed]
    liked = [path for path in others if kind_of_cached(path).role is Role.SOURCE]
    chosen: dict[str, None] = {}
    for name in ("past_like", "past_title_like"):
        order = sorted(liked, key=lambda path: (-past[path].get(name, 0.0), path))
        chosen |= dict.fromkeys(path for path in order[: PAST_CANDIDATES // 2] if past[path].get(name))
    found.candidates += [(path, 0.0) for path in chosen]


def arrange(
    profiles: list[Profile],
    question: Question,
    named: dict[str, float],
    rows: list[dict[str, float]],
    query_length: int | None = None,
) -> Order:
    """Order ``profiles`` by the weighted sum of their ``rows``, which are scaled in place.

    ``query_length`` is given when the rows hold the past.
    """
    paths = [profile.path for profile in profiles]
    rank.scale(rows)
    rank.add_siblings(paths, rows)
    languages = Counter(kind.language for path in paths if (kind := kind_of_cached(path)).role is Role.SOURCE)
    main_language = languages.most_common(1)[0][0] if languages else ""
    for path, row in zip(paths, rows, strict=True):
        kind = kind_of_cached(path)
        rank.add_flags(path, kind, main_language, _aside(path, kind.role, question, named), row)
    weights = rank.WEIGHTS if query_length is None else rank.WEIGHTS_WITH_PAST
    if query_length is not None:
        rank.damp_past(rows, query_length)
    totals = [rank.total(row, weights) for row in rows]
    places = sorted(range(len(rows)), key=lambda at: (-totals[at], paths[at]))
    shares = rank.as_shares([totals[at] for at in places])
    ranked = [Ranked(profiles[at], share, named.get(paths[at], 0.0)) for at, share in zip(places, shares, strict=True)]
    return Order(ranked, [rows[at] for at in places])


def _aside(path: str, role: Role, question: Question, named: dict[str, float]) -> float:
    """How far a file is put behind the sources: 0 not at all, 1 wholly."""
    if role in (Role.SOURCE, Role.CONFIG):
        return 0.0
    if named.get(path, 0.0) >= 1.0 and any(
        meant.endswith(path) or path.endswith(meant) for meant in question.meant_paths
    ):
        return 0.0
    is_asked = (role is Role.TEST and question.wants_tests) or (role is Role.DOCS and question.wants_docs)
    return ASKED_ASIDE if is_asked else 1.0


def _profiles(tree: Tree, found: Scan, question: Question, cancelled: Cancellation, deadline: float) -> list[Profile]:
    """A careful look at each candidate, those that the query names first, as far as time and size go."""
    reader = Reader(question)
    profiles: list[Profile] = []
    seen = 0
    for path, _ in sorted(found.candidates, key=lambda candidate: found.named.get(candidate[0], 0.0) < 0.5):
        check(cancelled)
        if monotonic() > deadline + LOOK_SECONDS and len(profiles) >= LEAST_LATE_LOOKS:
            found.truncated = True
            break
        if seen > LOOK_CHARS and len(profiles) >= LEAST_LOOKS:
            break
        text = tree.text(path)
        if text is not None:
            profiles.append(reader.profile(path, text))
            seen += len(text)
    return profiles


def _named_large(tree: Tree, found: Scan) -> tuple[Finding, ...]:
    """Rows for files that the query names and that are too large to be read."""
    return tuple(
        Finding(shown(path), title=f"{size} bytes, not read", kind="file", score=0.1, why="named in the query")
        for path, size in dict(tree.large).items()
        if path in found.named
    )


def _coverage(look: _Look) -> dict[str, Any]:
    """How much of the tree the answer rests on."""
    large = sorted(dict(look.tree.large).items())[:MAX_LISTED_LARGE]
    return {
        "files": look.found.files,
        "scanned": look.found.scanned,
        "bytes": look.found.bytes,
        "skipped": {reason.value: count for reason, count in sorted(look.tree.skipped.items())},
        "large": [{"path": shown(path), "size": size} for path, size in large],
    }


def _summary(best: list[Ranked], look: _Look) -> str:
    note = f"; {look.note}" if look.note else ""
    if not best:
        return f"nothing in {look.found.scanned} files matches the query{note}"
    names = ", ".join(shown(file.profile.path) for file in best[:3])
    return f"{len(best)} files of {look.found.scanned} searched, first {names}{note}"
