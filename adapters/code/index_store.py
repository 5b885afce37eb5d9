"""The index of one repository on disk: documents by content, the words that lead to them, and each tree's files.

Law: one writer at a time, readers are never made to wait; a document is stored in one transaction with all that
leads to it. What is damaged or of another version is removed and built again, it is never read.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..local.journal_database import Database
from ..local.journal_trouble import StorageError, Trouble
from ..local.lock import locked
from . import storage
from .index_code import decode_code
from .index_doc import Document, Kept, KeptLines, encode, encode_lines, first_key, keys_of
from .parse import Parsed
from .recent import Recent

VERSION = 3
FILE = "index.db"
LOCK = "index.lock"
COMPANIONS = ("", "-wal", "-shm", "-journal")
MOST_WORDS = 4000
"""Words that are looked up for one key."""

RACY = -1
"""Instead of a file's time, when it was read so soon after a change that another one may have the same time."""

RECENT_BYTES = 16_000_000
"""Of documents, and of their lines, that are kept for the next question."""

_NARROW = 0xFFFF
MOST_NUMBERED = 200_000
"""Words whose numbers a writer remembers."""

_SCHEMA = """
CREATE TABLE tree(id INTEGER PRIMARY KEY, path BLOB UNIQUE, version INTEGER, complete INTEGER, folders TEXT);
CREATE TABLE file(tree INTEGER, path BLOB, doc INTEGER, length INTEGER, size INTEGER, stamp INTEGER,
    version INTEGER, PRIMARY KEY(tree, path)) WITHOUT ROWID;
CREATE TABLE doc(id INTEGER PRIMARY KEY, digest BLOB UNIQUE, length INTEGER, parsed INTEGER, body BLOB, lines BLOB);
CREATE INDEX unparsed ON doc(id) WHERE parsed = 0;
CREATE TABLE code(doc INTEGER PRIMARY KEY, body BLOB);
CREATE TABLE defined(name TEXT, doc INTEGER, PRIMARY KEY(name, doc)) WITHOUT ROWID;
CREATE TABLE posting(key TEXT, batch INTEGER, number INTEGER, body BLOB, PRIMARY KEY(key, batch)) WITHOUT ROWID;
CREATE TABLE batch(id INTEGER PRIMARY KEY);
CREATE TABLE word(key TEXT, word TEXT, id INTEGER, PRIMARY KEY(key, word)) WITHOUT ROWID;
CREATE TABLE number(last INTEGER);
INSERT INTO number VALUES(0);
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree: its document (0 for what is not indexed), and size and time by which a change shows."""

    path: str
    doc: int
    length: int
    size: int
    stamp: int


@dataclass(frozen=True, slots=True)
class TreeState:
    """What is known of one tree. ``version`` grows with every change; ``folders`` is the builder's own text."""

    id: int
    version: int
    complete: bool
    folders: str


class IndexStore:
    """One connection to the index in ``folder``. Every method may raise StorageError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE
        self._database = _open(self.path)
        self._numbers: dict[str, int] = {}
        self._recent: Recent[Kept] = Recent(RECENT_BYTES)
        self._recent_lines: Recent[KeptLines] = Recent(RECENT_BYTES)

    def share(self, other: IndexStore) -> None:
        """Keep documents together with ``other``, which is connected to the same file."""
        self._recent, self._recent_lines = other._recent, other._recent_lines

    def close(self) -> None:
        self._database.close()

    def size(self) -> int:
        """Bytes that the index takes on disk."""
        return sum(_size(self.folder / (FILE + companion)) for companion in COMPANIONS)

    def is_current(self) -> bool:
        """Whether the file that is connected to is still the one in the folder."""
        return _identity(self.path) == self._database.identity

    def is_same(self, other: IndexStore) -> bool:
        """Whether both are connected to one file."""
        return self._database.identity == other._database.identity

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads in the block see the same moment."""
        with self._database.snapshot():
            yield

    # --- reading ------------------------------------------------------------------------------------

    def tree(self, root: str) -> TreeState | None:
        """What is known of the tree at ``root``."""
        row = self._database.row("SELECT id, version, complete, folders FROM tree WHERE path = ?", os.fsencode(root))
        return TreeState(row[0], row[1], bool(row[2]), row[3]) if row else None

    def entries(self, tree: int) -> list[Entry]:
        """The files of a tree, sorted by their encoded paths."""
        rows = self._database.rows("SELECT path, doc, length, size, stamp FROM file WHERE tree = ?", tree)
        return [Entry(os.fsdecode(path), doc, length, size, stamp) for path, doc, length, size, stamp in rows]

    def changes(self, tree: int, version: int, files: int) -> list[Entry] | None:
        """The entries that changed since the tree had ``version`` and ``files`` files; None when files are gone."""
        if self._database.number("SELECT count(*) FROM file WHERE tree = ?", tree) != files:
            return None
        sql = "SELECT path, doc, length, size, stamp FROM file WHERE tree = ? AND version > ?"
        return [Entry(os.fsdecode(path), *rest) for path, *rest in self._database.rows(sql, tree, version)]

    def entry(self, tree: int, path: str) -> Entry | None:
        """One file of a tree."""
        row = self._database.row(
            "SELECT doc, length, size, stamp FROM file WHERE tree = ? AND path = ?", tree, os.fsencode(path)
        )
        return Entry(path, *row) if row else None

    def postings(self, key: str) -> Iterator[tuple[memoryview, memoryview]]:
        """The documents with ``key`` and how often each has it, batch by batch. Raises ValueError for damaged ones."""
        for number, body in self._database.rows("SELECT number, body FROM posting WHERE key = ?", key):
            yield _read_posting(number, body)

    def frequency(self, key: str) -> int:
        """About how many documents have ``key``; those that no tree has any more count too."""
        return self._database.number("SELECT sum(number) FROM posting WHERE key = ?", key)

    def words(self, keys: Iterable[str]) -> dict[int, str]:
        """Words that have one of ``keys``, by their numbers."""
        found: dict[int, str] = {}
        for key in keys:
            found.update(self._database.rows("SELECT id, word FROM word WHERE key = ? LIMIT ?", key, MOST_WORDS))
        return found

    def number_of(self, word: str) -> int:
        """The number of ``word``; 0 when no document has it."""
        return self._database.number("SELECT id FROM word WHERE key = ? AND word = ?", first_key(word), word)

    def document(self, doc: int) -> Kept | None:
        """One document. Raises ValueError when it is damaged."""
        found = self._recent.get(doc)
        if found is None:
            row = self._database.row("SELECT body FROM doc WHERE id = ?", doc)
            found = self._keep(doc, row[0]) if row else None
        return found

    def documents(self, docs: Iterable[int]) -> dict[int, Kept]:
        """Those of ``docs`` that are there. Raises ValueError for damaged ones."""
        found = {doc: self._recent.get(doc) for doc in docs}
        missing = json.dumps([doc for doc, kept in found.items() if kept is None])
        sql = "SELECT id, body FROM doc WHERE id IN (SELECT value FROM json_each(?))"
        new = {doc: self._keep(doc, body) for doc, body in self._database.rows(sql, missing)}
        return {doc: kept for doc, kept in found.items() if kept} | new

    def lines(self, docs: Iterable[int]) -> dict[int, KeptLines]:
        """The lines of the words of those of ``docs`` that are there. Raises ValueError for damaged ones."""
        found = {doc: self._recent_lines.get(doc) for doc in docs}
        missing = json.dumps([doc for doc, lines in found.items() if lines is None])
        sql = "SELECT id, lines FROM doc WHERE id IN (SELECT value FROM json_each(?))"
        new = {doc: KeptLines(packed) for doc, packed in self._database.rows(sql, missing)}
        for doc, lines in new.items():
            self._recent_lines.put(doc, lines, lines.size)
        return {doc: lines for doc, lines in found.items() if lines} | new

    def _keep(self, doc: int, body: bytes) -> Kept:
        kept = Kept(body)
        self._recent.put(doc, kept, kept.size)
        return kept

    def numbers_of(self, word: str) -> frozenset[int]:
        """The numbers of ``word`` in all its spellings with capital letters."""
        sql = "SELECT id FROM word WHERE key = ? AND lower(word) = ?"
        keys = {_telling(spelling) for spelling in (word, word.lower())}
        return frozenset(number for key in keys for (number,) in self._database.rows(sql, key, word.lower()))

    def having(self, word: str) -> list[int]:
        """Documents with a word like ``word``, and some others. Raises ValueError for damaged postings."""
        return [doc for docs, _ in self.postings(_telling(word)) for doc in docs]

    def frequency_of(self, word: str) -> int:
        """About how many documents ``having`` gives."""
        return self.frequency(_telling(word))

    def defining(self, name: str) -> list[int]:
        """The parsed documents that define ``name``."""
        return [doc for (doc,) in self._database.rows("SELECT doc FROM defined WHERE name = ?", name)]

    def code(self, doc: int) -> Parsed | None:
        """What the syntax of a document says, if it was parsed. Raises ValueError when that is damaged."""
        row = self._database.row("SELECT body FROM code WHERE doc = ?", doc)
        return decode_code(row[0]) if row else None

    def waiting(self, most: int) -> list[int]:
        """Up to ``most`` documents of all trees that hold code and are not parsed yet."""
        return [doc for (doc,) in self._database.rows("SELECT id FROM doc WHERE parsed = 0 LIMIT ?", most)]

    def unparsed(self, tree: int, paths: Iterable[str] = ()) -> list[Entry]:
        """A file for each document of the tree, or of ``paths``, that holds code and is not parsed yet."""
        waiting = {doc for (doc,) in self._database.rows("SELECT id FROM doc WHERE parsed = 0")}
        if not waiting:
            return []
        named = [entry for path in paths if (entry := self.entry(tree, path))]
        return list({entry.doc: entry for entry in named or self.entries(tree) if entry.doc in waiting}.values())

    def known(self, digests: Iterable[bytes]) -> dict[bytes, tuple[int, int]]:
        """Of ``digests`` those that are stored: document and length."""
        found = {}
        for digest in digests:
            row = self._database.row("SELECT id, length FROM doc WHERE digest = ?", digest)
            if row:
                found[digest] = (row[0], row[1])
        return found

    def sizes(self, tree: int) -> tuple[int, int]:
        """Files of a tree, and of them those that have a document."""
        return (
            self._database.number("SELECT count(*) FROM file WHERE tree = ?", tree),
            self._database.number("SELECT count(*) FROM file WHERE tree = ? AND doc > 0", tree),
        )

    def counts(self) -> tuple[int, int, int]:
        """Documents, of them those that some tree has, and batches."""
        return (
            self._database.number("SELECT count(*) FROM doc"),
            self._database.number("SELECT count(DISTINCT doc) FROM file WHERE doc > 0"),
            self._database.number("SELECT count(*) FROM batch"),
        )

    # --- writing, inside of ``alone`` -----------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything in the block, or nothing."""
        self._database.begin()
        is_stored = False
        try:
            yield
            self._database.commit()
            is_stored = True
        finally:
            if not is_stored:
                self._numbers.clear()  # those that it gave are nobody's
                self._database.rollback()

    def add_tree(self, root: str) -> TreeState:
        """The tree at ``root``, made if need be."""
        self._database.run("INSERT OR IGNORE INTO tree VALUES(NULL, ?, 0, 0, '')", os.fsencode(root))
        found = self.tree(root)
        assert found
        return found

    def change_tree(self, tree: int, complete: bool, folders: str) -> None:
        """Note a change of the tree."""
        self._database.run(
            "UPDATE tree SET version = version + 1, complete = ?, folders = ? WHERE id = ?", complete, folders, tree
        )

    def put_entries(self, tree: int, entries: Iterable[Entry]) -> None:
        """Store ``entries``, to be followed by ``change_tree`` in the same transaction."""
        version = self._database.number("SELECT version FROM tree WHERE id = ?", tree) + 1
        rows = [(tree, os.fsencode(one.path), one.doc, one.length, one.size, one.stamp, version) for one in entries]
        self._database.many("INSERT OR REPLACE INTO file VALUES(?, ?, ?, ?, ?, ?, ?)", rows)

    def drop_entries(self, tree: int, paths: Iterable[str]) -> None:
        rows = [(tree, os.fsencode(path)) for path in paths]
        self._database.many("DELETE FROM file WHERE tree = ? AND path = ?", rows)

    def add_documents(self, documents: dict[bytes, Document]) -> dict[bytes, int]:
        """Store new documents by their digests, as one batch; their numbers."""
        if not documents:
            return {}
        number = self._database.number("SELECT max(id) FROM doc")
        batch = number + 1
        numbers = self._number(dict.fromkeys(word for document in documents.values() for word in document.words))
        ids: dict[bytes, int] = {}
        postings: dict[str, tuple[array[int], array[int]]] = defaultdict(lambda: (array("I"), array("I")))
        rows = []
        for digest, document in documents.items():
            number += 1
            ids[digest] = number
            body = encode(document, [numbers[word][0] for word in document.words])
            rows.append((number, digest, document.length, not document.is_code, body, encode_lines(document)))
            found: dict[str, int] = {}
            start = 0
            for word, end in zip(document.words, document.ends, strict=True):
                for key in numbers[word][1]:
                    found[key] = found.get(key, 0) + end - start
                start = end
            for key, count in found.items():
                docs, counts = postings[key]
                docs.append(number)
                counts.append(count)
        self._database.run("INSERT INTO batch VALUES(?)", batch)
        self._database.many("INSERT INTO doc VALUES(?, ?, ?, ?, ?, ?)", rows)
        self._database.many(
            "INSERT INTO posting VALUES(?, ?, ?, ?)",
            [(key, batch, len(docs), _posting(docs, counts)) for key, (docs, counts) in sorted(postings.items())],
        )
        return ids

    def add_code(self, rows: Iterable[tuple[int, bytes, set[str]]]) -> None:
        """Store what ``encode_code`` made of documents, with the names that they define."""
        for doc, body, names in rows:
            self._database.run("INSERT OR REPLACE INTO code VALUES(?, ?)", doc, body)
            self._database.run("UPDATE doc SET parsed = 1 WHERE id = ?", doc)
            self._database.many("INSERT OR IGNORE INTO defined VALUES(?, ?)", [(name, doc) for name in sorted(names)])

    def _number(self, words: Iterable[str]) -> dict[str, tuple[int, tuple[str, ...]]]:
        """The number of each of ``words``, new ones included, and its keys."""
        last = first = self._database.number("SELECT last FROM number")
        if len(self._numbers) > MOST_NUMBERED:
            self._numbers.clear()
        found = {}
        rows = []
        for word in words:
            keys = keys_of(word) or (first_key(word),)
            number = self._numbers.get(word) or (self.number_of(word) if first else 0)
            if not number:
                last = number = last + 1
                rows += [(key, word, number) for key in keys]
            self._numbers[word] = number
            found[word] = number, keys
        self._database.many("INSERT INTO word VALUES(?, ?, ?)", sorted(rows))
        self._database.run("UPDATE number SET last = ?", last)
        return found


def _telling(word: str) -> str:
    """The key that fewest other words share with ``word``."""
    keys = keys_of(word)
    return keys[-1] if keys else first_key(word)


def _posting(docs: array[int], counts: array[int]) -> bytes:
    """The documents with a key and how often each has it, with a checksum; ``_read_posting`` reads it."""
    body = docs.tobytes() + (counts if max(counts) > _NARROW else array("H", counts)).tobytes()
    return array("I", [zlib.crc32(body)]).tobytes() + body


def _read_posting(number: int, body: bytes) -> tuple[memoryview, memoryview]:
    view = memoryview(body)
    middle = 4 + 4 * number
    if len(body) not in (middle + 2 * number, middle + 4 * number):
        raise ValueError("a posting does not have the length that it should have")
    if zlib.crc32(view[4:]) != view[:4].cast("I")[0]:
        raise ValueError("a posting is damaged")
    return view[4:middle].cast("I"), view[middle:].cast("H" if len(body) == middle + 2 * number else "I")


@contextlib.contextmanager
def alone(folder: Path, seconds: float = 0.0) -> Iterator[bool]:
    """Whether only this caller may write in ``folder`` during the block; False when another one does for ``seconds``.

    Raises OSError.
    """
    storage.make_private(folder)
    with locked(folder / LOCK, seconds) as is_ours:
        yield bool(is_ours)


def open_to_read(folder: Path) -> IndexStore | None:
    """The index in ``folder``; None when there is none of this version that can be read."""
    if not (folder / FILE).is_file():
        return None
    try:
        return IndexStore(folder)
    except StorageError:
        return None


def open_to_write(folder: Path) -> IndexStore:
    """The index in ``folder``, made anew unless there is a sound one of this version; inside of ``alone``."""
    found = open_to_read(folder)
    if found:
        return found
    remove(folder)
    descriptor = os.open(folder / FILE, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.close(descriptor)
    database = Database(folder / FILE)
    try:
        database.prepare_mode()
        database.begin()
        for statement in _SCHEMA.split(";"):
            if statement.strip():
                database.run(statement)
        database.run(f"PRAGMA user_version = {VERSION}")
        database.commit()
    finally:
        database.close()
    return IndexStore(folder)


def remove(folder: Path) -> None:
    """Take the index away; inside of ``alone``, or by hand."""
    for companion in COMPANIONS:
        (folder / (FILE + companion)).unlink(missing_ok=True)


def _open(path: Path) -> Database:
    database = Database(path, patience=0.5)
    try:
        if database.number("PRAGMA user_version") != VERSION:
            raise StorageError(Trouble.DAMAGED, f"{path} is of another version")
        database.prepare_mode()
    except StorageError:
        database.close()
        raise
    return database


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
