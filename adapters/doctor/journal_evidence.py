"""Read the journal for ``upbeat doctor``: sessions of a client, and events on which upbeat failed.

Invariant: only the most recent part of a long journal is read, and an unreadable journal is evidence of nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from upbeat.adapters.clients.session_files import Recording, first_timestamp
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.doctor.diagnose import summarize_session
from upbeat.core.doctor.findings import SessionActivity, UnrecordedSession
from upbeat.core.errors import JournalError
from upbeat.core.journal.record import JournalEntry

MAX_SESSIONS = 100
"""Sessions of all clients that are examined."""
MAX_SESSIONS_PER_CLIENT = 5
MAX_RECORDS = 400
"""Records that are read of one session, the most recent ones."""
MAX_RECORDINGS = 10
EVALUATION_FAILED_EVENT = "internal_error"


def recent_sessions(journal: SqliteJournal, client: str, since: str) -> tuple[SessionActivity, ...]:
    """Return sessions of ``client`` with a hook since then (UTC, ISO 8601), most recent first."""
    sessions: list[SessionActivity] = []
    now = format_timestamp(datetime.now(UTC))
    try:
        for known in journal.sessions(last=MAX_SESSIONS):
            if known.client != client or known.is_renamed:
                continue
            session = summarize_session(latest_entries(journal, known.session_id), MAX_RECORDS, now, since)
            sessions += [session] if session else []
            if len(sessions) == MAX_SESSIONS_PER_CLIENT:
                break
    except JournalError:
        return ()
    return tuple(sessions)


def latest_entries(journal: SqliteJournal, session_id: str) -> tuple[JournalEntry, ...]:
    """Return the most recent records of a session; nothing if they cannot be read."""
    try:
        return journal.records(session_id, last=MAX_RECORDS) if session_id else ()
    except JournalError:
        return ()


def unrecorded_sessions(
    journal: SqliteJournal, recordings: Sequence[tuple[str, Recording]], turn_markers: tuple[bytes, ...]
) -> tuple[UnrecordedSession, ...]:
    """Return the recorded sessions of a client (id and file) that the journal does not have, most recent first.

    ``turn_markers`` are in the lines of a turn: a session without one has reached no hook point.
    """
    unrecorded = []
    try:
        for session_id, recording in recordings[:MAX_RECORDINGS]:
            began = "" if journal.records(session_id, last=1) else first_timestamp(recording.path, turn_markers)
            unrecorded += [UnrecordedSession(session_id, began)] if began else []
    except JournalError:
        return ()
    return tuple(unrecorded)


def summarize_failures(journal: SqliteJournal, since: str) -> tuple[int, str]:
    """Return how often upbeat itself failed since then, and when it last did (UTC, ISO 8601; empty for never)."""
    try:
        times = [
            entry.text_field("at")
            for entry in journal.iterate_since(since)
            if entry.text_field("event") == EVALUATION_FAILED_EVENT
        ]
    except JournalError:
        return 0, ""
    return len(times), max(times, default="")
