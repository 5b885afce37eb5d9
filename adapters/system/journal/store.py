"""The journal: one append-only log of every session of a user, with each session's state.

Invariant: ``transaction`` never fails because of the disk. A transaction that cannot be stored works in memory, on the
state that can still be read, so that no turn is lost; its ``problem`` says why, so that no loop continues on state that
never changes. It is counted, and ``upbeat status`` reports it. An exception raised inside the
block rolls it back and reaches the caller.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from upbeat.adapters.system.journal import prune as journal_prune
from upbeat.adapters.system.journal import reader
from upbeat.adapters.system.journal.faults import StorageError, StorageErrorKind, storage_problem
from upbeat.adapters.system.journal.file import JournalFile
from upbeat.adapters.system.journal.heads import Head, JournalHeads, head_paths
from upbeat.adapters.system.journal.pending import take_unanswered
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.engine.ports import Clock, Transaction
from upbeat.core.errors import JournalError
from upbeat.core.journal import codec
from upbeat.core.journal.record import (
    JournalEntry,
    JournalHealth,
    PruneResult,
    Record,
    Retention,
    StoredSession,
    VerificationResult,
)
from upbeat.core.lazy_dataclass import replace
from upbeat.core.workflow.facts import apply_facts
from upbeat.core.workflow.state import NEW_SESSION, PeerSession, SessionState

if TYPE_CHECKING:
    from upbeat.adapters.system.journal.database import Database

T = TypeVar("T")

MAX_PEER_SESSIONS = 50
PAGE_SIZE = 500
"""Records to read at a time."""
SET_ASIDE_EVENT = "journal_set_aside"
UNANSWERED_EVENT = "hook_unanswered"
"""A hook ended before its client had the answer, so the client went on without it."""
UNANSWERED_CHECK_SECONDS = 2.0
UNREADABLE_STATE_EVENT = "journal_state_unreadable"
BUSY_TIMEOUT_SECONDS = 4.0
"""Seconds that a transaction waits for others; a client gives up on a hook after ten."""
SHORT_BUSY_TIMEOUT_SECONDS = 0.2
"""Seconds to wait once another process has held the file longer than ``BUSY_TIMEOUT_SECONDS``."""

_TAIL = "SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1"
_ANCHOR = "SELECT seq, hash FROM anchor"
_STATE = "SELECT state FROM sessions WHERE session_id = ?"
_PEER_SESSIONS = """
SELECT session_id, state, updated_at FROM sessions WHERE root = ? AND has_run = 1 ORDER BY seq DESC LIMIT ?
"""
_APPEND = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)"
_TOUCH = """
UPDATE sessions SET seq = ?, updated_at = ?, root = CASE WHEN root = '' THEN ? ELSE root END WHERE session_id = ?
"""
_UPSERT_SESSION = """
INSERT INTO sessions (session_id, root, client, state, has_run, seq, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session_id) DO UPDATE SET root = excluded.root, client = excluded.client, state = excluded.state,
    has_run = excluded.has_run, seq = excluded.seq, updated_at = excluded.updated_at
"""
_REBASE = "UPDATE sessions SET base = '', base_seq = ?, state = ?, has_run = 0 WHERE session_id = ?"


class SqliteJournal:
    """Implements ``core.engine.ports.Journal`` on ``<state_home>/upbeat/journal.db``. Threads may share it.

    ``retention`` returns the limits; it is called at most once a day.
    """

    def __init__(
        self,
        state_home: Path,
        clock: Clock,
        retention: Callable[[], Retention] = Retention,
        data_home: Path | None = None,
    ) -> None:
        self.file = JournalFile(state_home)
        self.heads = JournalHeads(head_paths(self.file.folder, data_home))
        self._clock = clock
        self._retention = retention
        self._lock = threading.RLock()
        self._database: Database | None = None
        self._process = 0
        self._current: Transaction | None = None
        self._was_busy = False
        self._is_recovering = False
        self._unanswered_checked_at = -UNANSWERED_CHECK_SECONDS
        self._prune_checked_on = ""
        """The day on which this process last finished pruning."""

    # --- writing ---

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Begin a transaction; one inside another of the same thread is part of it."""
        with self._lock:
            if self._current is not None:
                yield self._current
                return
            transaction = self._current = self._begin()
            is_failed = True
            try:
                yield transaction
                is_failed = False
            finally:
                self._current = None
                transaction.end(is_failed=is_failed)
            self._record_unanswered()
            if self._database and self._prune_checked_on != self._clock.now().date().isoformat():
                self._prune_once_a_day(self._database)

    def prune(self, before: datetime | None = None) -> PruneResult:
        """Remove the records before a time, or else what is over the limits. Raises JournalError."""
        if not self.file.exists():
            return PruneResult()
        with self._lock:
            try:
                database = self._open()
                pruned = journal_prune.prune(database, self._retention(), self._clock.now(), before=before)
                database.checkpoint()
            except StorageError as error:
                raise self._unreadable(error) from None
            self.file.clear_failures()
            self.heads.reset()
            return pruned

    def close(self) -> None:
        """Close the file; the next transaction opens it again."""
        with self._lock:
            if self._database:
                self._database.close()
                self._database = None

    # --- reading; each raises JournalError ---

    def records(
        self, session_id: str = "", root: str = "", *, last: int = 50, after: int = 0
    ) -> tuple[JournalEntry, ...]:
        """Return the ``last`` records in order, of one session or repository if given, with numbers above ``after``."""
        key, root = _session_key(session_id), codec.make_text_storable(root)
        return self._read(
            lambda database: reader.records(
                database, limit=last, session_id=key, root=root, after=after, is_latest=True
            ),
            (),
        )

    def iterate_since(self, since: str, root: str = "") -> Iterator[JournalEntry]:
        """Yield the records from ``since`` (UTC, ISO 8601) on, in order, of one repository if given."""
        root, after = codec.make_text_storable(root), 0
        nothing: tuple[JournalEntry, ...] = ()
        while page := self._read(
            partial(reader.records, limit=PAGE_SIZE, root=root, after=after, since=since), nothing
        ):
            yield from page
            after = page[-1].seq

    def record(self, seq: int) -> JournalEntry | None:
        """Return the record with this number."""
        return self._read(lambda database: reader.record(database, seq), None)

    def sessions(self, root: str = "", last: int = 50) -> tuple[StoredSession, ...]:
        """Return the ``last`` sessions, of one repository if given, the latest first."""
        return self._read(lambda database: reader.sessions(database, codec.make_text_storable(root), last), ())

    def find_session(self, start: str) -> str:
        """Return the id that is ``start``, else the latest session's id that begins with it, else an empty string."""
        return self._read(lambda database: reader.find_session(database, _session_key(start)), "")

    def recorded_roots(self, last: int = 3) -> tuple[str, ...]:
        """Return the ``last`` repositories with sessions, the latest first."""
        return self._read(lambda database: reader.recorded_roots(database, last), ())

    def verify(self) -> VerificationResult:
        """Verify that the chain holds and that every session's state is what its records say; reads everything."""
        found = self._read(
            lambda database: (reader.verify(database), self.heads.find_loss(database)),
            (VerificationResult(0, 0, 0), self.heads.find_loss(None)),
        )
        result, loss = found
        return replace(result, chain_break=loss) if loss and result.chain_break is None else result

    def health(self) -> JournalHealth:
        """Return the state of the journal. Never raises."""
        failures = self.file.failures()
        health = JournalHealth(
            path=str(self.file.path),
            exists=self.file.exists(),
            size_bytes=self.file.size_on_disk(),
            write_failures=len(failures),
            last_failure=failures[-1] if failures else "",
            damaged_files=self.file.damaged_files(),
            problem=storage_problem(self.file.folder),
        )
        with self._lock:
            try:
                return reader.with_measurements(health, self.file.open_to_read())
            except StorageError as error:
                return replace(health, problem=str(error))

    # --- inside ---

    def _begin(self) -> _StoredTransaction | _MemoryTransaction:
        """Begin a transaction on the file, or in memory if that fails. Set a damaged file aside."""
        for _ in range(3):
            try:
                return self._begin_on_file()
            except StorageError as error:
                problem = error
                if not self._recover(error):
                    break
        return self.record_loss(problem)

    def _begin_on_file(self) -> _StoredTransaction:
        database = self._open()
        database.begin()
        self._was_busy = False
        return _StoredTransaction(self, database, self._clock)

    def _open(self) -> Database:
        """Return the connection; a new one if the file was replaced, or this is a forked process."""
        database = self._database
        if database:
            try:
                status = os.lstat(database.path)
                is_replaced = (status.st_dev, status.st_ino) != database.identity
            except OSError:
                is_replaced = True
            if self._process != os.getpid():
                database = None
            elif is_replaced:
                database.close()
                database = None
        if database is None:
            database = self.file.open()
            self._process = os.getpid()
            self._database = database
        database.busy_timeout = SHORT_BUSY_TIMEOUT_SECONDS if self._was_busy else BUSY_TIMEOUT_SECONDS
        return database

    def _recover(self, error: StorageError) -> bool:
        """Close the file, and set it aside if it is damaged; return whether to try again."""
        seen = error.file_identity or (self._database.identity if self._database else None)
        self.close()
        self._was_busy = error.kind is StorageErrorKind.BUSY
        if error.kind is not StorageErrorKind.DAMAGED or self._is_recovering:
            return False
        self._is_recovering = True
        try:
            now = self._clock.now()
            name = self.file.set_aside(seen, now.strftime("%Y%m%dT%H%M%SZ"))
            if name:
                transaction = self._begin_on_file()
                fields = {"file": name, "problem": str(error)}
                transaction.append(Record(format_timestamp(now), SET_ASIDE_EVENT, event_fields=fields))
                transaction.end(is_failed=False)
        except StorageError:
            return False
        finally:
            self._is_recovering = False
        return True

    def record_loss(self, error: StorageError) -> _MemoryTransaction:
        """Count a loss; return a transaction in memory."""
        self.file.count_failure(f"{format_timestamp(self._clock.now())} {error}")
        return _MemoryTransaction(str(error), self._readable_state)

    def _readable_state(self, key: str) -> SessionState:
        """Return the stored state of a session without a transaction; ``NEW_SESSION`` if it cannot be read."""
        try:
            row = self._read(lambda database: database.row(_STATE, key), None)
            return codec.decode_state(row[0]) if row else NEW_SESSION
        except (JournalError, ValueError):
            return NEW_SESSION

    def abandon(self, error: StorageError) -> None:
        """Count the loss of a transaction that has failed, and recover the file."""
        self.record_loss(error)
        self._recover(error)

    def _record_unanswered(self) -> None:
        """Record the hooks that ended without an answer, looking for them every few seconds."""
        now = self._clock.monotonic()
        if now < self._unanswered_checked_at + UNANSWERED_CHECK_SECONDS:
            return
        self._unanswered_checked_at = now
        if not (taken := take_unanswered(str(self.file.folder))):
            return
        with self.transaction() as transaction:
            for noted in taken:
                texts = {name: value for name, value in noted.items() if isinstance(value, str)}
                client, session_id = texts.pop("client", ""), texts.pop("session_id", "")
                fields = {"hook": texts.get("event", ""), "tool": texts.get("tool", ""), "began_at": noted.get("at", 0)}
                transaction.append(Record("", UNANSWERED_EVENT, client, session_id, event_fields=fields))

    def _prune_once_a_day(self, database: Database) -> None:
        today = self._clock.now().date().isoformat()
        try:
            is_finished = journal_prune.prune_if_due(database, self._retention, self._clock.now())
            self._prune_checked_on = today if is_finished else ""
        except StorageError as error:
            self._prune_checked_on = today
            self.abandon(error)

    def _read(self, query: Callable[[Database], T], default: T) -> T:
        """Return the result of ``query``; ``default`` without a journal. Raises JournalError."""
        with self._lock:
            if self._current is None:
                self._record_unanswered()
            database = None
            try:
                database = self.file.open_to_read()
                return query(database) if database else default
            except StorageError as error:
                raise self._unreadable(error) from None
            finally:
                if database:
                    database.close()

    def _unreadable(self, error: StorageError) -> JournalError:
        ways = {
            StorageErrorKind.DAMAGED: "the next event of a client sets it aside and begins a new one",
            StorageErrorKind.BUSY: "another process holds it; try again",
            StorageErrorKind.OTHER: "fix that, or move the file away",
        }
        return JournalError(f"{self.file.path} cannot be used ({error}); {ways[error.kind]}")


class _StoredTransaction:
    """Implements ``core.engine.ports.Transaction`` on a begun transaction; from its first failure on, in memory."""

    def __init__(self, journal: SqliteJournal, database: Database, clock: Clock) -> None:
        self._journal = journal
        self._database: Database | None = database
        self._clock = clock
        self.problem = ""
        self._states: dict[str, SessionState] = {}
        tail = database.row(_TAIL) or database.row(_ANCHOR)
        self._seq, self._hash = tail or (0, codec.GENESIS)
        self._begun_at = Head(self._seq, self._hash)

    def end(self, *, is_failed: bool) -> None:
        """Commit, or roll back."""
        if self._database and is_failed:
            self._database.rollback()
        elif self._database:
            self._attempt(self._commit)

    def _commit(self, database: Database) -> None:
        database.commit()
        if self._seq > self._begun_at.seq:
            self._journal.heads.remember(self._begun_at, Head(self._seq, self._hash), database)

    def state(self, session_id: str) -> SessionState:
        key = _session_key(session_id)
        if key not in self._states:
            self._states[key] = self._attempt(lambda database: self._read_state(database, key)) or NEW_SESSION
        return self._states[key]

    def peer_sessions(self, root: str) -> tuple[PeerSession, ...]:
        key = codec.make_text_storable(root)
        rows = self._attempt(lambda database: database.rows(_PEER_SESSIONS, key, MAX_PEER_SESSIONS))
        peers = []
        for session_id, text, updated_at in rows or ():
            with contextlib.suppress(ValueError):
                peers.append(PeerSession(session_id, codec.decode_state(text), updated_at))
        return tuple(peers)

    def append(self, record: Record, state: SessionState | None = None) -> None:
        if not record.at:
            record = replace(record, at=format_timestamp(self._clock.now()))
        body = codec.encode_record(record)
        key = body["session_id"]
        kept = None if state is None else self._storable_state(record, body, state)
        self._attempt(lambda database: self._write(database, body, kept))
        if key and state is not None:
            self._states[key] = kept or state

    def _storable_state(self, record: Record, body: dict[str, Any], state: SessionState) -> SessionState | None:
        """Return the stored state with the stored facts applied if that is ``state``; else ``state`` made storable.

        The stored state can therefore always be folded again from the records.
        """
        before = self.state(record.session_id)
        try:
            if apply_facts(record.facts, before) != state:
                return codec.make_state_storable(state)
            if codec.is_stored_verbatim(record.facts, body):
                return state
            return apply_facts(codec.decode_facts(body), before)
        except ValueError as error:
            self._journal.record_loss(StorageError(StorageErrorKind.OTHER, f"a state that cannot be stored: {error}"))
            return None

    def _read_state(self, database: Database, key: str) -> SessionState:
        row = database.row(_STATE, key)
        if row is None:
            return NEW_SESSION
        try:
            return codec.decode_state(row[0])
        except ValueError as error:
            about = {"problem": str(error)}
            report = Record(
                format_timestamp(self._clock.now()), UNREADABLE_STATE_EVENT, session_id=key, event_fields=about
            )
            self._write(database, codec.encode_record(report), None)
            database.execute(_REBASE, self._seq, codec.encode_state(NEW_SESSION), key)
            return NEW_SESSION

    def _write(self, database: Database, body: dict[str, Any], state: SessionState | None) -> None:
        seq, text = self._seq + 1, codec.canonical_json(body)
        link = codec.compute_digest(self._hash, text)
        key, root, now = body["session_id"], body["root"], self._clock.now().timestamp()
        database.execute(_APPEND, seq, key, body["at"], body["event"], text, self._hash, link)
        self._seq, self._hash = seq, link
        if not key or (state is None and database.execute(_TOUCH, seq, now, root, key)):
            return
        state = state or NEW_SESSION
        known = (state.root or root, state.client or body["client"], codec.encode_state(state), state.run is not None)
        database.execute(_UPSERT_SESSION, key, *known, seq, now)

    def _attempt(self, work: Callable[[Database], T]) -> T | None:
        """Return the result of ``work``; None if it fails, or the transaction has failed before."""
        if self._database is None:
            return None
        try:
            return work(self._database)
        except StorageError as error:
            self._database.rollback()
            self._database = None
            self.problem = str(error)
            self._journal.abandon(error)
            return None


class _MemoryTransaction:
    """Implements ``core.engine.ports.Transaction`` in memory, where nothing can be stored."""

    def __init__(self, problem: str, read_state: Callable[[str], SessionState]) -> None:
        self.problem = problem
        self._read_state = read_state
        self._states: dict[str, SessionState] = {}

    def end(self, *, is_failed: bool) -> None:
        """Forget the states."""

    def state(self, session_id: str) -> SessionState:
        key = _session_key(session_id)
        if key not in self._states:
            self._states[key] = self._read_state(key)
        return self._states[key]

    def peer_sessions(self, root: str) -> tuple[PeerSession, ...]:  # noqa: ARG002 -- nobody is known
        return ()

    def append(self, record: Record, state: SessionState | None = None) -> None:
        if record.session_id and state is not None:
            self._states[_session_key(record.session_id)] = state


def _session_key(session_id: str) -> str:
    """Return the id of a session as it is stored."""
    return codec.make_text_storable(session_id, codec.MAX_IDENTIFIER_CHARS)
