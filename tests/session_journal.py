"""A journal with the records of several sessions."""

from __future__ import annotations

from pathlib import Path

from journal_values import record, step

from upbeat.adapters.system.journal.store import SqliteJournal

STATE = ".local/state"
"""The state folder below the home folder."""


def happen(journal: SqliteJournal, session_id: str, root: Path) -> None:
    with journal.transaction() as transaction:
        facts, state = step(transaction.state(session_id), 1)
        transaction.append(record(session_id, str(root), facts=facts), state)
