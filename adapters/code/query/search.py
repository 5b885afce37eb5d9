"""``ci_search``: retrieve candidates, extract their features, add evidence from history, rank.

Invariant: the same tree, history and query give the same answer. ``truncated`` says that time ran out; a history that
is not ready in time is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any

from upbeat.adapters.code.cancellation import raise_if_cancelled
from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.code.history.store import HistoryLoader, path_prefix
from upbeat.adapters.code.index.document import StoredDocument, WordLines
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.query import rank
from upbeat.adapters.code.query.excerpt import RankedFile, build_findings, printable_path
from upbeat.adapters.code.query.features import FileFeatures
from upbeat.adapters.code.query.index_source import IndexSource
from upbeat.adapters.code.query.parse_query import SearchQuery, parse_search_query
from upbeat.adapters.code.query.posting_source import PostingSource
from upbeat.adapters.code.query.retrieval import RetrievalResult, retrieve
from upbeat.adapters.code.query.signals import (
    CorpusStatistics,
    compute_corpus_statistics,
    compute_detail_signals,
    compute_file_signals,
    compute_literal_idf,
)
from upbeat.adapters.code.query.working_tree_source import WorkingTreeSource
from upbeat.adapters.system.git.commands import list_files
from upbeat.adapters.system.git.root import find_root
from upbeat.adapters.system.journal.faults import StorageError
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.engine.ports import Cancellation

MAX_LISTED_LARGE = 10
LIST_SECONDS = 1.0
MAX_DETAILED_FILES = 24
"""Candidates whose definitions and lines count: the best ones as whole files. Of 305 cases with an answer, none had it
behind rank fifteen."""

MAX_HISTORY_CANDIDATES = 20
"""Sources that become candidates only because of the history."""

REQUESTED_ROLE_PENALTY = 0.03
"""Ranks requested tests and documentation slightly behind the sources that they are about."""


def search_code(
    root: str,
    query: str,
    limit: int,
    files: tuple[str, ...],
    symbols: tuple[str, ...],
    cache: SourceCache,
    cancelled: Cancellation,
    seconds: float,
    index_manager: IndexManager | None = None,
) -> ToolOutput:
    """Return the ``limit`` files of ``root`` that answer ``query`` best, found in about ``seconds``.

    With an ``index_manager`` the index is used if there is one, and the history of the repository counts.

    Raises:
        ToolFailure: The search was cancelled.
    """
    deadline = monotonic() + seconds
    search_query = parse_search_query(query, files, symbols)
    history_loader = index_manager.start_history_load(root) if index_manager else None
    search = _Search(root, search_query, history_loader, cancelled, deadline)
    result = _search_index(search, index_manager) if index_manager else None
    if result is None:
        note = "not indexed yet" if index_manager and index_manager.is_enabled else ""
        result = _search_tree(search, cache, note)
    best = result.with_line_terms(limit)
    source, retrieval = result.source, result.retrieval
    large = sorted(dict(source.tree.oversized).items())
    oversized = [
        Finding(printable_path(path), title=f"{size} bytes, not read", kind="file", score=0.1, why="named in the query")
        for path, size in dict(source.tree.oversized).items()
        if path in retrieval.name_matches
    ]
    data: dict[str, Any] = {
        "mode": source.mode,
        "vcs": result.vcs,
        "commits": result.commits,
        "candidates": [{"file": printable_path(file.features.path), "score": file.score} for file in best],
        "files": retrieval.file_count,
        "scanned": retrieval.scanned_count,
        "bytes": retrieval.byte_count,
        "skipped": {reason.value: count for reason, count in sorted(source.tree.skipped.items())},
        "large": [{"path": printable_path(path), "size": size} for path, size in large[:MAX_LISTED_LARGE]],
    }
    note = f"; {result.note}" if result.note else ""
    names = ", ".join(printable_path(file.features.path) for file in best[:3])
    summary = (
        f"{len(best)} files of {retrieval.scanned_count} searched, first {names}{note}"
        if best
        else f"nothing in {retrieval.scanned_count} files matches the query{note}"
    )
    findings = (*build_findings(best, search_query, result.corpus), *oversized)
    return ToolOutput(summary, findings, data, truncated=source.is_truncated)


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: the query, and how long it may take."""

    root: str
    query: SearchQuery
    history_loader: HistoryLoader | None
    cancelled: Cancellation
    deadline: float


@dataclass(slots=True)
class _SearchResult:
    """The ranked files, best first; ``note`` is what the user should know about the answer."""

    source: PostingSource
    retrieval: RetrievalResult
    candidates: Candidates
    files: list[RankedFile]
    corpus: CorpusStatistics
    commits: int
    vcs: str = "git"
    note: str = ""

    def with_line_terms(self, limit: int) -> list[RankedFile]:
        """Return the first ``limit`` files with the lines of their hits, without those that are gone by now."""
        files = [(file, self.candidates.add_line_terms(file.features)) for file in self.files[:limit]]
        return [replace(file, features=features) for file, features in files if features]


def _search_tree(search: _Search, cache: SourceCache, note: str) -> _SearchResult:
    """Search the files themselves, as far as time allows."""
    listing = list_files(search.root, search.cancelled, LIST_SECONDS)
    raise_if_cancelled(search.cancelled)
    source = WorkingTreeSource(
        WorkingTree(search.root, cache),
        listing.files,
        search.query,
        search.cancelled,
        search.deadline,
        is_truncated=listing.is_truncated,
    )
    result = _search_source(search, source)
    result.note, result.vcs = note, "git" if listing.is_from_git else "none"
    return result


def _search_index(search: _Search, index_manager: IndexManager) -> _SearchResult | None:
    """Search the index; None when there is none, or it fails."""
    tree = WorkingTree(search.root, SourceCache(0))
    try:
        with index_manager.open_view(search.root) as view:
            if view is None:
                return None
            result = _search_source(search, IndexSource(tree, view, search.query, search.cancelled))
    except (StorageError, ValueError, OSError):
        return None
    if result.source.stale_paths:
        index_manager.schedule_build(search.root)
    for path in result.retrieval.name_matches:
        tree.file_stamp(path)  # records a named file that is too large
    result.note = "the index is behind the files" if view.is_behind else ""
    result.vcs = "git" if find_root(search.root).worktree else "none"
    return result


def _search_source(search: _Search, source: PostingSource) -> _SearchResult:
    retrieval = retrieve(source, search.query, search.cancelled)
    history = search.history_loader.result(search.deadline) if search.history_loader else None
    signals = history.compute_signals(search.query, path_prefix(search.root)) if history else {}
    add_history_candidates(retrieval, signals, source.paths)
    candidates = Candidates(source, [path for path, _ in retrieval.candidates])
    files, corpus = rank_candidates(candidates, search.query, retrieval, signals, search.cancelled)
    return _SearchResult(source, retrieval, candidates, files, corpus, len(history.commits) if history else 0)


class Candidates:
    """The features of the candidates; details are added for those that rank well."""

    def __init__(self, source: PostingSource, paths: Sequence[str]) -> None:
        self._source = source
        self._lines: dict[str, WordLines] = {}
        self._documents: dict[str, StoredDocument] = dict(source.documents(paths))
        self.features = [source.extractor.extract_summary(path, document) for path, document in self._documents.items()]

    def add_details(self, features: Sequence[FileFeatures]) -> None:
        """Add definitions and lines. Call it only while the source is open."""
        self._lines.update(self._source.word_lines([file.path for file in features]))
        for file in features:
            path = file.path
            self._source.extractor.add_details(
                file, self._documents[path], self._lines[path], partial(self._source.read_text, path)
            )

    def add_line_terms(self, features: FileFeatures) -> FileFeatures | None:
        """Return ``features`` with the lines of the file and its hits; None when the file cannot be read any more."""
        path = features.path
        text = self._source.read_text(path)
        if text is None:
            return None
        if len(text) != features.length:  # the file has changed meanwhile
            return self._source.extractor.extract(path, text)
        features.outline.lines = text.split("\n")
        self._source.extractor.add_line_terms(features, self._documents[path], self._lines[path])
        return features


def add_history_candidates(
    retrieval: RetrievalResult, history_signals: dict[str, dict[str, float]], listed: Container[str]
) -> None:
    """Add the sources that the commits most similar to the query touched."""
    known = {path for path, _ in retrieval.candidates}
    others = [path for path in history_signals if path not in known and path in listed]
    sources = [path for path in others if classify_file(path).role is FileRole.SOURCE]
    chosen: dict[str, None] = {}
    for name in ("history_similar", "history_title_similar"):
        order = sorted(sources, key=lambda path: (-history_signals[path].get(name, 0.0), path))
        chosen |= dict.fromkeys(
            path for path in order[: MAX_HISTORY_CANDIDATES // 2] if history_signals[path].get(name)
        )
    retrieval.candidates += [(path, 0.0) for path in chosen]


def rank_candidates(
    candidates: Candidates,
    search_query: SearchQuery,
    retrieval: RetrievalResult,
    history_signals: Mapping[str, dict[str, float]],
    cancelled: Cancellation,
) -> tuple[list[RankedFile], CorpusStatistics]:
    """Return the best ``MAX_DETAILED_FILES`` candidates, best first, and the statistics over all of them.

    All are compared as whole files; for the best ones definitions and lines count too.
    """
    features = candidates.features
    corpus = compute_corpus_statistics(features, search_query, retrieval.idf, retrieval.scanned_count)
    rows: list[dict[str, float]] = []
    for file in features:
        raise_if_cancelled(cancelled)
        row = compute_file_signals(file, search_query, corpus, retrieval.name_matches.get(file.path, 0.0))
        rows.append(row | history_signals.get(file.path, {}))
    _scale_signals(features, search_query, retrieval.name_matches, rows, has_history=bool(history_signals))
    weights = rank.WEIGHTS_WITH_HISTORY if history_signals else rank.WEIGHTS
    totals = {file.path: rank.weighted_total(row, weights) for file, row in zip(features, rows, strict=True)}
    best = sorted(features, key=lambda file: (-totals[file.path], file.path))[:MAX_DETAILED_FILES]
    raise_if_cancelled(cancelled)
    candidates.add_details(best)
    literal_idf = compute_literal_idf(best, len(features))
    details = [compute_detail_signals(file, corpus, literal_idf) for file in best]
    rank.scale_columns(details)
    for file, row in zip(best, details, strict=True):
        totals[file.path] += rank.weighted_total(row, weights)
    best.sort(key=lambda file: (-totals[file.path], file.path))
    scores = rank.to_scores([totals[file.path] for file in best])
    return [
        RankedFile(file, score, retrieval.name_matches.get(file.path, 0.0))
        for file, score in zip(best, scores, strict=True)
    ], corpus


def _scale_signals(
    features: list[FileFeatures],
    search_query: SearchQuery,
    name_matches: dict[str, float],
    rows: list[dict[str, float]],
    *,
    has_history: bool,
) -> None:
    """Scale the signals of whole files, and add those of their paths."""
    paths = [file.path for file in features]
    rank.scale_columns(rows)
    rank.add_sibling_signal(paths, rows)
    languages = Counter(kind.language for path in paths if (kind := classify_file(path)).role is FileRole.SOURCE)
    main_language = languages.most_common(1)[0][0] if languages else ""
    for path, row in zip(paths, rows, strict=True):
        kind = classify_file(path)
        rank.add_path_signals(
            path, kind, main_language, _role_penalty(path, kind.role, search_query, name_matches), row
        )
    if has_history:
        rank.damp_history(rows, search_query.length)


def _role_penalty(path: str, role: FileRole, search_query: SearchQuery, name_matches: dict[str, float]) -> float:
    """Return how far a file ranks behind the sources: 0 not at all, 1 entirely."""
    if role in (FileRole.SOURCE, FileRole.CONFIG):
        return 0.0
    if name_matches.get(path, 0.0) >= 1.0 and any(
        meant.endswith(path) or path.endswith(meant) for meant in search_query.intended_paths
    ):
        return 0.0
    return REQUESTED_ROLE_PENALTY if search_query.wants_role(role) else 1.0
