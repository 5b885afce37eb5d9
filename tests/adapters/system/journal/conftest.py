"""The fixtures of the journal's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from session_journal import SettableClock, happen, write_back

from upbeat.adapters.system.journal.store import SqliteJournal


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def journal(tmp_path: Path, clock: SettableClock) -> SqliteJournal:
    return SqliteJournal(tmp_path / "state", clock)


@pytest.fixture
def stored(journal: SqliteJournal) -> SqliteJournal:
    """The journal with two events of one session in its file, closed."""
    happen(journal)
    happen(journal)
    write_back(journal)
    journal.close()
    return journal
