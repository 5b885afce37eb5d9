"""Histories kept on disk, each for the commit that it leads up to, and in memory while the process lives.

Law: a history holds nothing that its commit does not reach. One that is damaged, of another version or of
another branch is read anew from git; a failure to keep one costs nothing but time.
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

from ...core.ports import Cancellation
from ..local.command import NEVER
from ..local.git_root import RootInfo, find_root
from . import storage
from .history import Commit, History
from .history_read import READ_SECONDS, current_commit, is_ancestor, is_commit_id, read_commits

VERSION = 2
KEPT_FILES = 4
"""Histories on disk of one repository: its worktrees stand on different commits."""

KEPT_IN_MEMORY = 3
PATTERN = "history-*.json"


class HistoryStore:
    """The histories of all repositories, below ``state_home``; None keeps them in memory only."""

    def __init__(self, state_home: Path | None) -> None:
        self._state_home = state_home
        self._known: OrderedDict[tuple[str, str], History] = OrderedDict()
        self._lock = Lock()

    def ready(self, root: str) -> History | None:
        """The history of the present commit, if this process has it; never reads more than HEAD."""
        info = find_root(root)
        return self._known.get((info.common_dir, current_commit(info))) if info.worktree else None

    def get(self, root: str, cancelled: Cancellation = NEVER, seconds: float = READ_SECONDS) -> History | None:
        """The history up to HEAD of ``root``: from memory, from disk, or from git; None when there is none."""
        info = find_root(root)
        head = current_commit(info) if info.worktree else ""
        if not head:
            return None
        key = (info.common_dir, head)
        known = self._known.get(key)
        if known:
            return known
        deadline = monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            return None
        try:
            known = self._known.get(key)
            if known is None and not cancelled.is_set():
                known = self._load(info, head, cancelled, deadline)
                if known:
                    self._known[key] = known
                    while len(self._known) > KEPT_IN_MEMORY:
                        self._known.popitem(last=False)
        finally:
            self._lock.release()
        return known

    def _load(self, info: RootInfo, head: str, cancelled: Cancellation, deadline: float) -> History | None:
        folder = storage.folder_of(self._state_home, info, info.worktree) if self._state_home else None
        older, commits = _nearest(folder, info, head, cancelled) if folder else ("", ())
        if older == head:
            return History(commits)
        new = read_commits(info, head, older, cancelled, max(deadline - monotonic(), 0.05))
        if new is None:
            return None
        history = History((*new, *commits))
        if folder:
            with contextlib.suppress(OSError):
                storage.write(folder / f"history-{head}.json", encode(head, history.commits))
                storage.sweep(folder, PATTERN, KEPT_FILES)
        return history


class Opening:
    """A history that is being read, beside the question that wants it.

    What comes too late for one question is there for the next: only the library's end stops the reading.
    """

    def __init__(self, histories: HistoryStore, root: str, closed: Event) -> None:
        self._history = histories.ready(root)
        self._thread: Thread | None = None
        if self._history is None:
            self._thread = Thread(target=self._read, args=(histories, root, closed), daemon=True)
            self._thread.start()

    def result(self, deadline: float) -> History | None:
        """The history; None when there is none by ``deadline`` (``monotonic``)."""
        if self._thread:
            self._thread.join(max(deadline - monotonic(), 0.0))
        return self._history

    def _read(self, histories: HistoryStore, root: str, closed: Event) -> None:
        self._history = histories.get(root, closed)


def prefix_of(root: str) -> str:
    """What git's paths have before those below ``root`` (real): empty at the top of a working tree."""
    inside = os.path.relpath(root, find_root(root).worktree or root)
    return "" if inside == "." else inside + "/"


def _nearest(folder: Path, info: RootInfo, head: str, cancelled: Cancellation) -> tuple[str, tuple[Commit, ...]]:
    """The kept history of ``head``, or else of the last one kept that ``head`` reaches; with its commit's id."""
    files = storage.latest(folder, PATTERN)
    for path in sorted(files, key=lambda path: head not in path.name):
        data = storage.read(path)
        found = decode(data) if data else None
        if found and (found[0] == head or is_ancestor(info, found[0], head, cancelled)):
            return found
    return "", ()


def encode(head: str, commits: tuple[Commit, ...]) -> bytes:
    """``commits`` up to ``head`` as JSON; every path and term is written once."""
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


def decode(data: bytes) -> tuple[str, tuple[Commit, ...]] | None:
    """What ``encode`` wrote: the id and the commits up to it; None for anything else."""
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
                tuple([terms[at] for at in its_terms]),
                tuple([paths[at] for at in its_files]),
                tuple([(paths[old], paths[new]) for old, new in renamed]),
            )
            for name, time, fix, its_terms, its_files, renamed in value["commits"]
        )
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    return value["head"], commits
