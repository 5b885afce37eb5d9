"""What the journal tells ``upbeat doctor``: sessions of a client, and events that upbeat failed at.

Law: of a long journal the latest is read, and what cannot be read shows nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ...core.doctor.evidence import session_seen
from ...core.doctor.findings import SessionSeen, Unseen
from ...core.errors import JournalUnreadable
from ...core.journal.entry import Entry
from ...core.turn.report import timestamp
from .journal import SqliteJournal
from .recordings import Recording, began_at

MOST_SESSIONS = 100
"""Sessions of all clients that are looked through."""
MOST_OF_A_CLIENT = 5
MOST_RECORDS = 400
"""Records that are read of one session, the latest."""
MOST_KEPT = 10
FAILED = "could_not_evaluate"


@dataclass(frozen=True, slots=True)
class Failed:
    """How often upbeat itself failed, and when last."""

    count: int = 0
    last: str = ""


def sessions_seen(journal: SqliteJournal, client: str, since: str) -> tuple[SessionSeen, ...]:
    """The latest sessions of ``client`` in which a hook came since then (UTC, ISO 8601), the latest first."""
    found: list[SessionSeen] = []
    now = timestamp(datetime.now(UTC))
    try:
        for known in journal.sessions(last=MOST_SESSIONS):
            if known.client != client or known.is_renamed:
                continue
            seen = session_seen(entries_of(journal, known.session_id), MOST_RECORDS, now, since)
            found += [seen] if seen else []
            if len(found) == MOST_OF_A_CLIENT:
                break
    except JournalUnreadable:
        return ()
    return tuple(found)


def entries_of(journal: SqliteJournal, session_id: str) -> tuple[Entry, ...]:
    """The latest records of a session; nothing when they cannot be read."""
    try:
        return journal.records(session_id, last=MOST_RECORDS) if session_id else ()
    except JournalUnreadable:
        return ()


def unknown(
    journal: SqliteJournal, kept: Sequence[tuple[str, Recording]], of_a_turn: tuple[bytes, ...]
) -> tuple[Unseen, ...]:
    """Those of the sessions that a client has kept (id and file) of which the journal has nothing, the latest first.

    ``of_a_turn`` is in the lines that tell of a turn: a session without one has met no guard.
    """
    found = []
    try:
        for session_id, recording in kept[:MOST_KEPT]:
            began = "" if journal.records(session_id, last=1) else began_at(recording.path, of_a_turn)
            found += [Unseen(session_id, began)] if began else []
    except JournalUnreadable:
        return ()
    return tuple(found)


def failed(journal: SqliteJournal, since: str) -> Failed:
    """The events since then (UTC, ISO 8601) that upbeat itself failed at."""
    times = []
    try:
        times = [entry.text("at") for entry in journal.each(since) if entry.text("event") == FAILED]
    except JournalUnreadable:
        return Failed()
    return Failed(len(times), max(times, default=""))
