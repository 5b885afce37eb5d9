"""``ci_search``: find candidates, look at them closely, ask the past, order.

Law: the same tree, history and question give the same answer, from the index or from the files. What time did
not allow is said (``truncated``); a history that is not there in time is left out, and that is said too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any

from ...core.contract.finding import Finding, ToolOutput
from ...core.ports import Cancellation
from ..local.git import list_files
from ..local.git_root import find_root
from ..local.journal_trouble import StorageError
from . import rank
from .excerpt import Ranked, findings, shown
from .features import Corpus, Profile, Reader, measure, measure_closely, rarity_of_literals, survey
from .history_store import Opening, prefix_of
from .index_search import Looked, look_up, profiles_of
from .kinds import Role
from .library import Library
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

CLOSELY = 24
"""Candidates whose definitions and lines are looked at: those that lead as wholes. Of 305 cases none that was
answered at all had its answer further behind among them than the fifteenth place."""

PAST_CANDIDATES = 20
"""Sources that only the past speaks for."""

ASKED_ASIDE = 0.03
"""Tests and documentation that are asked for still come a little behind the sources that they are about."""


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
    best = _with_lines(look.files[:limit], look)
    rows = findings(best, question, look.corpus) + _named_large(look.tree, look.found)
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
    """What was found and how: ``files`` has the best, best first; ``note`` says what a reader should know of that."""

    mode: str
    tree: Tree
    found: Scan
    files: list[Ranked]
    corpus: Corpus
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
    files, corpus = order(profiles, question, found, past, lambda _: None, cancelled)
    return _Look(
        "scan",
        tree,
        found,
        files,
        corpus,
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
            store = view.store
            found = look_up(store, view.table, question, cancelled)
            history = opening.result(deadline) if opening else None
            past = history.signals(question, prefix_of(root)) if history else {}
            add_past_candidates(found, past, view.table.at)
            looked = profiles_of(store, view.table, tree, found, question, cancelled, view.fresh)
            complete = partial(looked.complete, store=store, tree=tree)
            files, corpus = order(looked.profiles, question, found, past, complete, cancelled)
    except (StorageError, ValueError, OSError):
        return None
    if looked.stale:
        library.build_soon(root)
    for path in found.named:
        tree.stamp(path)  # counts a named file that is too large to be read
    commits = len(history.commits) if history else 0
    vcs = "git" if find_root(root).worktree else "none"
    note = "the index is behind the files" if view.is_behind else ""
    return _Look("index", tree, found, files, corpus, commits, vcs, False, note, looked)


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


def order(
    profiles: list[Profile],
    question: Question,
    found: Scan,
    past: Mapping[str, dict[str, float]],
    complete: Callable[[list[Profile]], None],
    cancelled: Cancellation,
) -> tuple[list[Ranked], Corpus]:
    """The best of ``profiles``, best first, by the weighted sum of their numbers, and what they have in common.

    All are compared as wholes; of the ``CLOSELY`` best, which ``complete`` is called for, definitions and lines count.
    """
    corpus = survey(profiles, question, found.idf, found.scanned)
    rows: list[dict[str, float]] = []
    for profile in profiles:
        check(cancelled)
        row = measure(profile, question, corpus, found.named.get(profile.path, 0.0))
        rows.append(row | past.get(profile.path, {}))
    _scale(profiles, question, found.named, rows, has_past=bool(past))
    weights = rank.WEIGHTS_WITH_PAST if past else rank.WEIGHTS
    totals = {profile.path: rank.total(row, weights) for profile, row in zip(profiles, rows, strict=True)}
    best = sorted(profiles, key=lambda profile: (-totals[profile.path], profile.path))[:CLOSELY]
    check(cancelled)
    complete(best)
    literals = rarity_of_literals(best, len(profiles))
    close = [measure_closely(profile, corpus, literals) for profile in best]
    rank.scale(close)
    for profile, row in zip(best, close, strict=True):
        totals[profile.path] += rank.total(row, weights)
    best.sort(key=lambda profile: (-totals[profile.path], profile.path))
    shares = rank.as_shares([totals[profile.path] for profile in best])
    ranked = [Ranked(one, share, found.named.get(one.path, 0.0)) for one, share in zip(best, shares, strict=True)]
    return ranked, corpus


def _scale(
    profiles: list[Profile],
    question: Question,
    named: dict[str, float],
    rows: list[dict[str, float]],
    *,
    has_past: bool,
) -> None:
    """Make the numbers of whole files comparable, and add what the paths say."""
    paths = [profile.path for profile in profiles]
    rank.scale(rows)
    rank.add_siblings(paths, rows)
    languages = Counter(kind.language for path in paths if (kind := kind_of_cached(path)).role is Role.SOURCE)
    main_language = languages.most_common(1)[0][0] if languages else ""
    for path, row in zip(paths, rows, strict=True):
        kind = kind_of_cached(path)
        rank.add_flags(path, kind, main_language, _aside(path, kind.role, question, named), row)
    if has_past:
        rank.damp_past(rows, question.length)


def _aside(path: str, role: Role, question: Question, named: dict[str, float]) -> float:
    """How far a file is put behind the sources: 0 not at all, 1 wholly."""
    if role in (Role.SOURCE, Role.CONFIG):
        return 0.0
    if named.get(path, 0.0) >= 1.0 and any(
        meant.endswith(path) or path.endswith(meant) for meant in question.meant_paths
    ):
        return 0.0
    return ASKED_ASIDE if question.asks_for(role) else 1.0


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
