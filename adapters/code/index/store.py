"""The index of one repository on disk: documents by content, their postings, and the files of each tree.

Invariant: there is one writer at a time, and readers never wait. A document is stored in one transaction with its
postings. A damaged index, or one of another version, is never read; it is removed and rebuilt.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

from upbeat.adapters.code.concurrency import LruCache
from upbeat.adapters.code.index.code_record import decode_code
from upbeat.adapters.code.index.document import StoredDocument, WordLines, index_keys
from upbeat.adapters.code.index.document_batch import DocumentBatch
from upbeat.adapters.code.index.posting import decode_postings, decode_words
from upbeat.adapters.code.syntax.parsed_file import ParsedFile
from upbeat.adapters.system.files.lock import hold_lock
from upbeat.adapters.system.git.root import RootInfo
from upbeat.adapters.system.journal.database import Database
from upbeat.adapters.system.journal.faults import StorageError, StorageErrorKind

VERSION = 9
DATABASE_FILE = "index.db"
LOCK_FILE = "index.lock"
DATABASE_SUFFIXES = ("", "-wal", "-shm", "-journal")
MAX_WORDS_PER_KEY = 4000
"""Words that are read for one key."""

RACY = -1
"""Stored instead of a file's time when a later change could have the same time."""

CACHE_BYTES = 16_000_000
"""Limit of the cache of documents, and of the cache of their lines."""

CACHED_WORDS = 120_000
"""Words of keys that readers cache, about 150 bytes each."""

MAX_CACHED_WORD_IDS = 400_000
"""Word ids that a writer caches."""

_BODIES = "SELECT id, body FROM doc WHERE id IN (SELECT value FROM json_each(?))"
_LINES = "SELECT id, lines FROM doc WHERE id IN (SELECT value FROM json_each(?))"
_SCHEMA = """
CREATE TABLE tree(id INTEGER PRIMARY KEY, path BLOB UNIQUE, version INTEGER, complete INTEGER, folders TEXT);
CREATE TABLE file(tree INTEGER, path BLOB, doc INTEGER, length INTEGER, size INTEGER, stamp INTEGER,
    version INTEGER, PRIMARY KEY(tree, path)) WITHOUT ROWID;
CREATE TABLE doc(id INTEGER PRIMARY KEY, digest BLOB UNIQUE, length INTEGER, parsed INTEGER, body BLOB, lines BLOB);
CREATE INDEX unparsed ON doc(id) WHERE parsed = 0;
CREATE TABLE code(doc INTEGER PRIMARY KEY, body BLOB);
CREATE TABLE defined(name TEXT, doc INTEGER, PRIMARY KEY(name, doc)) WITHOUT ROWID;
CREATE TABLE posting(key TEXT, batch INTEGER, number INTEGER, body BLOB, words BLOB,
    PRIMARY KEY(key, batch)) WITHOUT ROWID;
CREATE TABLE batch(id INTEGER PRIMARY KEY, last_word INTEGER);
"""


_T = TypeVar("_T", StoredDocument, WordLines)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a tree: its document (0 if it is not indexed), and the size and time that reveal a change."""

    path: str
    doc_id: int
    length: int
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class TreeState:
    """State of one tree. ``version`` grows with every change; ``listing_state`` belongs to the builder."""

    id: int
    version: int
    is_complete: bool
    listing_state: str

    @property
    def exceeded_limit(self) -> int | None:
        """The limit in bytes that the index of this tree exceeded; None if it did not."""
        name, _, limit = self.listing_state.partition(":")
        return int(limit) if name == "large" else None


class IndexStore:
    """One connection to the index in ``folder``. Every method can raise StorageError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / DATABASE_FILE
        self.database = Database(self.path, busy_timeout=0.5)
        try:
            if self.database.scalar("PRAGMA user_version") != VERSION:
                raise StorageError(StorageErrorKind.DAMAGED, f"{self.path} has another version")
            self.database.ensure_journal_mode()
        except StorageError:
            self.database.close()
            raise
        self._word_ids: dict[str, int] = {}
        self._has_all_words = False
        self._document_cache: LruCache[int, StoredDocument] = LruCache(CACHE_BYTES)
        self._line_cache: LruCache[int, WordLines] = LruCache(CACHE_BYTES)
        self._word_cache: LruCache[tuple[int, str], dict[int, str]] = LruCache(CACHED_WORDS)

    def share_caches(self, other: IndexStore) -> None:
        """Share the caches of ``other``, a connection to the same file."""
        self._document_cache, self._line_cache = other._document_cache, other._line_cache
        self._word_cache = other._word_cache

    def close(self) -> None:
        self.database.close()

    def size(self) -> int:
        """Return the bytes that the index takes on disk."""
        size = 0
        for suffix in DATABASE_SUFFIXES:
            with contextlib.suppress(OSError):
                size += os.lstat(self.folder / (DATABASE_FILE + suffix)).st_size
        return size

    def is_current(self) -> bool:
        """Return whether the connected file is still the one in the folder."""
        try:
            status = self.path.lstat()
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self.database.identity

    def tree_state(self, root: str) -> TreeState | None:
        """Return the state of the tree at ``root``, if it is stored."""
        row = self.database.row("SELECT id, version, complete, folders FROM tree WHERE path = ?", os.fsencode(root))
        return TreeState(row[0], row[1], bool(row[2]), row[3]) if row else None

    def list_entries(self, tree_id: int) -> list[FileEntry]:
        """Return the files of a tree, sorted by their encoded paths."""
        rows = self.database.rows("SELECT path, doc, length, size, stamp FROM file WHERE tree = ?", tree_id)
        return [FileEntry(os.fsdecode(path), doc, length, size, stamp) for path, doc, length, size, stamp in rows]

    def changed_entries(self, tree_id: int, version: int, file_count: int) -> list[FileEntry] | None:
        """Return the entries that changed since ``version``; None when the tree no longer has ``file_count`` files."""
        if self.database.scalar("SELECT count(*) FROM file WHERE tree = ?", tree_id) != file_count:
            return None
        sql = "SELECT path, doc, length, size, stamp FROM file WHERE tree = ? AND version > ?"
        return [FileEntry(os.fsdecode(path), *rest) for path, *rest in self.database.rows(sql, tree_id, version)]

    def find_entry(self, tree_id: int, path: str) -> FileEntry | None:
        """Return one file of a tree."""
        row = self.database.row(
            "SELECT doc, length, size, stamp FROM file WHERE tree = ? AND path = ?", tree_id, os.fsencode(path)
        )
        return FileEntry(path, *row) if row else None

    def postings(self, key: str) -> Iterator[tuple[memoryview, memoryview]]:
        """Yield the documents with ``key`` and their counts, batch by batch. Raises ValueError for damaged postings."""
        for number, body in self.database.rows("SELECT number, body FROM posting WHERE key = ?", key):
            yield decode_postings(body, number)

    def key_frequency(self, key: str) -> int:
        """Return about how many documents have ``key``, including those that no tree has any more."""
        return self.database.scalar("SELECT sum(number) FROM posting WHERE key = ?", key)

    def words_of_keys(self, keys: Iterable[str], names: Iterable[str]) -> dict[int, str]:
        """Return the words that have one of ``keys``, and those of ``names`` that some document has, by their ids."""
        words_by_key = self._words_by_key(dict.fromkeys(keys))
        words: dict[int, str] = {}
        for found in words_by_key.values():
            words |= found
        names_by_key: dict[str, set[str]] = {}
        for name in names:
            key = index_keys(name)[-1]
            if key not in words_by_key or len(words_by_key[key]) == MAX_WORDS_PER_KEY:
                names_by_key.setdefault(key, set()).add(name)
        for key, body in self._word_rows(names_by_key):
            words |= {number: word for number, word in decode_words(body).items() if word in names_by_key[key]}
        return words

    def _words_by_key(self, keys: Iterable[str]) -> dict[str, dict[int, str]]:
        """Return the words that have each of ``keys``, the first ``MAX_WORDS_PER_KEY`` in alphabetical order."""
        batch = self.database.scalar("SELECT max(id) FROM batch")
        found = {key: words for key in keys if (words := self._word_cache.get((batch, key))) is not None}
        missing: dict[str, dict[int, str]] = {key: {} for key in keys if key not in found}
        for key, body in self._word_rows(missing):
            missing[key] |= decode_words(body)
        for key, words in missing.items():
            if len(words) > MAX_WORDS_PER_KEY:
                words = dict(sorted(words.items(), key=itemgetter(1))[:MAX_WORDS_PER_KEY])
            self._word_cache.put((batch, key), words, len(words) + 1)
            found[key] = words
        return found

    def _word_rows(self, keys: Iterable[str]) -> list[tuple[str, bytes]]:
        """Return the encoded words of each of ``keys``, batch by batch."""
        sql = """SELECT key, words FROM posting
            WHERE key IN (SELECT value FROM json_each(?)) AND words IS NOT NULL"""
        return [(key, body) for key, body in self.database.rows(sql, json.dumps([*keys]))]

    def _words_of_key(self, key: str) -> Iterator[tuple[int, str]]:
        """Yield the ids of all words that have ``key``, and the words."""
        for _, body in self._word_rows([key]):
            yield from decode_words(body).items()

    def get_documents(self, doc_ids: Iterable[int]) -> dict[int, StoredDocument]:
        """Return documents by their ids. Raises ValueError when one is missing or damaged."""
        return self._read_cached(_BODIES, self._document_cache, StoredDocument, doc_ids)

    def get_word_lines(self, doc_ids: Iterable[int]) -> dict[int, WordLines]:
        """Return the word lines of documents by their ids. Raises ValueError when one is missing or damaged."""
        return self._read_cached(_LINES, self._line_cache, WordLines, doc_ids)

    def _read_cached(
        self, sql: str, cache: LruCache[int, _T], decode: Callable[[bytes], _T], doc_ids: Iterable[int]
    ) -> dict[int, _T]:
        cached = {doc: cache.get(doc) for doc in doc_ids}
        values = {doc: value for doc, value in cached.items() if value is not None}
        missing = [doc for doc in cached if doc not in values]
        for doc, data in self.database.rows(sql, json.dumps(missing)) if missing else ():
            value = values[doc] = decode(data)
            cache.put(doc, value, value.size)
        if len(values) < len(cached):
            raise ValueError(f"the index lacks documents: {sorted(cached.keys() - values)[:3]}")
        return values

    def word_ids_any_case(self, word: str) -> frozenset[int]:
        """Return the ids of ``word`` in all its capitalizations."""
        keys = {index_keys(spelling)[-1] for spelling in (word, word.lower())}
        return frozenset(
            number for key in keys for number, known in self._words_of_key(key) if known.lower() == word.lower()
        )

    def docs_defining(self, name: str) -> list[int]:
        """Return the parsed documents that define ``name``."""
        return [doc for (doc,) in self.database.rows("SELECT doc FROM defined WHERE name = ?", name)]

    def get_parsed(self, doc_id: int) -> ParsedFile | None:
        """Return the parse of a document, if it is stored. Raises ValueError when it is damaged."""
        row = self.database.row("SELECT body FROM code WHERE doc = ?", doc_id)
        return decode_code(row[0]) if row else None

    def list_unparsed(self, limit: int) -> list[int]:
        """Return up to ``limit`` documents of all trees that contain code and are not parsed yet."""
        return [doc for (doc,) in self.database.rows("SELECT id FROM doc WHERE parsed = 0 LIMIT ?", limit)]

    def unparsed_entries(self, tree_id: int, paths: Iterable[str] = ()) -> list[FileEntry]:
        """Return one file for each document of the tree, or of ``paths``, that is not parsed yet."""
        waiting = set(self.list_unparsed(-1))
        if not waiting:
            return []
        entries = [entry for path in paths if (entry := self.find_entry(tree_id, path))] or self.list_entries(tree_id)
        return list({entry.doc_id: entry for entry in entries if entry.doc_id in waiting}.values())

    def find_digests(self, digests: Iterable[bytes]) -> dict[bytes, tuple[int, int]]:
        """Return the document and length of those of ``digests`` that are stored."""
        known = {}
        for digest in digests:
            row = self.database.row("SELECT id, length FROM doc WHERE digest = ?", digest)
            if row:
                known[digest] = (row[0], row[1])
        return known

    def count_files(self, tree_id: int) -> tuple[int, int]:
        """Return the number of files of a tree, and of those that have a document."""
        return (
            self.database.scalar("SELECT count(*) FROM file WHERE tree = ?", tree_id),
            self.database.scalar("SELECT count(*) FROM file WHERE tree = ? AND doc > 0", tree_id),
        )

    def count_documents(self) -> tuple[int, int, int]:
        """Return the number of documents, of those that some tree has, and of batches."""
        return (
            self.database.scalar("SELECT count(*) FROM doc"),
            self.database.scalar("SELECT count(DISTINCT doc) FROM file WHERE doc > 0"),
            self.database.scalar("SELECT count(*) FROM batch"),
        )

    # Writing requires ``exclusive_writer``.

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Store everything in the block, or nothing."""
        self.database.begin()
        is_stored = False
        try:
            yield
            self.database.commit()
            is_stored = True
        finally:
            if not is_stored:
                self._word_ids.clear()  # the ids it assigned are not stored
                self._has_all_words = False
                self.database.rollback()

    def add_tree(self, root: str) -> TreeState:
        """Return the tree at ``root``; add it if it is missing."""
        self.database.execute("INSERT OR IGNORE INTO tree VALUES(NULL, ?, 0, 0, '')", os.fsencode(root))
        state = self.tree_state(root)
        assert state
        return state

    def update_tree(self, tree_id: int, is_complete: bool, listing_state: str) -> None:
        """Record a change of the tree."""
        self.database.execute(
            "UPDATE tree SET version = version + 1, complete = ?, folders = ? WHERE id = ?",
            is_complete,
            listing_state,
            tree_id,
        )

    def put_entries(self, tree_id: int, entries: Iterable[FileEntry]) -> None:
        """Store ``entries``; call ``update_tree`` in the same transaction."""
        version = self.database.scalar("SELECT version FROM tree WHERE id = ?", tree_id) + 1
        rows = [
            (tree_id, os.fsencode(entry.path), entry.doc_id, entry.length, entry.size, entry.mtime_ns, version)
            for entry in entries
        ]
        self.database.execute_many("INSERT OR REPLACE INTO file VALUES(?, ?, ?, ?, ?, ?, ?)", rows)

    def delete_entries(self, tree_id: int, paths: Iterable[str]) -> None:
        rows = [(tree_id, os.fsencode(path)) for path in paths]
        self.database.execute_many("DELETE FROM file WHERE tree = ? AND path = ?", rows)

    def new_batch(self) -> DocumentBatch:
        """Return an empty batch; ``add_batch`` stores it before the next one is made."""
        if len(self._word_ids) > MAX_CACHED_WORD_IDS:
            self._word_ids.clear()
            self._has_all_words = False
        last_word = self.database.scalar("SELECT max(last_word) FROM batch")
        self._has_all_words |= not last_word
        return DocumentBatch(self.database.scalar("SELECT max(id) FROM doc"), last_word, self._find_word_id)

    def _find_word_id(self, word: str, key: str) -> int:
        """Return the id of ``word``, whose most selective key is ``key``; 0 if it is not stored."""
        if word not in self._word_ids and not self._has_all_words:
            self._word_ids |= {known: number for number, known in self._words_of_key(key)}
        return self._word_ids.get(word, 0)

    def add_batch(self, batch: DocumentBatch) -> None:
        """Store the documents and parses of ``batch``."""
        if batch.rows:
            self.database.execute("INSERT INTO batch VALUES(?, ?)", batch.first_doc, batch.last_word)
            self.database.execute_many("INSERT INTO doc VALUES(?, ?, ?, ?, ?, ?)", batch.rows)
            self.database.execute_many("INSERT INTO posting VALUES(?, ?, ?, ?, ?)", batch.posting_rows())
            self._word_ids |= batch.new_words
        self.database.execute_many("INSERT OR REPLACE INTO code VALUES(?, ?)", batch.code_rows)
        self.database.execute_many("UPDATE doc SET parsed = 1 WHERE id = ?", [row[:1] for row in batch.code_rows])
        self.database.execute_many("INSERT OR IGNORE INTO defined VALUES(?, ?)", sorted(batch.defined))


def repository_folder(state_home: Path, info: RootInfo, root: str) -> Path:
    """Return the folder for the index and history of a repository; it may not exist yet.

    The worktrees of a repository share it; a plain folder ``root`` has its own.
    """
    name = hashlib.blake2b(os.fsencode(info.common_dir or root), digest_size=10).hexdigest()
    return state_home / "upbeat" / "index" / name


def ensure_private_folder(folder: Path) -> None:
    """Create ``folder`` and its missing parents, accessible only to the owner. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise NotADirectoryError(0, "is not a folder that you own", str(folder))
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)


@contextlib.contextmanager
def exclusive_writer(folder: Path, seconds: float = 0.0) -> Iterator[bool]:
    """Lock ``folder`` for writing; yield False when another process still holds the lock after ``seconds``.

    Raises:
        OSError: The folder cannot be created or locked.
    """
    ensure_private_folder(folder)
    with hold_lock(folder / LOCK_FILE, seconds) as is_locked:
        yield bool(is_locked)


def open_existing(folder: Path) -> IndexStore | None:
    """Open the index in ``folder``; None when there is no readable index of this version."""
    if not (folder / DATABASE_FILE).is_file():
        return None
    try:
        return IndexStore(folder)
    except StorageError:
        return None


def open_or_create(folder: Path) -> IndexStore:
    """Open the index in ``folder``; create it unless there is a readable one. Requires ``exclusive_writer``."""
    store = open_existing(folder)
    if store:
        return store
    remove_index(folder)
    descriptor = os.open(
        folder / DATABASE_FILE, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
    )
    os.close(descriptor)
    database = Database(folder / DATABASE_FILE)
    try:
        database.ensure_journal_mode()
        database.begin()
        for statement in _SCHEMA.split(";"):
            if statement.strip():
                database.execute(statement)
        database.execute(f"PRAGMA user_version = {VERSION}")
        database.commit()
    finally:
        database.close()
    return IndexStore(folder)


def remove_index(folder: Path) -> None:
    """Remove the index. Requires ``exclusive_writer``."""
    for companion in DATABASE_SUFFIXES:
        (folder / (DATABASE_FILE + companion)).unlink(missing_ok=True)
