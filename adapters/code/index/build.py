"""Updates the index of a tree: changed files are read, deleted files are dropped, all others stay.

Invariant: only files that git tracks or does not ignore are read, and never a file with credentials. A change shows
by size and time, then the content decides. Batches are atomic; a tree is complete only when all files are indexed.
A second pass parses its files for the tools that follow calls and imports; it can stop at any time without losing
finished work.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.files.tree import SourceCache, WorkingTree, listing_stamps
from upbeat.adapters.code.index import store as index_store
from upbeat.adapters.code.index.document import build_document, redact_secrets
from upbeat.adapters.code.index.document_batch import DocumentBatch
from upbeat.adapters.code.index.store import RACY, FileEntry, IndexStore, TreeState, exclusive_writer, open_or_create
from upbeat.adapters.code.syntax.languages import grammar_name
from upbeat.adapters.code.syntax.parse import parse_source
from upbeat.adapters.system.files.safe_open import scan_folder
from upbeat.adapters.system.git.commands import MAX_FILES, SKIPPED_FOLDERS, list_files
from upbeat.adapters.system.process.run import NEVER_CANCELLED
from upbeat.core.engine.ports import Cancellation

BATCH_FILES = 8000
"""Files that are stored at once; a process that is killed loses no more."""

LARGE_BUILD_FILES = 400
"""Files from which on an update leaves a log of megabytes, which is written back."""

PROGRESS_FILES = 100
"""Files between two reports of progress."""

LIST_SECONDS = 20.0
BATCH_DOCUMENTS = 400
"""Documents that are parsed before they are stored."""

MAX_FILL_RATIO = 0.95
"""Share of the disk limit at which parsing stops."""

IGNORE_FILE = ".gitignore"
"""A change of it can add or remove any file."""

RACY_NS = 50_000_000
"""Age below which another change can have the same time."""

MAX_EMPTY_FOLDERS = 2000
"""Folders without listed files that are watched; ignored folders can have any number of them."""

MAX_BATCHES = 400
"""Batches at which lookups are slow and the index is rebuilt."""

MIN_DEAD_DOCUMENTS = 2000
"""Unused documents that are always tolerated."""

ProgressCallback = Callable[[int, int], None]
"""Called with the number of files that are done, and the number of all files to read."""


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """Result of an update. ``problem`` says why the index is not complete."""

    is_complete: bool
    files_read: int = 0
    files_dropped: int = 0
    problem: str = ""


@dataclass(slots=True)
class _UpdateJob:
    """One update in progress."""

    store: IndexStore
    root: str
    tree: TreeState
    working_tree: WorkingTree
    cancelled: Cancellation
    deadline: float
    max_bytes: int
    on_progress: ProgressCallback | None
    files_read: int = 0
    docs_without_secrets: set[int] = field(default_factory=set)
    """Documents of which nothing was redacted, so that the second pass need not search them again."""

    def should_stop(self) -> bool:
        return self.cancelled.is_set() or monotonic() > self.deadline


def update_index(
    folder: Path,
    root: str,
    cancelled: Cancellation = NEVER_CANCELLED,
    *,
    seconds: float = 3600.0,
    max_bytes: int = 1 << 40,
    paths: Sequence[str] = (),
    lock_seconds: float = 0.0,
    on_progress: ProgressCallback | None = None,
    should_parse: bool = True,
) -> UpdateResult:
    """Update the index in ``folder`` for the tree at ``root`` (a real path), or only for ``paths`` of it.

    Args:
        should_parse: Whether there is time for the second pass, and for a rebuild.
        lock_seconds: Time to wait for another writer; if it does not finish, the result has a ``problem``.

    Raises:
        OSError: The folder cannot be used.
        StorageError: The index cannot be read or written.
    """
    with exclusive_writer(folder, lock_seconds) as may_write:
        if not may_write:
            return UpdateResult(False, problem="another process is building the index")
        store = open_or_create(folder)
        try:
            if should_parse and not paths and needs_rebuild(store):
                store.close()
                index_store.remove_index(folder)
                store = open_or_create(folder)
            with store.transaction():
                tree = store.add_tree(root)
            work = _UpdateJob(
                store,
                root,
                tree,
                WorkingTree(root, SourceCache(0)),
                cancelled,
                monotonic() + seconds,
                max_bytes,
                on_progress,
            )
            is_listed = tree.is_complete and not any(path.endswith(IGNORE_FILE) for path in paths)
            some = _update_paths(work, paths) if paths and is_listed else None
            done = some or _update_all(work)
            if done.is_complete and should_parse:
                _parse_documents(work, paths if some else ())
                if work.files_read > LARGE_BUILD_FILES:
                    store.database.checkpoint()
            return done
        finally:
            store.close()


def needs_rebuild(store: IndexStore) -> bool:
    """Return whether a rebuild pays off, because too many documents are unused or there are too many batches."""
    documents, alive, batches = store.count_documents()
    return batches > MAX_BATCHES or documents - alive > max(alive, MIN_DEAD_DOCUMENTS)


def _update_paths(work: _UpdateJob, paths: Sequence[str]) -> UpdateResult | None:
    """Update only ``paths``; None when one of them is unknown, so that the listing may have changed."""
    known: list[FileEntry] = []
    for path in paths:
        entry = work.store.find_entry(work.tree.id, path)
        if entry is None or work.working_tree.file_stamp(path) is None:
            return None
        known.append(entry)
    changed = [entry.path for entry in known if not _is_unchanged(work.working_tree, entry)]
    return _index_paths(work, changed, work.tree.listing_state, 0) if changed else UpdateResult(True)


def _update_all(work: _UpdateJob) -> UpdateResult:
    started = time.time_ns()
    listing = list_files(work.root, work.cancelled, min(LIST_SECONDS, max(work.deadline - monotonic(), 0.1)))
    if work.cancelled.is_set():
        return UpdateResult(False, problem="cancelled")
    if listing.is_truncated:
        return UpdateResult(False, problem=f"more than {MAX_FILES} files, or not enough time to list them")
    stamps = listing_stamps(work.root, sorted(_watched_folders(work.root, listing.files)))
    recent = started - RACY_NS  # later changes can share their time with another one
    state = json.dumps(
        {name: {key: stamp if stamp < recent else 0 for key, stamp in row.items()} for name, row in stamps.items()}
    )
    known = {entry.path: entry for entry in work.store.list_entries(work.tree.id)}
    changed: list[str] = []
    for path in listing.files:
        entry = known.pop(path, None)
        if entry is None or not _is_unchanged(work.working_tree, entry):
            changed.append(path)
    if not changed and not known and work.tree.is_complete and work.tree.listing_state == state:
        return UpdateResult(True)
    if known:
        with work.store.transaction():
            work.store.delete_entries(work.tree.id, known)
            work.store.update_tree(work.tree.id, False, "")
    return _index_paths(work, changed, state, len(known))


def _watched_folders(root: str, files: Iterable[str]) -> set[str]:
    """Return the folders of ``files``, their parents, and the folders next to them that have no listed file yet."""
    folders = {path.rpartition("/")[0] for path in files} | {""}
    for folder in list(folders):
        while folder and (folder := folder.rpartition("/")[0]) not in folders:
            folders.add(folder)
    waiting = list(folders)
    most = len(folders) + MAX_EMPTY_FOLDERS
    while waiting and len(folders) < most:
        inner, _ = _list_subfolders(root, waiting.pop())
        new = [name for name in inner if name not in folders]
        waiting += [name for name in new if not _list_subfolders(root, name)[1]]
        folders.update(new)
    return folders


def _list_subfolders(root: str, folder: str) -> tuple[list[str], bool]:
    """Return the subfolders of ``folder`` without caches and build output, and whether it has files."""
    inner, has_files = [], False
    try:
        with scan_folder(root, folder) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    has_files = True
                elif entry.name not in SKIPPED_FOLDERS:
                    inner.append(f"{folder}/{entry.name}" if folder else entry.name)
    except OSError:
        return [], True
    return inner, has_files


def _is_unchanged(working_tree: WorkingTree, entry: FileEntry) -> bool:
    """Return whether the file is unchanged, or still not readable."""
    if not _is_searchable(entry.path):
        return entry.doc_id == 0
    return working_tree.file_stamp(entry.path) == ((entry.size, entry.mtime_ns) if entry.mtime_ns else None)


def _is_searchable(path: str) -> bool:
    """Return whether ``path`` is searched; data files are not."""
    return classify_file(path).role is not FileRole.DATA


def _index_paths(work: _UpdateJob, paths: Sequence[str], state: str, dropped: int) -> UpdateResult:
    """Store ``paths`` batch by batch, then mark the tree as complete."""
    for start in range(0, len(paths), BATCH_FILES):
        is_finished = _store_files(work, paths[start : start + BATCH_FILES], len(paths))
        if work.store.size() > work.max_bytes:
            with work.store.transaction():
                work.store.update_tree(work.tree.id, False, f"large:{work.max_bytes}")
            return UpdateResult(False, work.files_read, dropped, f"larger than {work.max_bytes // 1_000_000} MB")
        if not is_finished:
            return UpdateResult(False, work.files_read, dropped, "cancelled")
    with work.store.transaction():
        work.store.update_tree(work.tree.id, True, state)
    return UpdateResult(True, work.files_read, dropped)


def _store_files(work: _UpdateJob, paths: Sequence[str], total: int) -> bool:
    """Store ``paths`` in one batch, as far as time and space allow; return whether that was all of them."""
    batch = work.store.new_batch()
    taken = work.store.size()
    entries: list[FileEntry] = []
    for path in paths:
        if work.should_stop() or taken + batch.size > work.max_bytes:
            break
        entries.append(_read_file(work, path, batch))
        if work.on_progress and len(entries) % PROGRESS_FILES == 0:
            work.on_progress(work.files_read + len(entries), total)
    if entries:
        with work.store.transaction():
            work.store.add_batch(batch)
            work.store.put_entries(work.tree.id, entries)
            work.store.update_tree(work.tree.id, False, "")
    if len(entries) > LARGE_BUILD_FILES:
        work.store.database.checkpoint()
    work.files_read += len(entries)
    if work.on_progress:
        work.on_progress(work.files_read, total)
    return len(entries) == len(paths)


def _read_file(work: _UpdateJob, path: str, batch: DocumentBatch) -> FileEntry:
    """Return a file's entry; add its document to ``batch`` unless it is stored or there already."""
    now = time.time_ns()
    before = work.working_tree.file_stamp(path) if _is_searchable(path) else None
    data = work.working_tree.read_bytes(path) if before else None
    if before is None:
        return FileEntry(path, 0, 0, 0, 0)
    size, stamp = before
    if stamp > now - RACY_NS:
        stamp = RACY
    if data is None:
        return FileEntry(path, 0, 0, size, stamp)
    language = classify_file(path).language
    digest = hashlib.blake2b(f"{language} {grammar_name(path, data)}\0".encode() + data, digest_size=16).digest()
    known = batch.documents.get(digest) or work.store.find_digests([digest]).get(digest)
    if known is None:
        text = data.decode("utf-8", "replace")
        content = redact_secrets(text)
        known = batch.add(digest, build_document(text, language, content=content))
        if content == text:
            work.docs_without_secrets.add(known[0])
    return FileEntry(path, *known, size, stamp)


def _parse_documents(work: _UpdateJob, paths: Iterable[str]) -> None:
    """Parse the documents of the tree, or of ``paths``, that are not parsed yet, while time and space allow."""
    waiting = work.store.unparsed_entries(work.tree.id, paths)
    done = 0
    for start in range(0, len(waiting), BATCH_DOCUMENTS):
        batch = work.store.new_batch()
        if work.store.size() > MAX_FILL_RATIO * work.max_bytes:
            return
        for entry in waiting[start : start + BATCH_DOCUMENTS]:
            if work.should_stop():
                break
            is_current = work.working_tree.file_stamp(entry.path) == (entry.size, entry.mtime_ns)
            text = work.working_tree.read_text(entry.path) if is_current else None
            if text is not None:  # signatures are stored as written
                content = text if entry.doc_id in work.docs_without_secrets else redact_secrets(text)
                batch.add_parse(entry.doc_id, parse_source(entry.path, content.encode("utf-8", "replace")))
        with work.store.transaction():
            work.store.add_batch(batch)
        if work.should_stop():
            return
        done += len(batch.code_rows)
        if work.on_progress:
            work.on_progress(done, len(waiting))
