"""The sessions of a repository, in the table ``codex_sessions`` of the journal's database.

A row is a Codex thread that can be resumed, or, with an empty ``thread_id``, a name that is reserved for a thread that
is about to start. The same row holds the lease of the process that works on it.

Earlier versions kept the sessions in a file of the repository, ``SESSION_FILE``, which is imported once.

Invariant: a name and a thread have at most one holder, each write is one transaction, and a thread that was stored is
not lost: when its name moves on to another thread, its row stays without a name. Reading writes nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from upbeat.adapters.codex.transport.base import TokenUsage
from upbeat.adapters.codex_auto.sessions.session import (
    FREE,
    Lease,
    Session,
    is_lease_active,
    is_thread_id,
    lease_of_this_process,
)
from upbeat.adapters.system.files.safe_open import NotRegularError, read_file
from upbeat.adapters.system.journal.faults import StorageError
from upbeat.adapters.system.journal.file import JournalFile
from upbeat.core.journal.codec import make_text_storable

if TYPE_CHECKING:
    from upbeat.adapters.system.journal.database import Database

SESSION_FILE = ".upbeat/codex-session.json"
MAX_FILE_BYTES = 1 << 20
MAX_NAMED = 500
"""Threads that a repository keeps under a name; beyond them the least recently used one loses its name."""
MAX_UNNAMED = 500
"""Threads that are kept without a name; the oldest is dropped first, and Codex still has it."""

_COLUMNS = "name, thread_id, created_at, updated_at, cwd, title, usage, pid, process_start, host, renewed_at"
_SELECT = f"SELECT {_COLUMNS} FROM codex_sessions WHERE root = ?"  # noqa: S608 -- no value in it
_INSERT = f"INSERT OR REPLACE INTO codex_sessions (root, repository, {_COLUMNS}) VALUES ({'?, ' * 12}?)"  # noqa: S608
_MOVED_FROM = "SELECT root FROM codex_sessions WHERE repository = ? AND root <> ? ORDER BY updated_at DESC"
_FREE = "UPDATE codex_sessions SET pid = 0 WHERE root = ? AND pid = ? AND process_start = ? AND host = ?"
_LEASE = "UPDATE codex_sessions SET pid = ?, process_start = ?, host = ?, renewed_at = ? WHERE root = ? AND name = ?"
_UNNAME = (
    "UPDATE OR REPLACE codex_sessions SET name = '' WHERE root = ? AND name = ? AND thread_id <> '' AND thread_id <> ?"
)
_DROP_THREAD = "DELETE FROM codex_sessions WHERE root = ? AND thread_id = ?"
_DROP_FREE_NAMES = "DELETE FROM codex_sessions WHERE root = ? AND thread_id = '' AND pid = 0"
_TRIM_NAMED = """
UPDATE OR REPLACE codex_sessions SET name = '' WHERE root = ? AND name IN (
    SELECT name FROM codex_sessions WHERE root = ? AND name <> '' AND pid = 0
    ORDER BY updated_at DESC LIMIT -1 OFFSET ?)
"""
_TRIM_UNNAMED = """
DELETE FROM codex_sessions WHERE root = ? AND name = '' AND thread_id IN (
    SELECT thread_id FROM codex_sessions WHERE root = ? AND name = '' ORDER BY updated_at DESC LIMIT -1 OFFSET ?)
"""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """One row. ``session`` is None for a reserved name, ``holder`` another live process that works on it."""

    name: str
    session: Session | None
    lease: Lease = FREE
    holder: Lease | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """The result of claiming a name: what is stored under it, or the ``holder`` that has it or its thread."""

    session: Session | None = None
    holder: Lease | None = None
    stale_holder: Lease | None = None
    """The process that held it and ended without releasing it."""
    problem: str = ""
    """Why nothing could be stored."""


class SessionStore:
    """The sessions of the repository at ``root``, as seen by the process ``own``, which holds at most one.

    All methods but ``release`` raise ``StorageError`` when the database cannot be used.
    """

    def __init__(self, state_home: Path, root: str, own: Lease | None = None) -> None:
        self.root = root
        self.problems: list[str] = []
        """Why the session file of an earlier version could not be imported."""
        self._key = make_text_storable(root)
        self._file = JournalFile(state_home)
        self._own = own or lease_of_this_process()
        self._is_holding = False

    def read(self, now: int) -> tuple[StoredSession, ...]:
        """Return all rows; ``now`` is in seconds since 1970."""
        database = self._file.open_to_read()
        if database is None:
            return self._read_session_file()
        with contextlib.closing(database):
            root = self._stored_root(database)
            rows = (
                self._select(database, root, self.root if root == self._key else root, now)
                if root
                else self._read_session_file()
            )
        return tuple(row for row in rows if row.session or row.holder or row.lease.is_same_process(self._own))

    def claim(self, name: str, session: Session | None, now: int) -> Claim:
        """Take the lease of ``name`` and store ``session`` under it (None: keep what is there).

        Release other leases.
        """
        with self._writing() as (database, former_root):
            rows = self._select(database, self._key, former_root, now)
            stored = next((row.session for row in rows if row.name == name), None)
            wanted = session or stored
            thread_id = wanted.thread_id.lower() if wanted else None
            rivals = [
                row
                for row in rows
                if row.lease.pid
                and not row.lease.is_same_process(self._own)
                and (row.name == name or (row.session and row.session.thread_id.lower() == thread_id))
            ]
            if holder := next((row.holder for row in rivals if row.holder), None):
                return Claim(wanted, holder)
            for row in rows:
                if row.lease.pid and not row.holder:
                    self._free(database, row.lease)
            database.execute(_DROP_FREE_NAMES, self._key)
            if session:
                database.execute(_UNNAME, self._key, name, session.thread_id)
                database.execute(_DROP_THREAD, self._key, session.thread_id)
            if session or not stored:
                self._insert(database, name, session)
            own = self._own
            database.execute(_LEASE, own.pid, own.process_start, own.host, now, self._key, name)
            database.execute(_TRIM_NAMED, self._key, self._key, MAX_NAMED - 1)
            database.execute(_TRIM_UNNAMED, self._key, self._key, MAX_UNNAMED)
        self._is_holding = True
        return Claim(wanted, stale_holder=rivals[0].lease if rivals else None)

    def remove_name(self, name: str, now: int) -> None:
        """Keep the thread of ``name`` without the name, which stays reserved for this process."""
        with self._writing() as (database, _):
            database.execute(_UNNAME, self._key, name, "")
        self.claim(name, None, now)

    def release(self) -> None:
        """Release the lease of this process."""
        if self._is_holding:
            with contextlib.suppress(StorageError), self._writing() as (database, _):  # the process ends anyway
                self._free(database, self._own)
                database.execute(_DROP_FREE_NAMES, self._key)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[tuple[Database, str]]:
        """Open a transaction.

        Rows of a moved repository and an older file are adopted first. Yield the former root too.
        """
        with contextlib.closing(self._file.open()) as database:
            database.begin()
            try:
                root = self._stored_root(database)
                if not root:
                    for row in self._read_session_file():
                        self._insert(database, row.name, row.session)
                elif root != self._key:
                    database.execute("UPDATE codex_sessions SET root = ? WHERE root = ?", self._key, root)
                yield database, self.root if root in ("", self._key) else root
                database.commit()
            finally:
                database.rollback()

    def _stored_root(self, database: Database) -> str:
        """Return the root that this repository has in the table: another one after a move, none for a new one."""
        if database.row("SELECT 1 FROM codex_sessions WHERE root = ?", self._key):
            return self._key
        identity = repository_identity(self.root)
        roots = database.rows(_MOVED_FROM, identity, self._key) if identity else ()
        return next((root for (root,) in roots if not os.path.isdir(root)), "")

    def _select(self, database: Database, root: str, shown_root: str, now: int) -> list[StoredSession]:
        rows = []
        for name, thread_id, created_at, updated_at, cwd, title, usage, *lease_columns in database.rows(_SELECT, root):
            tokens = TokenUsage(*json.loads(usage)) if usage else None
            session = Session(thread_id, created_at, updated_at, cwd, tokens, shown_root, title) if thread_id else None
            lease = Lease(*lease_columns)
            is_other = bool(lease.pid) and not lease.is_same_process(self._own)
            holder = lease if is_other and is_lease_active(lease, self._own.host, now) else None
            rows.append(StoredSession(name, session, lease, holder))
        return rows

    def _insert(self, database: Database, name: str, session: Session | None) -> None:
        identity = repository_identity(self.root)
        fields: tuple[Any, ...] = ("", "", "", "", "", "")
        if session:
            usage = session.usage
            counts = usage and json.dumps([usage.input_tokens, usage.cached_input_tokens, usage.output_tokens])
            texts = (session.created_at, session.updated_at, session.cwd, session.title)
            fields = (session.thread_id, *map(make_text_storable, texts), counts or "")
        database.execute(_INSERT, self._key, identity, name, *fields, 0, "", "", 0)

    def _free(self, database: Database, lease: Lease) -> None:
        database.execute(_FREE, self._key, lease.pid, lease.process_start, lease.host)

    def _read_session_file(self) -> tuple[StoredSession, ...]:
        """Return the sessions that an earlier version kept in the repository, unless this is a copy of another one."""
        try:
            entries = read_session_file(self.root)
        except ValueError as error:
            problem = f"{SESSION_FILE} is damaged ({error})"
            self.problems += [] if problem in self.problems else [problem]
            return ()
        is_copy = any(session.root not in ("", self.root) and os.path.isdir(session.root) for _, session in entries)
        return () if is_copy else tuple(StoredSession(name, session) for name, session in entries)


def repository_identity(root: str) -> str:
    """Return what a repository keeps when its folder is moved; empty for a folder without Git."""
    for marker in (".git/description", ".git"):
        with contextlib.suppress(OSError, ValueError):
            status = os.lstat(os.path.join(root, marker))
            if stat.S_ISREG(status.st_mode):
                return str(status.st_mtime_ns)
    return ""


def read_session_file(root: str) -> tuple[tuple[str, Session], ...]:
    """Return the names and sessions in the file of the repository at ``root``; the name is empty for old threads.

    Raises:
        ValueError: The file exists but cannot be understood.
    """
    try:
        data = read_file(SESSION_FILE, MAX_FILE_BYTES + 1, root)
    except NotRegularError as error:
        raise ValueError(error.strerror) from None
    except OSError:
        return ()
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"more than {MAX_FILE_BYTES} bytes")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    named = document.get("sessions") if isinstance(document, dict) else None
    if not isinstance(named, dict):
        raise ValueError("no 'sessions' in it")
    former = document.get("former")
    entries = [*named.items(), *(("", fields) for fields in (former if isinstance(former, list) else ()))]
    return tuple((name, session) for name, fields in entries if (session := _parse_session(fields)))


def _parse_session(fields: Any) -> Session | None:
    if not isinstance(fields, dict) or not is_thread_id(str(fields.get("thread_id"))):
        return None
    texts = {
        name: str(fields.get(name, "")) for name in ("thread_id", "created_at", "updated_at", "cwd", "root", "title")
    }
    counts = fields.get("usage")
    usage = None
    if isinstance(counts, dict):
        known = {name: value for name, value in counts.items() if name in TokenUsage.__slots__}
        usage = TokenUsage(**known) if all(isinstance(value, int) for value in known.values()) else None
    return Session(**texts, usage=usage)
