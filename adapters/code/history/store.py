"""Stores commit histories on disk, each for its newest commit, and caches them in memory.

Invariant: a history has only commits that its newest commit reaches. One that is damaged, or of another version or
branch, is read again from git; a failure to store one costs nothing but time.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import OrderedDict
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from upbeat.adapters.code.history.evidence import Commit, CommitHistory
from upbeat.adapters.code.history.git_log import (
    HISTORY_SECONDS,
    current_commit,
    is_ancestor,
    is_commit_id,
    read_commits,
)
from upbeat.adapters.code.index import storage
from upbeat.adapters.system.git.root import RootInfo, find_root
from upbeat.adapters.system.process.run import NEVER_CANCELLED
from upbeat.core.engine.ports import Cancellation

VERSION = 2
MAX_STORED_HISTORIES = 4
"""Histories on disk for one repository, whose worktrees can be at different commits."""

MAX_CACHED_HISTORIES = 3
HISTORY_GLOB = "history-*.json"


class HistoryStore:
    """The histories of all repositories, below ``state_home``; with None they are in memory only."""

    def __init__(self, state_home: Path | None) -> None:
        self._state_home = state_home
        self._histories: OrderedDict[tuple[str, str], CommitHistory] = OrderedDict()
        self._lock = Lock()

    def get_cached(self, root: str) -> CommitHistory | None:
        """Return the history of the current commit, if it is in memory; reads only HEAD."""
        info = find_root(root)
        return self._histories.get((info.common_dir, current_commit(info))) if info.worktree else None

    def get(
        self, root: str, cancelled: Cancellation = NEVER_CANCELLED, seconds: float = HISTORY_SECONDS
    ) -> CommitHistory | None:
        """Return the history up to HEAD of ``root``: from memory, disk or git; None when there is none."""
        info = find_root(root)
        head = current_commit(info) if info.worktree else ""
        if not head:
            return None
        key = (info.common_dir, head)
        known = self._histories.get(key)
        if known:
            return known
        deadline = monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            return None
        try:
            known = self._histories.get(key)
            if known is None and not cancelled.is_set():
                known = self._load(info, head, cancelled, deadline)
                if known:
                    self._histories[key] = known
                    while len(self._histories) > MAX_CACHED_HISTORIES:
                        self._histories.popitem(last=False)
        finally:
            self._lock.release()
        return known

    def _load(self, info: RootInfo, head: str, cancelled: Cancellation, deadline: float) -> CommitHistory | None:
        folder = storage.repository_folder(self._state_home, info, info.worktree) if self._state_home else None
        older, commits = _nearest_stored_history(folder, info, head, cancelled) if folder else ("", ())
        if older == head:
            return CommitHistory(commits)
        new = read_commits(info, head, older, cancelled, max(deadline - monotonic(), 0.05))
        if new is None:
            return None
        history = CommitHistory((*new, *commits))
        if folder:
            with contextlib.suppress(OSError):
                storage.store_blob(folder / f"history-{head}.json", encode_commits(head, history.commits))
                storage.remove_oldest(folder, HISTORY_GLOB, MAX_STORED_HISTORIES)
        return history


class HistoryLoader:
    """Reads a history in the background.

    A history that is too late for one question is ready for the next; only ``closed`` stops the reading.
    """

    def __init__(self, histories: HistoryStore, root: str, closed: Event) -> None:
        self._history = histories.get_cached(root)
        self._thread: Thread | None = None
        if self._history is None:
            self._thread = Thread(target=self._read, args=(histories, root, closed), daemon=True)
            self._thread.start()

    def result(self, deadline: float) -> CommitHistory | None:
        """Return the history; None when there is none by ``deadline`` (``monotonic``)."""
        if self._thread:
            self._thread.join(max(deadline - monotonic(), 0.0))
        return self._history

    def _read(self, histories: HistoryStore, root: str, closed: Event) -> None:
        self._history = histories.get(root, closed)


def path_prefix(root: str) -> str:
    """Return the prefix of git's paths below ``root`` (a real path); empty at the top of a working tree."""
    inside = os.path.relpath(root, find_root(root).worktree or root)
    return "" if inside == "." else inside + "/"


def _nearest_stored_history(
    folder: Path, info: RootInfo, head: str, cancelled: Cancellation
) -> tuple[str, tuple[Commit, ...]]:
    """Return the stored history of ``head``, or of the newest stored commit that ``head`` reaches, with its id."""
    files = storage.newest_files(folder, HISTORY_GLOB)
    for path in sorted(files, key=lambda path: head not in path.name):
        data = storage.load_blob(path)
        stored = decode_commits(data) if data else None
        if stored and (stored[0] == head or is_ancestor(info, stored[0], head, cancelled)):
            return stored
    return "", ()


def encode_commits(head: str, commits: tuple[Commit, ...]) -> bytes:
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


def decode_commits(data: bytes) -> tuple[str, tuple[Commit, ...]] | None:
    """Decode what ``encode_commits`` encoded: the id and the commits up to it; None for anything else."""
    try:
        value: Any = json.loads(data)
        if value["version"] != VERSION or not is_commit_id(value["head"]):
            return None
        paths, terms = value["paths"], value["terms"]
        commits = tuple(
            Commit(
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
