"""A journal with the records of several sessions, and changes to its file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
from fakes.clock import FakeClock
from journal_values import record, step

from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.workflow.state import SessionState

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


def write_back(journal: SqliteJournal) -> None:
    """Bring everything from the write-ahead log into the journal's file."""
    change_file(journal, "PRAGMA wal_checkpoint(TRUNCATE)")
