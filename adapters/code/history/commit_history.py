"""What git history says about files: which ones the commits most similar to a query touched, and how active each is.

Invariant: the same commits and query always give the same signals; age is counted in commits, not from a clock. A
history has only commits that its newest commit reaches, and is stored on disk for that commit. One that is damaged, or
of another version or branch, is read again from git; a failure to store one costs nothing but time.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from upbeat.adapters.code.concurrency import LruCache
from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.history import git_log
from upbeat.adapters.code.index.store import ensure_private_folder, repository_folder
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.terms import inverse_document_frequency
from upbeat.adapters.system.files import atomic
from upbeat.adapters.system.git.root import RootInfo, find_root, foreign_objects, read_head
from upbeat.adapters.system.process.run import NEVER_CANCELLED
from upbeat.core.engine.ports import Cancellation

MAX_SIMILAR_COMMITS = 100
HALF_LIFE_COMMITS = 50
"""Number of commits after which a change counts half."""

FIX_SHARE_PRIOR = 3.0
"""Added to the number of a file's changes before its share of fixes is computed, so that one fix is not 100 %."""

MESSAGE_K1 = 1.2
TYPICAL_COMMITS_PER_FILE = 5.0
MAX_COMMITS_RATIO = 6.0
"""Times the typical number beyond which more commits do not count."""

MAX_MESSAGE_LENGTH_RATIO = 4.0
"""Times the average length beyond which a message's length no longer counts."""

VERSION = 2
MAX_STORED_HISTORIES = 4
"""Histories on disk for one repository, whose worktrees can be at different commits."""

MAX_CACHED_HISTORIES = 3
HISTORY_GLOB = "history-*.json"
MAX_READ_BYTES = 64_000_000


class CommitHistory:
    """The commits up to one, the latest first, with indexes by term and by file; a position counts commits."""

    def __init__(self, commits: Iterable[git_log.Commit]) -> None:
        self.commits = tuple(sorted(commits, key=lambda commit: (-commit.time, commit.id)))[: git_log.MAX_COMMITS]
        self.files_by_commit: list[tuple[str, ...]] = []
        """The files of each commit under their present names."""
        self.commits_by_term: dict[str, list[int]] = defaultdict(list)
        self.commits_by_file: dict[str, list[int]] = defaultdict(list)
        moved: dict[str, str] = {}
        for position, commit in enumerate(self.commits):
            for old, new in commit.renamed:
                moved[old] = moved.get(new, new)
            files = tuple(dict.fromkeys(moved.get(path, path) for path in commit.files))
            self.files_by_commit.append(files)
            for path in files:
                self.commits_by_file[path].append(position)
            for term in commit.terms:
                self.commits_by_term[term].append(position)
        average = sum(len(commit.terms) for commit in self.commits) / (len(self.commits) or 1) or 1.0
        self._norms = [
            math.sqrt(0.4 + 0.6 * min(len(commit.terms) / average, MAX_MESSAGE_LENGTH_RATIO)) for commit in self.commits
        ]
        source_counts = (
            sum(classify_file(path).role is FileRole.SOURCE for path in files) for files in self.files_by_commit
        )
        self._shares = [1.0 / math.sqrt(max(1, count)) for count in source_counts]
        self._lengths = {
            path: sum(self._shares[position] for position in positions)
            for path, positions in self.commits_by_file.items()
        }
        self._activity = {
            path: {
                "history_recency": 1.0 / (1.0 + positions[0] / HALF_LIFE_COMMITS),
                "history_changes": math.log1p(len(positions)),
                "history_fixes": sum(self.commits[position].is_fix for position in positions)
                / (len(positions) + FIX_SHARE_PRIOR),
            }
            for path, positions in self.commits_by_file.items()
        }
        """How recently and how often each file changed, and its share of fixes."""

    def similar_commits(self, weights: Mapping[str, float]) -> list[tuple[int, float]]:
        """Return the commits whose messages match ``weights`` best, each with a similarity (0..about 1.5)."""
        size = len(self.commits)
        gains: dict[int, float] = defaultdict(float)
        total = 0.0
        for term, weight in weights.items():
            positions = self.commits_by_term.get(term, ())
            gain = weight * inverse_document_frequency(size, len(positions))
            total += gain
            for position in positions:
                gains[position] += gain
        similar = [(position, gain / self._norms[position] / (total or 1.0)) for position, gain in gains.items()]
        return sorted(similar, key=lambda item: (-item[1], item[0]))[:MAX_SIMILAR_COMMITS]

    def compute_signals(self, search_query: SearchQuery, prefix: str = "") -> dict[str, dict[str, float]]:
        """Return the history signals of each file below ``prefix``, by its path without the prefix.

        See ``rank.WEIGHTS_WITH_HISTORY`` for their weights.
        """
        signals: dict[str, dict[str, float]] = {path: dict(row) for path, row in self._activity.items()}
        for name, weights in (("history", search_query.terms), ("history_title", search_query.title_terms)):
            for rank, (position, similarity) in enumerate(self.similar_commits(weights), 1):
                for path in self.files_by_commit[position]:
                    row = signals[path]
                    row[f"{name}_similar"] = max(row.get(f"{name}_similar", 0.0), similarity * self._shares[position])
                    if name == "history":
                        row["history_first"] = max(row.get("history_first", 0.0), 1.0 / rank)
        for path, score in self._message_scores(search_query.terms).items():
            signals[path]["history_messages"] = score
        return {path[len(prefix) :]: row for path, row in signals.items() if path.startswith(prefix)}

    def _message_scores(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Return how well the messages about each file, taken as one text, answer ``weights``."""
        gains_by_path: dict[str, list[tuple[float, float]]] = defaultdict(list)
        size = len(self.commits_by_file)
        for term, weight in weights.items():
            amounts: dict[str, float] = defaultdict(float)
            for position in self.commits_by_term.get(term, ()):
                for path in self.files_by_commit[position]:
                    amounts[path] += self._shares[position]
            gain = weight * inverse_document_frequency(size, len(amounts))
            for path, amount in amounts.items():
                gains_by_path[path].append((gain, amount))
        scores: dict[str, float] = {}
        for path, gains in gains_by_path.items():
            norm = MESSAGE_K1 * (0.3 + 0.7 * min(self._lengths[path] / TYPICAL_COMMITS_PER_FILE, MAX_COMMITS_RATIO))
            scores[path] = sum(gain * amount * (MESSAGE_K1 + 1) / (amount + norm) for gain, amount in gains)
        return scores


class HistoryStore:
    """The histories of all repositories, below ``state_home``; with None they are in memory only."""

    def __init__(self, state_home: Path | None, object_stores: Callable[[], tuple[str, ...]] = tuple) -> None:
        """``object_stores`` returns the folders whose objects a repository may borrow; see ``foreign_objects``."""
        self._state_home = state_home
        self._object_stores = object_stores
        self._histories: LruCache[tuple[str, str], CommitHistory] = LruCache(MAX_CACHED_HISTORIES)
        self._lock = Lock()

    def get_cached(self, root: str) -> CommitHistory | None:
        """Return the history of the current commit, if it is in memory; reads only HEAD."""
        info = find_root(root)
        return self._histories.get((info.common_dir, _current_commit(info))) if info.worktree else None

    def get(self, root: str, cancelled: Cancellation = NEVER_CANCELLED) -> CommitHistory | None:
        """Return the history up to HEAD of ``root``: from memory, disk or git; None when there is none."""
        info = find_root(root)
        head = _current_commit(info) if info.worktree else ""
        if not head:
            return None
        key = (info.common_dir, head)
        known = self._histories.get(key)
        if known:
            return known
        deadline = monotonic() + git_log.HISTORY_SECONDS
        if not self._lock.acquire(timeout=git_log.HISTORY_SECONDS):
            return None
        try:
            known = self._histories.get(key)
            if known is None and not cancelled.is_set():
                known = self._load(info, head, cancelled, deadline)
                if known:
                    self._histories.put(key, known, 1)
        finally:
            self._lock.release()
        return known

    def problem(self, root: str) -> str:
        """Return why the history of ``root`` must not be read, and how to allow it; empty if it may."""
        info = find_root(root)
        folder = foreign_objects(info, self._object_stores()) if info.worktree else ""
        if not folder:
            return ""
        return f"no history: the repository borrows the objects in {folder}; add that folder to index.object_stores"

    def _load(self, info: RootInfo, head: str, cancelled: Cancellation, deadline: float) -> CommitHistory | None:
        folder = repository_folder(self._state_home, info, info.worktree) if self._state_home else None
        stores = self._object_stores()
        older, commits = _nearest_stored_history(folder, info, head, cancelled, stores) if folder else ("", ())
        if older == head:
            return CommitHistory(commits)
        seconds = max(deadline - monotonic(), 0.05)
        new = git_log.read_commits(info, head, older, cancelled, seconds, stores)
        if new is None:
            return None
        history = CommitHistory((*new, *commits))
        if folder:
            with contextlib.suppress(OSError):
                store_blob(folder / f"history-{head}.json", encode_commits(head, history.commits))
                for path in _newest_files(folder)[MAX_STORED_HISTORIES:]:
                    path.unlink(missing_ok=True)
        return history


class HistoryLoader:
    """Reads a history in the background, from ``start`` on.

    A history that is too late for one question is ready for the next; only ``closed`` stops the reading.
    """

    def __init__(self, histories: HistoryStore, root: str, closed: Event) -> None:
        self._history = histories.get_cached(root)
        self.problem = "" if self._history else histories.problem(root)
        self._arguments = histories, root, closed
        self._thread: Thread | None = None

    def start(self) -> None:
        """Start to read, unless the history is known or being read."""
        if self._thread is None and self._history is None and not self.problem:
            self._thread = Thread(target=self._read, args=self._arguments, daemon=True)
            self._thread.start()

    def result(self, deadline: float) -> CommitHistory | None:
        """Return the history; None when there is none by ``deadline`` (``monotonic``)."""
        if self._thread:
            self._thread.join(max(deadline - monotonic(), 0.0))
        return self._history

    def _read(self, histories: HistoryStore, root: str, closed: Event) -> None:
        self._history = histories.get(root, closed)


def _current_commit(info: RootInfo) -> str:
    """Return the commit id of HEAD; empty if there is none. Starts no process."""
    head = read_head(info)
    return head if git_log.COMMIT_ID.fullmatch(head) else ""


def path_prefix(root: str) -> str:
    """Return the prefix of git's paths below ``root`` (a real path); empty at the top of a working tree."""
    inside = os.path.relpath(root, find_root(root).worktree or root)
    return "" if inside == "." else inside + "/"


def _nearest_stored_history(
    folder: Path, info: RootInfo, head: str, cancelled: Cancellation, stores: tuple[str, ...]
) -> tuple[str, tuple[git_log.Commit, ...]]:
    """Return the stored history of ``head``, or of the newest stored commit that ``head`` reaches, with its id."""
    for path in sorted(_newest_files(folder), key=lambda path: head not in path.name):
        data = load_blob(path)
        stored = decode_commits(data) if data else None
        if stored and (stored[0] == head or git_log.is_ancestor(info, stored[0], head, cancelled, stores)):
            return stored
    return "", ()


def encode_commits(head: str, commits: tuple[git_log.Commit, ...]) -> bytes:
    """Encode ``commits`` up to ``head`` as JSON; every path and term is written once."""
    paths: dict[str, int] = {}
    terms: dict[str, int] = {}

    def number(table: dict[str, int], values: tuple[str, ...]) -> list[int]:
        return [table.setdefault(value, len(table)) for value in values]

    rows = [
        [
            commit.id,
            commit.time,
            int(commit.is_fix),
            number(terms, commit.terms),
            number(paths, commit.files),
            [number(paths, pair) for pair in commit.renamed],
        ]
        for commit in commits
    ]
    return json.dumps(
        {"version": VERSION, "head": head, "paths": [*paths], "terms": [*terms], "commits": rows}
    ).encode()


def decode_commits(data: bytes) -> tuple[str, tuple[git_log.Commit, ...]] | None:
    """Decode what ``encode_commits`` encoded: the id and the commits up to it; None for anything else."""
    try:
        value: Any = json.loads(data)
        if value["version"] != VERSION or not git_log.COMMIT_ID.fullmatch(value["head"]):
            return None
        paths, terms = value["paths"], value["terms"]
        commits = tuple(
            git_log.Commit(
                name,
                time,
                bool(fix),
                tuple([terms[index] for index in term_indexes]),
                tuple([paths[index] for index in path_indexes]),
                tuple([(paths[old], paths[new]) for old, new in renamed]),
            )
            for name, time, fix, term_indexes, path_indexes, renamed in value["commits"]
        )
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    return value["head"], commits


def store_blob(path: Path, data: bytes) -> None:
    """Replace ``path`` with ``data``, compressed, which includes a checksum. Raises OSError."""
    ensure_private_folder(path.parent)
    atomic.write_file(path, zlib.compress(data, 1), is_private=True, is_durable=False)


def load_blob(path: Path) -> bytes | None:
    """Return what ``store_blob`` wrote; None for anything else."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            data = file.read(MAX_READ_BYTES) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
        unpack = zlib.decompressobj()
        content = unpack.decompress(data, MAX_READ_BYTES)
    except (OSError, zlib.error):
        return None
    return content if unpack.eof and not unpack.unused_data else None


def _newest_files(folder: Path) -> list[Path]:
    """Return the stored histories in ``folder``, the newest first."""
    files = []
    for path in folder.glob(HISTORY_GLOB):
        with contextlib.suppress(OSError):
            files.append((-path.lstat().st_mtime_ns, path))
    return [path for _, path in sorted(files)]
