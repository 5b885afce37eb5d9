"""The journal: one append-only log of every session of a user, with each session's state beside it.

Law: ``transaction`` never fails for what the disk does. What cannot be stored works on empty state in memory, so that
no turn is lost and no loop goes on by a state that stands still; it is counted, and ``upbeat status`` tells it. An
exception raised inside the block undoes it and goes on to the caller.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...core.errors import JournalUnreadable
from ...core.journal.chain import GENESIS, canonical, digest
from ...core.journal.codec import body_of, facts_in, fitted, is_as_told, state_in, text_of
from ...core.journal.entry import Entry, Health, KnownSession, Pruned, Retention, Verified
from ...core.journal.fit import MAX_NAME, fit_text
from ...core.journal.record import Record
from ...core.ports import Clock, Neighbour, Transaction
from ...core.turn.report import timestamp
from ...core.workflow.fold import fold
from ...core.workflow.state import NEW, SessionState
from . import journal_prune, journal_reading
from .journal_file import JournalFile
from .journal_trouble import StorageError, Trouble, identity_of

if TYPE_CHECKING:
    from types import TracebackType

    from .journal_database import Database

T = TypeVar("T")

MOST_NEIGHBOURS = 50
PAGE = 500
"""Records that are read at a time where all are wanted."""
SET_ASIDE = "journal_set_aside"
UNREADABLE_STATE = "journal_state_unreadable"
PATIENCE = 4.0
"""Seconds that a transaction waits for others; a client gives up on a hook after ten."""
IMPATIENT = 0.2
"""Seconds to wait for others after they have held the file longer than ``PATIENCE`` once."""

_TAIL = "SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1"
_ANCHOR = "SELECT seq, hash FROM anchor"
_STATE = "SELECT state FROM sessions WHERE session_id = ?"
_NEIGHBOURS = """
SELECT session_id, state, updated_at FROM sessions WHERE root = ? AND has_run = 1 ORDER BY seq DESC LIMIT ?
"""
_APPEND = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)"
_TOUCH = """
UPDATE sessions SET seq = ?, updated_at = ?, root = CASE WHEN root = '' THEN ? ELSE root END WHERE session_id = ?
"""
_KEEP = """
INSERT INTO sessions (session_id, root, client, state, has_run, seq, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session_id) DO UPDATE SET root = excluded.root, client = excluded.client, state = excluded.state,
    has_run = excluded.has_run, seq = excluded.seq, updated_at = excluded.updated_at
"""
_REBASE = "UPDATE sessions SET base = '', base_seq = ?, state = ?, has_run = 0 WHERE session_id = ?"


class SqliteJournal:
    """Implements ``core.ports.Journal`` on ``<state_home>/upbeat/journal.db``. Threads may share it.

    ``retention`` is asked at most once a day how much is to be kept.
    """

    def __init__(self, state_home: Path, clock: Clock, retention: Callable[[], Retention] = Retention) -> None:
        self.file = JournalFile(state_home)
        self._clock = clock
        self._retention = retention
        self._lock = threading.RLock()
        self._database: Database | None = None
        self._process = 0
        self._current: Transaction | None = None
        self._was_busy = False
        self._is_mending = False
        self._looked_at = ""
        """The day that this process last looked whether something is to be pruned."""

    # --- writing ---

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction; one inside another of the same thread is part of it."""
        with self._lock:
            if self._current is not None:
                yield self._current
                return
            with self._begun() as self._current:
                try:
                    yield self._current
                finally:
                    self._current = None
            self._prune_once_a_day()

    def prune(self, before: datetime | None = None) -> Pruned:
        """Take out the records before a time, or else what is over the limits. Raises JournalUnreadable."""
        if not os.path.lexists(self.file.path):
            return Pruned()
        with self._lock:
            try:
                database = self._open()
                pruned = journal_prune.prune(database, self._retention(), self._clock.now(), before=before)
                database.checkpoint()
            except StorageError as error:
                raise self._unreadable(error) from None
            self.file.forget_failures()
            return pruned

    def close(self) -> None:
        """Let go of the file; the next transaction opens it again."""
        with self._lock:
            if self._database:
                self._database.close()
                self._database = None

    # --- reading; each raises JournalUnreadable ---

    def records(self, session_id: str = "", root: str = "", *, last: int = 50, after: int = 0) -> tuple[Entry, ...]:
        """The ``last`` records in order, of one session or repository if given, from behind ``after`` on."""
        with self._reading() as database:
            key = _name(session_id)
            return journal_reading.records(database, key, fit_text(root), last, after) if database else ()

    def each(self, since: str, root: str = "") -> Iterator[Entry]:
        """The records from ``since`` (UTC, ISO 8601) on, in order, of one repository if given; a few at a time."""
        found: tuple[Entry, ...] = ()
        while not found or len(found) == PAGE:
            after = found[-1].seq if found else 0
            with self._reading() as database:
                found = journal_reading.following(database, after, since, fit_text(root), PAGE) if database else ()
            if not found:
                return
            yield from found

    def record(self, seq: int) -> Entry | None:
        """The record with this number."""
        with self._reading() as database:
            return journal_reading.record(database, seq) if database else None

    def sessions(self, root: str = "", last: int = 50) -> tuple[KnownSession, ...]:
        """The ``last`` sessions, of one repository if given, the latest first."""
        with self._reading() as database:
            return journal_reading.sessions(database, fit_text(root), last) if database else ()

    def rebuild(self, session_id: str) -> SessionState:
        """The session's state, folded anew from its records."""
        with self._reading() as database:
            return journal_reading.rebuild(database, _name(session_id)) if database else NEW

    def verify(self) -> Verified:
        """Whether the chain holds and every session's state is what its records say; reads everything."""
        with self._reading() as database:
            return journal_reading.verify(database) if database else Verified(0, 0, 0)

    def health(self) -> Health:
        """How the journal is. Raises nothing."""
        failures = self.file.failures()
        found = Health(
            path=str(self.file.path),
            exists=os.path.lexists(self.file.path),
            bytes=self.file.bytes(),
            failures=len(failures),
            last_failure=failures[-1] if failures else "",
            damaged=self.file.damaged(),
            problem=self.file.obstacle(),
        )
        with self._lock:
            try:
                return journal_reading.measured(found, self.file.open_to_read())
            except StorageError as error:
                return replace(found, problem=str(error))

    # --- inside ---

    def _begun(self) -> _Stored | _Lost:
        """A transaction on the file; in memory where that cannot be. A damaged file is set aside on the way."""
        for _ in range(3):
            try:
                return self._begun_on_file()
            except StorageError as error:
                problem = error
                if not self._mend(error):
                    break
        return self.lost(problem)

    def _begun_on_file(self) -> _Stored:
        database = self._open()
        database.begin()
        self._was_busy = False
        return _Stored(self, database, self._clock)

    def _open(self) -> Database:
        """The connection; a new one when the file is another by now, or this is a forked process."""
        database = self._database
        if database and (self._process != os.getpid() or _is_gone(database)):
            if self._process == os.getpid():
                database.close()
            database = None
        if database is None:
            database = self.file.open()
            self._process = os.getpid()
            self._database = database
        database.patience = IMPATIENT if self._was_busy else PATIENCE
        return database

    def _mend(self, error: StorageError) -> bool:
        """Let go of the file, and set it aside if it is damaged; whether another try is worth it."""
        seen = error.seen or (self._database.identity if self._database else None)
        self.close()
        self._was_busy = error.trouble is Trouble.BUSY
        if error.trouble is not Trouble.DAMAGED or self._is_mending:
            return False
        self._is_mending = True
        try:
            now = self._clock.now()
            name = self.file.set_aside(seen, now.strftime("%Y%m%dT%H%M%SZ"))
            if name:
                with self._begun_on_file() as transaction:
                    transaction.append(Record(timestamp(now), SET_ASIDE, about={"file": name, "problem": str(error)}))
        except StorageError:
            return False
        finally:
            self._is_mending = False
        return True

    def lost(self, error: StorageError) -> _Lost:
        """Count what could not be stored; a transaction in memory."""
        self.file.count_failure(f"{timestamp(self._clock.now())} {error}")
        return _Lost()

    def give_up(self, error: StorageError) -> None:
        """A transaction has failed on its way: what it would have stored is lost."""
        self.lost(error)
        self._mend(error)

    def _prune_once_a_day(self) -> None:
        today = self._clock.now().date().isoformat()
        if self._looked_at == today or self._database is None:
            return
        try:
            is_finished = journal_prune.prune_today(self._database, self._retention, self._clock.now())
            self._looked_at = today if is_finished else ""
        except StorageError as error:
            self._looked_at = today
            self.give_up(error)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Database | None]:
        with self._lock:
            database = None
            try:
                database = self.file.open_to_read()
                yield database
            except StorageError as error:
                raise self._unreadable(error) from None
            finally:
                if database:
                    database.close()

    def _unreadable(self, error: StorageError) -> JournalUnreadable:
        ways = {
            Trouble.DAMAGED: "the next event of a client sets it aside and begins a new one",
            Trouble.BUSY: "another process holds it; try again",
            Trouble.OTHER: "mend that, or move the file away",
        }
        return JournalUnreadable(f"{self.file.path} cannot be used ({error}); {ways[error.trouble]}")


class _Stored:
    """Implements ``core.ports.Transaction`` on a begun transaction; from its first failure on, in memory."""

    def __init__(self, journal: SqliteJournal, database: Database, clock: Clock) -> None:
        self._journal = journal
        self._database: Database | None = database
        self._clock = clock
        self._states: dict[str, SessionState] = {}
        tail = database.row(_TAIL) or database.row(_ANCHOR)
        self._seq, self._hash = tail or (0, GENESIS)

    def __enter__(self) -> _Stored:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._database and kind:
            self._database.rollback()
        elif self._database:
            self._try(lambda database: database.commit())

    def state(self, session_id: str) -> SessionState:
        key = _name(session_id)
        if key not in self._states:
            self._states[key] = self._try(lambda database: self._read(database, key)) or NEW
        return self._states[key]

    def neighbours(self, root: str) -> tuple[Neighbour, ...]:
        rows = self._try(lambda database: database.rows(_NEIGHBOURS, fit_text(root), MOST_NEIGHBOURS)) or []
        found = []
        for session_id, text, updated_at in rows:
            with contextlib.suppress(ValueError):
                found.append(Neighbour(session_id, state_in(text), updated_at))
        return tuple(found)

    def append(self, record: Record, state: SessionState | None = None) -> None:
        if not record.at:
            record = replace(record, at=timestamp(self._clock.now()))
        body = body_of(record)
        key = body["session_id"]
        kept = None if state is None else self._storable(record, body, state)
        self._try(lambda database: self._write(database, body, kept))
        if key and state is not None:
            self._states[key] = kept or state

    def _storable(self, record: Record, body: dict[str, Any], state: SessionState) -> SessionState | None:
        """What the stored facts make of the stored state, if ``state`` is made so; else ``state``, cleaned.

        So the state that is stored is always what can be folded again from the records.
        """
        before = self.state(record.session_id)
        try:
            if fold(record.facts, before) != state:
                return fitted(state)
            return state if is_as_told(record.facts, body) else fold(facts_in(body), before)
        except ValueError as error:
            self._journal.lost(StorageError(Trouble.OTHER, f"a state that cannot be stored: {error}"))
            return None

    def _read(self, database: Database, key: str) -> SessionState:
        found = database.row(_STATE, key)
        if found is None:
            return NEW
        try:
            return state_in(found[0])
        except ValueError as error:
            about = {"problem": str(error)}
            report = Record(timestamp(self._clock.now()), UNREADABLE_STATE, session_id=key, about=about)
            self._write(database, body_of(report), None)
            database.run(_REBASE, self._seq, text_of(NEW), key)
            return NEW

    def _write(self, database: Database, body: dict[str, Any], state: SessionState | None) -> None:
        seq, text = self._seq + 1, canonical(body)
        link = digest(self._hash, text)
        key, root, now = body["session_id"], body["root"], self._clock.now().timestamp()
        database.run(_APPEND, seq, key, body["at"], body["event"], text, self._hash, link)
        self._seq, self._hash = seq, link
        if not key or (state is None and database.run(_TOUCH, seq, now, root, key)):
            return
        state = state or NEW
        known = (state.root or root, state.client or body["client"], text_of(state), state.run is not None)
        database.run(_KEEP, key, *known, seq, now)

    def _try(self, work: Callable[[Database], T]) -> T | None:
        """What ``work`` gives; None when it failed, or something has failed before."""
        if self._database is None:
            return None
        try:
            return work(self._database)
        except StorageError as error:
            self._database.rollback()
            self._database = None
            self._journal.give_up(error)
            return None


class _Lost:
    """Implements ``core.ports.Transaction`` in memory, where nothing can be stored."""

    def __init__(self) -> None:
        self._states: dict[str, SessionState] = {}

    def __enter__(self) -> _Lost:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def state(self, session_id: str) -> SessionState:
        return self._states.get(session_id, NEW)

    def neighbours(self, root: str) -> tuple[Neighbour, ...]:  # noqa: ARG002 -- nobody is known
        return ()

    def append(self, record: Record, state: SessionState | None = None) -> None:
        if record.session_id and state is not None:
            self._states[record.session_id] = state


def _name(session_id: str) -> str:
    """A session's name as it is stored."""
    return fit_text(session_id, MAX_NAME)


def _is_gone(database: Database) -> bool:
    """Whether the file that ``database`` is connected to is no longer the journal."""
    try:
        return identity_of(database.path) != database.identity
    except StorageError:
        return True
