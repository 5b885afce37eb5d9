"""What is kept of repositories from one question to the next: their histories and their indexes.

Law: a question never waits for an index that is not there: it is answered without, and the index is built behind
it, at a low priority, for so many seconds in all. What cannot be kept costs time and never an answer.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Event, Lock, RLock, Thread, get_native_id
from time import monotonic, sleep

from ..local.git_root import find_root
from ..local.journal_trouble import StorageError, Trouble
from . import index_store, storage
from .history_store import HistoryStore, Opening
from .index_build import IGNORE_FILE, Report, Update, folders_of, is_listed_as_before, is_worn, too_large, update
from .index_search import Table, changed_among
from .index_store import IndexStore, TreeState, open_to_read

BUILD_SECONDS = 240.0
"""What one process spends on building in the background, in all."""

UPDATE_SECONDS = 2.0
"""What each update of a complete index may take beside that, so that keeping up never ends."""

EAGER_FILES = 8000
"""Files of a tree up to which it is listed anew before a question is answered, when files came or went."""

EAGER_SECONDS = 0.4
LAZY_FILES = 4000
"""Files that are looked at for changes with each question; those of a larger tree in turn."""

RECENT_SECONDS = 0.5
"""The tools of one turn look at the files for changes once; what they read they look at in any case."""

MOST_UNPARSED = 60
"""Files that are parsed when they are asked for; when more of them wait, the tools read the files."""

MOST_WAITING = 5000
"""Documents of all trees that may wait to be parsed, before it is not looked which of them are this tree's."""

MANY_FILES = 500
"""Files of a tree from which on looking for garbage among them would be felt in a question."""

LAZY_FOLDERS = 2000
"""The same for folders, in which files may have come or gone."""

KEPT_TABLES = 3
PATIENCE = 0.5
"""The longest that the builder waits at one file for questions to be answered first."""

CLOSING_SECONDS = 0.1
NICENESS = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user allows."""

    enabled: bool = True
    max_mb: int = 512


@dataclass(frozen=True, slots=True)
class View:
    """An index that is good for a question. ``is_behind`` says that files may have come or gone since.

    ``fresh`` are the positions of files that were looked at just now, and are as they were indexed.
    """

    store: IndexStore
    table: Table
    is_behind: bool
    fresh: range = range(0)


@dataclass(frozen=True, slots=True)
class ParsedView:
    """An index whose files are parsed, all but the documents ``unparsed``."""

    store: IndexStore
    table: Table
    unparsed: list[int]


@dataclass(frozen=True, slots=True)
class IndexState:
    """What there is of one tree's index. ``state``: off, none, building, partial, ready, too_large."""

    state: str
    files: int = 0
    indexed: int = 0
    bytes: int = 0
    problem: str = ""


class Library:
    """Histories and indexes below ``state_home``; without it, histories in memory and no index."""

    def __init__(self, state_home: Path | None, limits: Callable[[], Limits] = Limits, *, builds: bool = True) -> None:
        """``limits`` is asked once, with the first question; ``builds`` is false for a process that ends soon."""
        self.histories = HistoryStore(state_home)
        self._state_home = state_home
        self._builds = builds
        self._limits = lru_cache(maxsize=1)(limits)
        self._closed = Event()
        self._asking = 0
        self._left = BUILD_SECONDS
        self._builders: dict[str, Thread] = {}
        self._given_up: set[str] = set()
        self._wanted: dict[str, int] = {}
        self._problems: dict[str, str] = {}
        self._stores: dict[Path, IndexStore] = {}
        self._tables: OrderedDict[str, tuple[IndexStore, int, Table]] = OrderedDict()
        self._turn: dict[str, int] = {}
        self._folder_turn: dict[str, int] = {}
        self._looked: dict[str, float] = {}
        self._spare: list[IndexStore] = []
        self._reading = RLock()
        self._lock = Lock()

    # --- the past --------------------------------------------------------------------------------------

    def open_history(self, root: str) -> Opening:
        """Begin to read the history of ``root``; ask the result for it later."""
        return Opening(self.histories, root, self._closed)

    @property
    def keeps_indexes(self) -> bool:
        """Whether there may be an index at all."""
        return self._state_home is not None and self._limits().enabled

    # --- the index -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def view(self, root: str) -> Iterator[View | None]:
        """The index of the tree at ``root`` (real), brought up to date; None when there is none that is whole.

        Then it is built in the background. Raises StorageError and OSError; what shows in the block that the index
        is damaged (ValueError too) has it built anew.
        """
        folder = self._folder(root)
        if folder is None:
            yield None
            return
        with self._asked(root), self._reading:
            view = self._view(folder, root, 0.0)
            with view.store.snapshot() if view else contextlib.nullcontext():
                yield view

    @contextlib.contextmanager
    def parsed_view(self, root: str) -> Iterator[ParsedView | None]:
        """The same with what the syntax of its files says; None when too much of that is missing.

        Files that were looked at for changes less than ``RECENT_SECONDS`` ago are not looked at again. Holds up no
        other question.
        """
        folder = self._folder(root)
        if folder is None:
            yield None
            return
        with self._asked(root):
            with self._reading:
                view = self._view(folder, root, RECENT_SECONDS)
                store = self._own_store(view.store) if view else None
            if view is None or store is None:
                yield None
                return
            try:
                with store.snapshot():
                    waiting = store.waiting(MOST_WAITING)
                    unparsed = [doc for doc in waiting if doc in view.table.of_doc]
                    is_ready = len(waiting) < MOST_WAITING and len(unparsed) <= MOST_UNPARSED
                    if not is_ready:
                        self.build_soon(root)
                    yield ParsedView(store, view.table, unparsed) if is_ready else None
            finally:
                self._spare.append(store)

    @contextlib.contextmanager
    def _asked(self, root: str) -> Iterator[None]:
        """While it lasts the builder waits; what shows that the index is damaged has it built anew."""
        with self._lock:
            self._asking += 1
        try:
            yield
        except (StorageError, ValueError) as error:
            if isinstance(error, UnicodeEncodeError):
                raise  # of a lone surrogate in the question; the index is sound
            self._problems[root] = str(error)
            if not isinstance(error, StorageError) or error.trouble is Trouble.DAMAGED:
                self.forget(root)
                self.build_soon(root)
            raise
        finally:
            with self._lock:
                self._asking -= 1

    def _own_store(self, store: IndexStore) -> IndexStore | None:
        """Another connection to the index of ``store``, one that nobody uses now."""
        for _ in range(len(self._spare)):
            spare = self._spare.pop()
            if spare.is_same(store):
                return spare
            spare.close()
        found = open_to_read(store.folder)
        if found and not found.is_same(store):
            found.close()
            return None
        if found:
            found.share(store)
        return found

    def table(self, root: str) -> Table | None:
        """The files of the tree as they are indexed, if they all are; brings nothing up to date."""
        folder = self._folder(root)
        with contextlib.suppress(StorageError, OSError), self._reading:
            store = self._store(folder) if folder else None
            tree = store.tree(root) if store else None
            if store and tree and tree.complete:
                return self._table(store, root, tree.id, tree.version)
        return None

    def refresh(self, root: str, paths: Sequence[str] = (), seconds: float = 5.0) -> Update:
        """Bring an index that is there up to date at once; ``paths`` are all that changed, if that is known.

        An index that is not there, or not whole, is built in the background.
        """
        folder = self._folder(root)
        if folder is None:
            return Update(False, problem="switched off")
        with contextlib.suppress(StorageError, OSError):
            with self._reading:
                store = self._store(folder)
                tree = store.tree(root) if store else None
            if tree and tree.complete:
                return update(
                    folder,
                    root,
                    self._closed,
                    seconds=seconds,
                    max_bytes=self._max_bytes(),
                    paths=paths,
                    patience=seconds / 2,
                )
        self.build_soon(root)
        return Update(False, problem="not indexed yet")

    def build(self, root: str, report: Report | None = None) -> Update:
        """Build or update the index of ``root`` at once, however long it takes. Raises OSError and StorageError."""
        folder = self._folder(root)
        if folder is None:
            return Update(False, problem="switched off")
        return update(folder, root, self._closed, max_bytes=self._max_bytes(), patience=PATIENCE, report=report)

    def build_soon(self, root: str) -> None:
        """Build or update the index of ``root`` in the background, unless that is under way or the time is used up."""
        with self._lock:
            if not self._builds or self._closed.is_set() or root in self._given_up:
                return
            is_new = not self._wanted.get(root)
            self._wanted[root] = self._wanted.get(root, 0) + 1
            if is_new:
                self._builders[root] = Thread(target=self._build, args=(root,), daemon=True)
                self._builders[root].start()

    def renew(self, root: str) -> None:
        """Bring the index of ``root`` up to date in the background, whoever else is doing so."""
        if self._folder(root):
            self.build_soon(root)

    def wait(self, root: str, seconds: float) -> None:
        """Until the background build of ``root`` is over, or ``seconds`` have passed."""
        thread = self._builders.get(root)
        if thread:
            thread.join(seconds)

    def forget(self, root: str) -> None:
        """Take the index of the repository of ``root`` away; nobody else's writing is disturbed."""
        folder = self._folder(root)
        if folder is None:
            return
        with self._reading, contextlib.suppress(OSError):
            store = self._stores.pop(folder, None)
            if store:
                store.close()
            self._tables.clear()
            with index_store.alone(folder) as may_write:
                if may_write:
                    index_store.remove(folder)

    def state(self, root: str) -> IndexState:
        """What there is of the index of ``root``; brings nothing up to date."""
        folder = self._folder(root)
        if folder is None:
            return IndexState("off")
        problem = self._problems.get(root, "")
        thread = self._builders.get(root)
        building = bool(thread and thread.is_alive())
        try:
            with self._reading:
                store = self._store(folder)
                tree = store.tree(root) if store else None
                if store is None or tree is None:
                    return IndexState("building" if building else "none", problem=problem)
                files, indexed = store.sizes(tree.id)
                size = store.size()
        except (StorageError, OSError) as error:
            return IndexState("none", problem=str(error))
        name = (
            "ready"
            if tree.complete
            else "too_large"
            if too_large(tree) is not None
            else "building"
            if building
            else "partial"
        )
        return IndexState(name, files, indexed, size, problem)

    def close(self) -> None:
        """Stop what is being read and built; it is taken up again by the next process."""
        self._closed.set()
        for thread in list(self._builders.values()):
            thread.join(PATIENCE)
        if not self._reading.acquire(timeout=CLOSING_SECONDS):
            return  # a question that is late is still reading; the end of the process ends it
        try:
            for store in self._stores.values():
                store.close()
            self._stores.clear()
            while self._spare:
                self._spare.pop().close()
        finally:
            self._reading.release()

    def _folder(self, root: str) -> Path | None:
        if self._state_home is None or not self.keeps_indexes:
            return None
        return storage.folder_of(self._state_home, find_root(root), root)

    def _max_bytes(self) -> int:
        return self._limits().max_mb * 1_000_000

    def _store(self, folder: Path) -> IndexStore | None:
        """The open index of ``folder``, opened again when another file has taken its place."""
        store = self._stores.get(folder)
        if store and not store.is_current():
            self._stores.pop(folder).close()
            store = None
        if store is None:
            store = open_to_read(folder)
            if store:
                self._stores[folder] = store
        return store

    def _view(self, folder: Path, root: str, recent: float) -> View | None:
        """The index, brought up to date unless that was done in the last ``recent`` seconds."""
        store = self._store(folder)
        tree = store.tree(root) if store else None
        if store is None or tree is None or not tree.complete:
            limit = too_large(tree) if tree else None
            if limit is None or limit < self._max_bytes():
                self.build_soon(root)
            return None
        table = self._table(store, root, tree.id, tree.version)
        if monotonic() - self._looked.get(root, -recent) < recent:
            return View(store, table, is_behind=False)
        self._looked[root] = monotonic()
        is_small = len(table.entries) <= EAGER_FILES
        fresh = self._next(root, table)
        changed = changed_among(root, table.entries[fresh.start : fresh.stop])
        is_listed = is_listed_as_before(root, tree, *self._next_folders(root, tree)) and not any(
            path.endswith(IGNORE_FILE) for path in changed
        )
        if is_listed and not changed:
            return View(store, table, is_behind=False, fresh=fresh)
        if not is_small and not is_listed:
            self.build_soon(root)
            return View(store, table, is_behind=True)
        done = update(
            folder,
            root,
            seconds=EAGER_SECONDS,
            max_bytes=self._max_bytes(),
            paths=changed if is_listed else (),
            parses=False,
        )
        tree = store.tree(root)
        if tree is None or not tree.complete:
            self.build_soon(root)
            return None
        if done.read and is_worn(store):
            self.build_soon(root)
        return View(store, self._table(store, root, tree.id, tree.version), is_behind=not done.complete)

    def _table(self, store: IndexStore, root: str, tree: int, version: int) -> Table:
        known = self._tables.get(root)
        if known and known[0] is store and known[1] == version:
            return known[2]
        table = None
        if known and known[0] is store:
            changes = store.changes(tree, known[1], len(known[2].entries))
            table = known[2].renewed(changes) if changes is not None else None
        if table is None:
            table = Table(store.entries(tree))
            if len(table.entries) > MANY_FILES:
                gc.freeze()
        self._tables[root] = (store, version, table)
        self._tables.move_to_end(root)
        while len(self._tables) > KEPT_TABLES:
            self._tables.popitem(last=False)
        return table

    def _next(self, root: str, table: Table) -> range:
        """The positions of the files whose turn it is to be looked at."""
        start, files = self._turn.get(root, 0), len(table.entries)
        share = math.ceil(files / max(math.ceil(files / LAZY_FILES), 1))  # as many each time
        self._turn[root] = start + share if start + share < files else 0
        return range(start, start + share)

    def _next_folders(self, root: str, tree: TreeState) -> tuple[int, int]:
        """The folders whose turn it is: the first one, and how many."""
        start = self._folder_turn.get(root, 0)
        self._folder_turn[root] = start + LAZY_FOLDERS if start + LAZY_FOLDERS < folders_of(tree) else 0
        return start, LAZY_FOLDERS

    def _build(self, root: str) -> None:
        """Update until nobody has asked for more meanwhile."""
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, get_native_id(), NICENESS)  # of this thread alone, on Linux
        while True:
            wanted = self._wanted[root]
            self._update_politely(root)
            with self._lock:
                if wanted == self._wanted[root] or self._closed.is_set() or root in self._given_up:
                    self._wanted[root] = 0
                    return

    def _update_politely(self, root: str) -> None:
        folder = self._folder(root)
        if folder is None:
            return
        started = monotonic()
        free = UPDATE_SECONDS if self._is_complete(folder, root) else 0.0
        try:
            seconds = max(self._left, 0.0) + free
            done = update(folder, root, _Polite(self), seconds=seconds, max_bytes=self._max_bytes())
            self._problems[root] = done.problem
        except (OSError, StorageError, ValueError) as error:
            self._problems[root] = str(error)
        finally:
            self._left -= max(monotonic() - started - free, 0.0)
            if self._left <= 0 and not self._is_complete(folder, root):
                self._given_up.add(root)

    def _is_complete(self, folder: Path, root: str) -> bool:
        with contextlib.suppress(StorageError, OSError), self._reading:
            store = self._store(folder)
            tree = store.tree(root) if store else None
            return bool(tree and tree.complete)
        return False


class _Polite:
    """Tells the builder to stop when the library is closed, and lets questions go first."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def is_set(self) -> bool:
        until = monotonic() + PATIENCE
        while self._library._asking and not self._library._closed.is_set() and monotonic() < until:
            sleep(0.005)
        return self._library._closed.is_set()
