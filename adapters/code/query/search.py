"""``ci_search``: retrieve candidates, extract their features, add evidence from history, rank.

Invariant: the same tree, history and query give the same answer. ``truncated`` says that time ran out; a history that
is not ready in time is left out.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace
from itertools import compress
from time import monotonic
from typing import Any

from upbeat.adapters.code.concurrency import raise_if_cancelled
from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.code.history.commit_history import HistoryLoader, path_prefix
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.query.excerpt import build_findings, printable_path
from upbeat.adapters.code.query.first_look import collect_evidence
from upbeat.adapters.code.query.named import NamedMention, find_named_mentions, find_overview, put_named_first
from upbeat.adapters.code.query.parse_query import BASIC_ROLES, SearchQuery, parse_search_query, without_regex
from upbeat.adapters.code.query.posting_source import IndexSource, PostingSource, WorkingTreeSource
from upbeat.adapters.code.query.rank import NO_STATISTICS, CorpusStatistics, RankedFile, rank_candidates
from upbeat.adapters.code.query.retrieval import RetrievalResult, retrieve
from upbeat.adapters.system.git.commands import list_files
from upbeat.adapters.system.git.root import find_root
from upbeat.adapters.system.journal.faults import StorageError
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.engine.ports import Cancellation
from upbeat.core.prompt.gate import log_odds

MAX_LISTED_LARGE = 10
LIST_SECONDS = 1.0
MAX_SMALL_TREE = 5
"""Source files of a tree that are all shown when a prompt about it has none of their words."""

SMALL_TREE_MATCH = 0.01
"""How completely such a prompt names them (0..1)."""

MAX_HISTORY_CANDIDATES = 20
"""Sources that become candidates only because of the history."""


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
    prior: float | None = None,
) -> ToolOutput:
    """Return the ``limit`` files of ``root`` that answer ``query`` best, found in about ``seconds``.

    With an ``index_manager`` the index is used if there is one, and the history of the repository counts. With a
    ``prior`` (log odds that the query is about code) the search ends after a first look if that finds nothing worth
    saying (``core.prompt.gate``); ``data["gate"]`` is the decision.

    Raises:
        ToolFailure: The search was cancelled.
    """
    deadline = monotonic() + seconds
    query = without_regex(query)
    search_query = parse_search_query(query, files, symbols)
    history_loader = HistoryLoader(index_manager.histories, root, index_manager.closed) if index_manager else None
    if history_loader and prior is None:
        history_loader.start()
    mentions = find_named_mentions(query, files, symbols)
    search = _Search(root, query, search_query, mentions, prior, history_loader, cancelled, deadline)
    result = _search_index(search, index_manager) if index_manager else None
    if result is None:
        note = "not indexed yet" if index_manager and index_manager.is_enabled else ""
        result = _search_tree(search, cache, note)
    if not result.gate.get("speaks", True):
        return ToolOutput(f"nothing in {result.retrieval.scanned_count} files answers this", (), {"gate": result.gate})
    return _build_output(search, result, limit)


def _build_output(search: _Search, result: _SearchResult, limit: int) -> ToolOutput:
    """Return the best ``limit`` files of ``result`` with their lines, and what was searched."""
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
        **({"gate": result.gate} if result.gate else {}),
        "vcs": result.vcs,
        "commits": result.commits,
        "candidates": [{"file": printable_path(file.features.path), "score": file.score} for file in best],
        "files": len(source.paths),
        "scanned": retrieval.scanned_count,
        "bytes": retrieval.byte_count,
        "skipped": {reason.value: count for reason, count in sorted(source.tree.skipped.items())},
        "large": [{"path": printable_path(path), "size": size} for path, size in large[:MAX_LISTED_LARGE]],
    }
    notes = (result.note, search.history_loader.problem if search.history_loader else "")
    note = "".join(f"; {text}" for text in notes if text)
    names = ", ".join(printable_path(file.features.path) for file in best[:3])
    summary = (
        f"{len(best)} files of {retrieval.scanned_count} searched, first {names}{note}"
        if best
        else f"nothing in {retrieval.scanned_count} files matches the query{note}"
    )
    findings = (*build_findings(best, search.query, result.corpus), *oversized)
    return ToolOutput(summary, findings, data, truncated=source.is_truncated)


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: the query, what it names, and how long it may take."""

    root: str
    text: str
    query: SearchQuery
    mentions: list[NamedMention]
    prior: float | None
    history_loader: HistoryLoader | None
    cancelled: Cancellation
    deadline: float


@dataclass(slots=True)
class _SearchResult:
    """The ranked files, best first; ``note`` is what the user should know about the answer.

    ``gate`` is the decision after the first look; empty if nobody asked for one.
    """

    source: PostingSource
    retrieval: RetrievalResult
    files: list[RankedFile]
    corpus: CorpusStatistics
    commits: int
    vcs: str = "git"
    note: str = ""
    gate: dict[str, Any] = field(default_factory=dict)

    def with_line_terms(self, limit: int) -> list[RankedFile]:
        """Return the first ``limit`` files with the lines of their hits, without those that are gone by now."""
        shown = []
        for file in self.files[:limit]:
            features, extractor = file.features, self.source.extractor
            text = self.source.read_text(features.path)
            if text is None:
                continue
            if len(text) == features.document.length:
                extractor.add_line_terms(features, text)
            else:  # the file has changed meanwhile
                features = extractor.extract(features.path, text)
            shown.append(replace(file, features=features))
        return shown


def _search_tree(search: _Search, cache: SourceCache, note: str) -> _SearchResult:
    """Search the files themselves, as far as time allows."""
    listing = list_files(search.root, search.cancelled, LIST_SECONDS)
    raise_if_cancelled(search.cancelled)
    tree = WorkingTree(search.root, cache)
    source = WorkingTreeSource(tree, listing.files, search.query, search.cancelled, search.deadline)
    source.is_truncated = listing.is_truncated
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
        index_manager.request_update(search.root)
    for path in result.retrieval.name_matches:
        if not view.table.is_indexed(path):
            tree.file_stamp(path)  # records a named file that is too large
    result.note = "the index is behind the files" if view.is_behind else ""
    result.vcs = "git" if find_root(search.root).worktree else "none"
    return result


def _search_source(search: _Search, source: PostingSource) -> _SearchResult:
    retrieval = retrieve(source, search.query, search.cancelled)
    overview = find_overview(source, search.text)
    gate = _decide_gate(search, source, retrieval, bool(overview))
    if not gate.get("speaks", True):
        return _SearchResult(source, retrieval, [], NO_STATISTICS, 0, gate=gate)
    if search.history_loader:  # a prompt that gets nothing reads no history
        search.history_loader.start()
    if gate and not retrieval.candidates:
        retrieval.candidates = _list_small_tree(source)
        retrieval.name_matches |= dict.fromkeys(retrieval.candidates, SMALL_TREE_MATCH)
    history = search.history_loader.result(search.deadline) if search.history_loader else None
    signals = history.compute_signals(search.query, path_prefix(search.root)) if history else {}
    add_history_candidates(retrieval, signals, source.paths)
    files, corpus = rank_candidates(source, search.query, retrieval, signals, search.cancelled)
    mentions = [*search.mentions, NamedMention(overview, True, lines=(1, 1))] if overview else search.mentions
    files = put_named_first(source, mentions, search.query.wanted_roles, files)
    return _SearchResult(source, retrieval, files, corpus, len(history.commits) if history else 0, gate=gate)


def _list_small_tree(source: PostingSource) -> list[str]:
    """Return all source files if there are few: a prompt about them may have none of their words."""
    group = source.group(BASIC_ROLES)
    return list(compress(group.paths, group.members)) if group.file_count <= MAX_SMALL_TREE else []


def _decide_gate(
    search: _Search, source: PostingSource, retrieval: RetrievalResult, has_overview: bool
) -> dict[str, Any]:
    """Return whether the first look found something worth saying, as data; empty without a prior."""
    if search.prior is None:
        return {}
    odds = round(log_odds(search.prior, collect_evidence(source, search.text, search.query, retrieval)), 2)
    return {"speaks": odds >= 0 or has_overview, "log_odds": odds}


def add_history_candidates(
    retrieval: RetrievalResult, history_signals: dict[str, dict[str, float]], listed: Container[str]
) -> None:
    """Add the sources that the commits most similar to the query touched."""
    known = set(retrieval.candidates)
    others = [path for path in history_signals if path not in known and path in listed]
    sources = [path for path in others if classify_file(path).role is FileRole.SOURCE]
    chosen: dict[str, None] = {}
    for name in ("history_similar", "history_title_similar"):
        order = sorted(sources, key=lambda path: (-history_signals[path].get(name, 0.0), path))
        chosen |= dict.fromkeys(
            path for path in order[: MAX_HISTORY_CANDIDATES // 2] if history_signals[path].get(name)
        )
    retrieval.candidates += chosen
