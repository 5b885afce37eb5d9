"""A journal with the records of several sessions, and changes to its file."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
from fakes.clock import FakeClock
from journal_values import record, step

from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.codec import decode_facts, decode_state
from upbeat.core.workflow.facts import apply_facts
from upbeat.core.workflow.state import NEW_SESSION, SessionState

STATE = ".local/state"
"""The state folder below the home folder."""


class SettableClock(FakeClock):
    """A clock whose date can be set."""

    def __init__(self) -> None:
        super().__init__()
        self.time = super().now()

    def now(self) -> datetime:
        return self.time


def happen(
    journal: SqliteJournal, session_id: str = "s-1", root: str | Path = "/repo", **record_fields: Any
) -> SessionState:
    """Store an event that continues a session, at the time of the journal's clock; return the session's new state."""
    with journal.transaction() as transaction:
        facts, state = step(transaction.state(session_id), 1)
        transaction.append(record(session_id, str(root), at="", facts=facts, **record_fields), state)
    return state


def continuations(journal: SqliteJournal, **record_fields: Any) -> int:
    """Store an event that continues the session s-1; return how often it has been continued."""
    return happen(journal, **record_fields).loop.iterations


def event_names(journal: SqliteJournal) -> list[str]:
    return [entry.text_field("event") for entry in journal.records()]


def change_file(journal: SqliteJournal, sql: str, *values: Any) -> None:
    """Change the journal's file past the journal."""
    with apsw.Connection(str(journal.file.path)) as connection:
        connection.execute(sql, values)


def rebuild_state(journal: SqliteJournal, session_id: str) -> SessionState:
    """Fold the session's state anew from its base and the records after it."""
    of_session = "SELECT base, base_seq FROM sessions WHERE session_id = ?"
    after_base = "SELECT body FROM records WHERE session_id = ? AND seq > ? ORDER BY seq"
    with apsw.Connection(str(journal.file.path)) as connection:
        base, base_seq = connection.execute(of_session, (session_id,)).fetchone() or ("", 0)
        state = decode_state(base) if base else NEW_SESSION
        for (body,) in connection.execute(after_base, (session_id, base_seq)):
            state = apply_facts(decode_facts(json.loads(body)), state)
    return state


def write_back(journal: SqliteJournal) -> None:
    """Bring everything from the write-ahead log into the journal's file."""
    change_file(journal, "PRAGMA wal_checkpoint(TRUNCATE)")
