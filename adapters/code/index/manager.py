"""Manages the histories and indexes of repositories from one question to the next.

Invariant: a question never waits for a missing index; it is answered without, and the index is built in the
background, at a low priority and with a limited time. A failure to store anything costs time and never an answer.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Event, Lock, RLock, Thread, get_native_id
from time import monotonic, sleep

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.files.tree import SourceCache, WorkingTree, listing_stamps
from upbeat.adapters.code.history.commit_history import HistoryStore
from upbeat.adapters.code.index import build as index_build
from upbeat.adapters.code.index import store as index_store
from upbeat.adapters.code.index.file_table import FileTable
from upbeat.adapters.code.index.store import FileEntry, IndexStore, TreeState, open_existing
from upbeat.adapters.system.git.root import find_root
from upbeat.adapters.system.journal.faults import StorageError, StorageErrorKind

BUILD_SECONDS = 240.0
"""Total time of one process for building in the background."""

UPDATE_SECONDS = 2.0
"""Additional time for each update of a complete index, so that updates never stop."""

MAX_EAGER_FILES = 8000
"""Size of a tree up to which it is listed again before a question is answered, when files were added or deleted."""

EAGER_UPDATE_SECONDS = 0.4
FILES_PER_CHECK = 4000
"""Files that are checked for changes with each question; a larger tree is checked in turns."""

RECHECK_SECONDS = 1.0
"""A session's process checks a tree for changes once in this time; files that an answer shows are always checked."""

MAX_UNPARSED = 60
"""Unparsed files up to which the index is used for graph tools; they are parsed on demand."""

MAX_UNPARSED_TOTAL = 5000
"""Unparsed documents of all trees up to which those of this tree are counted."""

GC_FREEZE_FILES = 500
"""Files of a tree from which on garbage collection would slow down a question noticeably."""

FOLDERS_PER_CHECK = 2000
"""Folders that are checked for added and deleted files with each question."""

MAX_CACHED_TABLES = 3
MAX_YIELD_SECONDS = 0.5
"""Longest time that the builder waits at one file for questions."""

CLOSE_SECONDS = 0.1
NICENESS = 10


@dataclass(frozen=True, slots=True)
class IndexLimits:
    """The user's limits for the index."""

    is_enabled: bool = True
    max_mb: int = 512
    object_stores: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexView:
    """An index that can answer a question.

    Attributes:
        is_behind: Whether files may have been added or deleted since.
        verified: Positions of files that were just checked and are unchanged.
        unparsed_docs: The few documents whose files are not parsed yet; only for ``open_parsed_view``.
    """

    store: IndexStore
    table: FileTable
    is_behind: bool = False
    verified: range = range(0)
    unparsed_docs: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class IndexState:
    """State of one tree's index: off, none, building, partial, ready or too_large; ``table`` only when it is ready."""

    state: str
    files: int = 0
    indexed: int = 0
    bytes: int = 0
    problem: str = ""
    table: FileTable | None = None


class IndexManager:
    """Histories and indexes below ``state_home``; without it, histories are in memory and there is no index."""

    def __init__(
        self,
        state_home: Path | None,
        limits: Callable[[], IndexLimits] = IndexLimits,
        *,
        can_build: bool = True,
        recheck_seconds: float = 0.0,
    ) -> None:
        """``limits`` is called once, with the first question; a check for changes holds for ``recheck_seconds``."""
        self._recheck_seconds = recheck_seconds
        self.histories = HistoryStore(state_home, lambda: self._limits().object_stores)
        self._state_home = state_home
        self._can_build = can_build
        self._limits = lru_cache(maxsize=1)(limits)
        self.closed = Event()
        """Set by ``close``."""
        self._active_queries = 0
        self._build_seconds_left = BUILD_SECONDS
        self._builders: dict[str, Thread] = {}
        self._abandoned_roots: set[str] = set()
        self._build_requests: dict[str, int] = {}
        self._problems: dict[str, str] = {}
        self._stores: dict[Path, IndexStore] = {}
        self._tables: OrderedDict[str, tuple[IndexStore, int, FileTable]] = OrderedDict()
        self._next_checks: dict[tuple[str, str], int] = {}
        """Where the next check of a root's files, and of its folders, begins."""
        self._checks: dict[str, tuple[float, bool]] = {}
        self._spare_stores: list[IndexStore] = []
        self._read_lock = RLock()
        self._lock = Lock()

    @property
    def is_enabled(self) -> bool:
        """Whether the index is enabled and has a place on disk."""
        return self._state_home is not None and self._limits().is_enabled

    @contextlib.contextmanager
    def open_view(self, root: str) -> Iterator[IndexView | None]:
        """Yield the updated index of the tree at ``root`` (a real path); None, and a build, if it is not complete.

        A StorageError or ValueError in the block marks the index as damaged, so that it is rebuilt.

        Raises:
            OSError: The index cannot be used.
            StorageError: The index cannot be read.
        """
        folder = self._folder(root)
        if folder is None:
            yield None
            return
        with self._during_query(root), self._read_lock:
            view = self._updated_view(folder, root, self._recheck_seconds)
            with view.store.database.snapshot() if view else contextlib.nullcontext():
                yield view

    @contextlib.contextmanager
    def open_parsed_view(self, root: str) -> Iterator[IndexView | None]:
        """Yield the same index with the parses of its files; None when too many are missing.

        Files that were checked less than ``RECHECK_SECONDS`` ago are not checked again. Blocks no other question.
        """
        folder = self._folder(root)
        if folder is None:
            yield None
            return
        with self._during_query(root):
            with self._read_lock:
                view = self._updated_view(folder, root, RECHECK_SECONDS)
                store = self._separate_store(view.store) if view else None
            if view is None or store is None:
                yield None
                return
            try:
                with store.database.snapshot():
                    waiting = store.list_unparsed(MAX_UNPARSED_TOTAL)
                    unparsed = [doc for doc in waiting if doc in view.table.positions_by_doc]
                    is_ready = len(waiting) < MAX_UNPARSED_TOTAL and len(unparsed) <= MAX_UNPARSED
                    if not is_ready:
                        self.request_update(root)
                    yield replace(view, store=store, unparsed_docs=unparsed) if is_ready else None
            finally:
                self._spare_stores.append(store)

    @contextlib.contextmanager
    def _during_query(self, root: str) -> Iterator[None]:
        """Make the builder wait during the block, and rebuild the index when the block shows that it is damaged."""
        with self._lock:
            self._active_queries += 1
        try:
            yield
        except (StorageError, ValueError) as error:
            if isinstance(error, UnicodeEncodeError):
                raise  # a lone surrogate in the question; the index is fine
            self._problems[root] = str(error)
            if not isinstance(error, StorageError) or error.kind is StorageErrorKind.DAMAGED:
                self.delete_index(root)
                self.request_update(root)
            raise
        finally:
            with self._lock:
                self._active_queries -= 1

    def _separate_store(self, store: IndexStore) -> IndexStore | None:
        """Return another connection to the index of ``store`` that is not in use."""
        for _ in range(len(self._spare_stores)):
            spare = self._spare_stores.pop()
            if spare.database.identity == store.database.identity:
                return spare
            spare.close()
        other = open_existing(store.folder)
        if other and other.database.identity != store.database.identity:
            other.close()
            return None
        if other:
            other.share_caches(store)
        return other

    def build(self, root: str, on_progress: index_build.ProgressCallback | None = None) -> index_build.UpdateResult:
        """Build or update the index of ``root`` now, without a time limit. Raises OSError and StorageError."""
        folder = self._folder(root)
        if folder is None:
            return index_build.UpdateResult(False, problem="the index is disabled")
        return index_build.update_index(
            folder,
            root,
            self.closed,
            max_bytes=self._max_bytes(),
            lock_seconds=MAX_YIELD_SECONDS,
            on_progress=on_progress,
        )

    def request_update(self, root: str) -> None:
        """Build or update the index of ``root`` in the background, unless that is disabled or time is used up."""
        if self._folder(root) is None:
            return
        with self._lock:
            if not self._can_build or self.closed.is_set() or root in self._abandoned_roots:
                return
            is_new = not self._build_requests.get(root)
            self._build_requests[root] = self._build_requests.get(root, 0) + 1
            if is_new:
                self._builders[root] = Thread(target=self._build_loop, args=(root,), daemon=True)
                self._builders[root].start()

    def forget_check(self, root: str) -> None:
        """Check the tree at ``root`` with the next question, because the client has just changed it."""
        self._checks.pop(root, None)

    def wait_for_build(self, root: str, seconds: float) -> None:
        """Wait until the background build of ``root`` ends, or ``seconds`` have passed."""
        thread = self._builders.get(root)
        if thread:
            thread.join(seconds)

    def delete_index(self, root: str) -> None:
        """Remove the index of the repository of ``root``, unless another process is writing it."""
        folder = self._folder(root)
        if folder is None:
            return
        with self._read_lock, contextlib.suppress(OSError):
            store = self._stores.pop(folder, None)
            if store:
                store.close()
            self._tables.clear()
            with index_store.exclusive_writer(folder) as may_write:
                if may_write:
                    index_store.remove_index(folder)

    def index_state(self, root: str) -> IndexState:
        """Return the state of the index of ``root``; updates nothing."""
        folder = self._folder(root)
        if folder is None:
            return IndexState("off")
        problem = self._problems.get(root, "")
        thread = self._builders.get(root)
        unfinished = "building" if thread and thread.is_alive() else ""
        try:
            with self._read_lock:
                opened = self._open_tree(folder, root)
                if opened is None:
                    return IndexState(unfinished or "none", problem=problem)
                store, tree = opened
                table = self._load_table(store, root, tree) if tree.is_complete else None
                counts = (*store.count_files(tree.id), store.size())
        except (StorageError, OSError) as error:
            return IndexState("none", problem=str(error))
        if tree.is_complete:
            name = "ready"
        elif tree.exceeded_limit is not None:
            name = "too_large"
        else:
            name = unfinished or "partial"
        return IndexState(name, *counts, problem, table)

    def close(self) -> None:
        """Stop reading and building; the next process continues."""
        self.closed.set()
        for thread in list(self._builders.values()):
            thread.join(MAX_YIELD_SECONDS)
        if not self._read_lock.acquire(timeout=CLOSE_SECONDS):
            return  # a late question is still reading; it ends with the process
        try:
            for store in self._stores.values():
                store.close()
            self._stores.clear()
            while self._spare_stores:
                self._spare_stores.pop().close()
        finally:
            self._read_lock.release()

    def _folder(self, root: str) -> Path | None:
        if self._state_home is None or not self._limits().is_enabled:
            return None
        return index_store.repository_folder(self._state_home, find_root(root), root)

    def _max_bytes(self) -> int:
        return self._limits().max_mb * 1_000_000

    def _open_tree(self, folder: Path, root: str) -> tuple[IndexStore, TreeState] | None:
        """Return the index in ``folder``, opened again when the file was replaced, and the state of the tree."""
        store = self._stores.get(folder)
        if store and not store.is_current():
            self._stores.pop(folder).close()
            store = None
        store = store or open_existing(folder)
        if store is None:
            return None
        self._stores[folder] = store
        tree = store.tree_state(root)
        return (store, tree) if tree else None

    def _updated_view(self, folder: Path, root: str, recheck_seconds: float) -> IndexView | None:
        """Return the index, updated unless it was checked in the last ``recheck_seconds``."""
        opened = self._open_tree(folder, root)
        if opened is None or not opened[1].is_complete:
            limit = opened[1].exceeded_limit if opened else None
            if limit is None or limit < self._max_bytes():
                self.request_update(root)
            return None
        store, tree = opened
        table = self._load_table(store, root, tree)
        checked_at, is_behind = self._checks.get(root, (-math.inf, False))
        if monotonic() - checked_at < recheck_seconds:
            return IndexView(store, table, is_behind)
        self._checks[root] = monotonic(), False
        is_small = len(table.entries) <= MAX_EAGER_FILES
        fresh = self._next_range("files", root, len(table.entries), FILES_PER_CHECK)
        changed = _find_changed_files(root, table.entries[fresh.start : fresh.stop])
        is_listed = is_listing_current(
            root, tree, lambda total: self._next_range("folders", root, total, FOLDERS_PER_CHECK)
        ) and not any(path.endswith(index_build.IGNORE_FILE) for path in changed)
        if is_listed and not changed:
            return IndexView(store, table, verified=fresh)
        if not is_small and not is_listed:
            self.request_update(root)
            self._checks[root] = monotonic(), True
            return IndexView(store, table, is_behind=True)
        done = index_build.update_index(
            folder,
            root,
            seconds=EAGER_UPDATE_SECONDS,
            max_bytes=self._max_bytes(),
            paths=changed if is_listed else (),
            should_parse=False,
        )
        if not done.is_complete:
            self.forget_check(root)
        updated = store.tree_state(root)
        if updated is None or not updated.is_complete:
            self.request_update(root)
            return None
        if done.files_read and index_build.needs_rebuild(store):
            self.request_update(root)
        return IndexView(store, self._load_table(store, root, updated), is_behind=not done.is_complete)

    def _load_table(self, store: IndexStore, root: str, tree: TreeState) -> FileTable:
        known_store, version, table = self._tables.get(root, (None, 0, None))
        if known_store is not store:
            table = None
        if table and version == tree.version:
            return table
        if table:
            changes = store.changed_entries(tree.id, version, len(table.entries))
            table = table.with_changes(changes) if changes is not None else None
        if table is None:
            table = FileTable(store.list_entries(tree.id))
            if len(table.entries) > GC_FREEZE_FILES:
                gc.freeze()
        self._tables[root] = (store, tree.version, table)
        self._tables.move_to_end(root)
        while len(self._tables) > MAX_CACHED_TABLES:
            self._tables.popitem(last=False)
        return table

    def _next_range(self, kind: str, root: str, total: int, maximum: int) -> range:
        """Return which of the ``total`` files or folders to check next: at most ``maximum``, all of them in turns."""
        start = self._next_checks.get((kind, root), 0)
        share = math.ceil(total / max(math.ceil(total / maximum), 1))  # the same number each time
        self._next_checks[kind, root] = start + share if start + share < total else 0
        return range(start, start + share)

    def _build_loop(self, root: str) -> None:
        """Update until there are no new requests."""
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, get_native_id(), NICENESS)  # of this thread alone, on Linux
        while True:
            wanted = self._build_requests[root]
            self._update_in_background(root)
            with self._lock:
                if wanted == self._build_requests[root] or self.closed.is_set() or root in self._abandoned_roots:
                    self._build_requests[root] = 0
                    return

    def _update_in_background(self, root: str) -> None:
        folder = self._folder(root)
        if folder is None:
            return
        started = monotonic()
        free = UPDATE_SECONDS if self._is_complete(folder, root) else 0.0
        try:
            seconds = max(self._build_seconds_left, 0.0) + free
            done = index_build.update_index(
                folder, root, _YieldingCancellation(self), seconds=seconds, max_bytes=self._max_bytes()
            )
            self._problems[root] = done.problem
        except (OSError, StorageError, ValueError) as error:
            self._problems[root] = str(error)
        finally:
            self._build_seconds_left -= max(monotonic() - started - free, 0.0)
            if self._build_seconds_left <= 0 and not self._is_complete(folder, root):
                self._abandoned_roots.add(root)

    def _is_complete(self, folder: Path, root: str) -> bool:
        with contextlib.suppress(StorageError, OSError), self._read_lock:
            opened = self._open_tree(folder, root)
            return opened is not None and opened[1].is_complete
        return False


class _YieldingCancellation:
    """Stops the builder when the manager is closed, and lets questions go first."""

    def __init__(self, manager: IndexManager) -> None:
        self._manager = manager

    def is_set(self) -> bool:
        until = monotonic() + MAX_YIELD_SECONDS
        while self._manager._active_queries and not self._manager.closed.is_set() and monotonic() < until:
            sleep(0.005)
        return self._manager.closed.is_set()


def is_listing_current(root: str, tree: TreeState, select: Callable[[int], range] = range) -> bool:
    """Return whether the folders and git's index show no added or deleted file since the tree was listed.

    ``select`` returns which folders to check, given their number; by default all are checked.
    """
    known = _parse_listing_state(tree.listing_state)
    if not known:
        return False
    selected = select(len(known["folders"]))
    folders = dict(islice(known["folders"].items(), selected.start, selected.stop))
    return listing_stamps(root, folders) == {"folders": folders, "git": known["git"]}


@lru_cache(maxsize=3)
def _parse_listing_state(text: str) -> dict[str, dict[str, int]] | None:
    try:
        return json.loads(text) or None
    except ValueError:
        return None


def _find_changed_files(root: str, entries: Iterable[FileEntry]) -> list[str]:
    """Return those of ``entries`` whose files have changed, are gone, or have become readable."""
    changed = []
    tree = WorkingTree(root, SourceCache(0))
    for entry in entries:
        if not entry.mtime_ns:
            if classify_file(entry.path).role is not FileRole.DATA and tree.file_stamp(entry.path):
                changed.append(entry.path)
            continue
        try:
            status = os.lstat(f"{root}/{entry.path}")
        except OSError:
            changed.append(entry.path)
            continue
        if (status.st_mtime_ns or 1) != entry.mtime_ns or status.st_size != entry.size:
            changed.append(entry.path)
    return changed
