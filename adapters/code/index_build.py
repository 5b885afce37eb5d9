"""Bringing the index of a tree up to date: what changed is read, what is gone is dropped, the rest stays.

Law: only what git tracks or does not ignore, never a secret's file. A change shows by size and time; then the
content decides. Every batch is whole when it is stored, and a tree counts as indexed only when all of it is.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from time import monotonic

from ...core.ports import Cancellation
from ..local.command import NEVER
from ..local.git import MAX_FILES, SKIPPED_FOLDERS, list_files
from ..local.git_root import find_root
from ..local.opening import scanned
from . import index_store
from .index_doc import Document, read_document
from .index_parse import parse_documents
from .index_store import RACY, Entry, IndexStore, TreeState, alone, open_to_write
from .kinds import Role
from .languages import grammar_of
from .scan import kind_of_cached
from .tree import SourceCache, Tree

BATCH_FILES = 400
BATCH_BYTES = 6_000_000
LIST_SECONDS = 20.0
IGNORE_FILE = ".gitignore"
"""Where a change may let any file come or go."""

RACY_NS = 50_000_000
"""A change this close to the moment of looking may be followed by another one with the same time."""

MOST_EMPTY = 2000
"""Folders without a listed file that are watched for one: what is ignored may have any number of them."""

MOST_BATCHES = 400
"""Batches after which looking things up is slow, and the index is built anew."""

LEAST_DEAD = 2000
"""Documents that no tree has any more, which are kept in any case."""

Report = Callable[[int, int], None]
"""Called with the number of files that are done, and of all that have to be read."""


@dataclass(frozen=True, slots=True)
class Update:
    """What an update came to. ``complete`` says that the index holds the whole tree; ``problem`` why not."""

    complete: bool
    read: int = 0
    dropped: int = 0
    problem: str = ""


@dataclass(slots=True)
class _Work:
    """One update under way."""

    store: IndexStore
    root: str
    tree: TreeState
    files: Tree
    cancelled: Cancellation
    deadline: float
    max_bytes: int
    report: Report | None
    read: int = 0

    def is_over(self) -> bool:
        return self.cancelled.is_set() or monotonic() > self.deadline


def update(
    folder: Path,
    root: str,
    cancelled: Cancellation = NEVER,
    *,
    seconds: float = 3600.0,
    max_bytes: int = 1 << 40,
    paths: Sequence[str] = (),
    patience: float = 0.0,
    report: Report | None = None,
    parses: bool = True,
) -> Update:
    """Bring the index in ``folder`` up to date with the tree at ``root`` (real), or only with ``paths`` of it.

    ``parses`` says that there is time for the second part of it too (``index_parse``), and for building it anew.

    Raises OSError and StorageError. Another writer at work for ``patience`` seconds is a problem, not a failure.
    """
    with alone(folder, patience) as may_write:
        if not may_write:
            return Update(False, problem="somebody else is building it")
        store = open_to_write(folder)
        try:
            if parses and not paths and is_worn(store):
                store.close()
                index_store.remove(folder)
                store = open_to_write(folder)
            with store.transaction():
                tree = store.add_tree(root)
            work = _Work(
                store, root, tree, Tree(root, SourceCache(0)), cancelled, monotonic() + seconds, max_bytes, report
            )
            is_listed = tree.complete and not any(path.endswith(IGNORE_FILE) for path in paths)
            some = _update_some(work, paths) if paths and is_listed else None
            done = some or _update_all(work)
            if done.complete and parses:
                only = paths if some else ()
                parse_documents(store, tree.id, work.files, work.is_over, max_bytes, only, report)
            return done
        finally:
            store.close()


def folder_stamps(root: str, folders: Iterable[str]) -> dict[str, int]:
    """When the entries of each folder changed last; 0 for one that is gone."""
    stamps = {}
    for folder in folders:
        try:
            stamps[folder] = os.lstat(f"{root}/{folder}" if folder else root).st_mtime_ns
        except OSError:
            stamps[folder] = 0
    return stamps


def is_listed_as_before(root: str, tree: TreeState, start: int = 0, most: int = 1 << 30) -> bool:
    """Whether no file can have come or gone since the tree was listed, as far as folders and git's index tell.

    Of the folders ``most`` are looked at, from the one at ``start`` on.
    """
    known = _listed(tree.folders)
    if not known:
        return False
    folders = known["folders"]
    some = folders if len(folders) <= most else dict(islice(folders.items(), start, start + most))
    return known == {**known, "git": _git_state(root)} and some == folder_stamps(root, some)


def folders_of(tree: TreeState) -> int:
    """How many folders the tree had when it was listed."""
    known = _listed(tree.folders)
    return len(known["folders"]) if known else 0


@lru_cache(maxsize=3)
def _listed(text: str) -> dict[str, dict[str, int]] | None:
    try:
        known = json.loads(text)
    except ValueError:
        return None
    return known or None


def too_large(tree: TreeState) -> int | None:
    """The limit in bytes that the index of this tree did not fit into; None when it did."""
    return int(tree.folders.partition(":")[2]) if tree.folders.startswith("large:") else None


def _listing_state(root: str, folders: Iterable[str]) -> dict[str, object]:
    return {"folders": folder_stamps(root, folders), "git": _git_state(root)}


def _git_state(root: str) -> dict[str, int]:
    info = find_root(root)
    return folder_stamps(info.git_dir, ["index", "info/exclude"]) if info.git_dir else {}


def is_worn(store: IndexStore) -> bool:
    """Whether so much of the index is past that it is better built anew."""
    documents, alive, batches = store.counts()
    return batches > MOST_BATCHES or documents - alive > max(alive, LEAST_DEAD)


def _update_some(work: _Work, paths: Sequence[str]) -> Update | None:
    """Look at ``paths`` only; None when one of them is not known, so that the listing may have changed."""
    known: list[Entry] = []
    for path in paths:
        entry = work.store.entry(work.tree.id, path)
        if entry is None or work.files.stamp(path) is None:
            return None
        known.append(entry)
    changed = [entry.path for entry in known if not _is_same(work.files, entry)]
    return _read(work, changed, work.tree.folders, 0) if changed else Update(True)


def _update_all(work: _Work) -> Update:
    started = time.time_ns()
    listing = list_files(work.root, work.cancelled, min(LIST_SECONDS, max(work.deadline - monotonic(), 0.1)))
    if work.cancelled.is_set():
        return Update(False, problem="stopped")
    if listing.truncated:
        return Update(False, problem=f"more than {MAX_FILES} files, or no time to list them")
    folders = _listing_state(work.root, sorted(_folders(work.root, listing.files)))
    state = json.dumps(_without_recent(folders, started))
    known = {entry.path: entry for entry in work.store.entries(work.tree.id)}
    changed: list[str] = []
    for path in listing.files:
        entry = known.pop(path, None)
        if entry is None or not _is_same(work.files, entry):
            changed.append(path)
    if not changed and not known and work.tree.complete and work.tree.folders == state:
        return Update(True)
    if known:
        with work.store.transaction():
            work.store.drop_entries(work.tree.id, known)
            work.store.change_tree(work.tree.id, False, "")
    return _read(work, changed, state, len(known))


def _folders(root: str, files: Iterable[str]) -> set[str]:
    """Where a file may come: the folders of ``files``, all above them, and those beside that hold none of them yet."""
    folders = {path.rpartition("/")[0] for path in files} | {""}
    for folder in list(folders):
        while folder and (folder := folder.rpartition("/")[0]) not in folders:
            folders.add(folder)
    waiting = list(folders)
    most = len(folders) + MOST_EMPTY
    while waiting and len(folders) < most:
        inner, _ = _folders_in(root, waiting.pop())
        new = [name for name in inner if name not in folders]
        waiting += [name for name in new if not _folders_in(root, name)[1]]
        folders.update(new)
    return folders


def _folders_in(root: str, folder: str) -> tuple[list[str], bool]:
    """The folders right below ``folder`` that are nobody's cache or build, and whether files are beside them."""
    inner, has_files = [], False
    try:
        with scanned(root, folder) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    has_files = True
                elif entry.name not in SKIPPED_FOLDERS:
                    inner.append(f"{folder}/{entry.name}" if folder else entry.name)
    except OSError:
        return [], True
    return inner, has_files


def _without_recent(state: dict[str, object], started: int) -> dict[str, object]:
    """``state`` with 0 for what changed so lately that a further change may have the same time."""
    return {
        name: {key: stamp if stamp < started - RACY_NS else 0 for key, stamp in stamps.items()}
        for name, stamps in state.items()
        if isinstance(stamps, dict)
    }


def _is_same(files: Tree, entry: Entry) -> bool:
    """Whether the file is as it was when it was read, or still one that is not."""
    if not _is_wanted(entry.path):
        return entry.doc == 0
    return files.stamp(entry.path) == ((entry.size, entry.stamp) if entry.stamp else None)


def _is_wanted(path: str) -> bool:
    """Whether a question may look into ``path``: data is left out by its name."""
    return kind_of_cached(path).role is not Role.DATA


def _read(work: _Work, paths: Sequence[str], state: str, dropped: int) -> Update:
    """Store ``paths`` batch by batch, then call the tree complete."""
    for batch in _batches(work, paths):
        with work.store.transaction():
            ids = work.store.add_documents({digest: document for _, digest, document in batch if digest and document})
            known = work.store.known({digest for _, digest, document in batch if digest and not document})
            entries = []
            for entry, digest, document in batch:
                doc, length = (ids[digest], document.length) if document else known.get(digest, (0, 0))
                entries.append(Entry(entry.path, doc, length, entry.size, entry.stamp))
            work.store.put_entries(work.tree.id, entries)
            work.store.change_tree(work.tree.id, False, "")
        work.read += len(batch)
        if work.report:
            work.report(work.read, len(paths))
        if work.store.size() > work.max_bytes:
            with work.store.transaction():
                work.store.change_tree(work.tree.id, False, f"large:{work.max_bytes}")
            return Update(False, work.read, dropped, f"larger than {work.max_bytes // 1_000_000} MB")
    if work.read < len(paths):
        return Update(False, work.read, dropped, "stopped")
    with work.store.transaction():
        work.store.change_tree(work.tree.id, True, state)
    return Update(True, work.read, dropped)


def _batches(work: _Work, paths: Sequence[str]) -> Iterator[list[tuple[Entry, bytes, Document | None]]]:
    """``paths`` read, in batches; ends early when the time is over. Only what is new has a document."""
    batch: list[tuple[Entry, bytes, Document | None]] = []
    seen: set[bytes] = set()
    size = 0
    for path in paths:
        if work.is_over():
            return
        row = _read_one(work, path, seen)
        batch.append(row)
        size += row[0].size
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
            seen.clear()
    if batch:
        yield batch


def _read_one(work: _Work, path: str, seen: set[bytes]) -> tuple[Entry, bytes, Document | None]:
    """One file: how it is now, the digest of its content, and its document unless that is stored or in ``seen``."""
    now = time.time_ns()
    before = work.files.stamp(path) if _is_wanted(path) else None
    data = work.files.data(path) if before else None
    if before is None:
        return Entry(path, 0, 0, 0, 0), b"", None
    size, stamp = before
    if stamp > now - RACY_NS:
        stamp = RACY
    if data is None:
        return Entry(path, 0, 0, size, stamp), b"", None
    language = kind_of_cached(path).language
    digest = hashlib.blake2b(f"{language} {grammar_of(path, data)}\0".encode() + data, digest_size=16).digest()
    entry = Entry(path, 0, 0, size, stamp)
    if digest in seen or work.store.known([digest]):
        return entry, digest, None
    seen.add(digest)
    return entry, digest, read_document(data.decode("utf-8", "replace"), language)
