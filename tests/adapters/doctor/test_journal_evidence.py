"""What the journal shows of sessions and failures; an unreadable journal shows nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from journal_values import record
from repositories import write
from session_journal import SettableClock, happen

from upbeat.adapters.clients.session_files import list_recordings
from upbeat.adapters.doctor import journal_evidence
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.doctor.findings import HookPoint, UnrecordedSession

AT = "2026-01-02T03:04:05.678Z"
TURN = '{"timestamp": "2026-01-02T03:04:05.678Z", "turn": 1}\n'


@pytest.fixture
def journal(tmp_path: Path) -> SqliteJournal:
    return SqliteJournal(tmp_path / "state", SettableClock())


@pytest.fixture
def unreadable(tmp_path: Path) -> SqliteJournal:
    """A journal whose file is a folder."""
    (tmp_path / "broken/upbeat/journal.db").mkdir(parents=True)
    return SqliteJournal(tmp_path / "broken", SettableClock())


def test_recent_sessions_are_those_of_the_client(journal: SqliteJournal) -> None:
    """At most five are returned, the most recent first; records from before the time do not count."""
    for number in range(journal_evidence.MAX_SESSIONS_PER_CLIENT + 1):
        happen(journal, f"s-{number}")
    happen(journal, "other", client="codex-cli")
    sessions = journal_evidence.recent_sessions(journal, "claude-code", "")

    assert [f"s-{number}" for number in range(journal_evidence.MAX_SESSIONS_PER_CLIENT, 0, -1)] == [
        session.session_id for session in sessions
    ]
    assert {HookPoint.END} == set(sessions[0].counts)
    assert () == journal_evidence.recent_sessions(journal, "claude-code", "9999")


def test_latest_entries_are_those_of_the_session(journal: SqliteJournal) -> None:
    """Without a session there are none."""
    happen(journal, "s-1")
    happen(journal, "s-2")

    assert ["s-1"] == [entry.text_field("session_id") for entry in journal_evidence.latest_entries(journal, "s-1")]
    assert () == journal_evidence.latest_entries(journal, "")


def test_a_session_with_a_turn_but_without_records_is_unrecorded(journal: SqliteJournal, tmp_path: Path) -> None:
    """A session without a prompt has reached no hook, so it is not listed."""
    happen(journal, "known")
    write(tmp_path / "files", {"known.jsonl": TURN, "idle.jsonl": TURN.replace("turn", "none"), "lost.jsonl": TURN})
    files = list_recordings(str(tmp_path / "files"), 0, lambda _name: True, 0)
    recordings = [(Path(file.path).stem, file) for file in files]

    assert (UnrecordedSession("lost", AT),) == journal_evidence.unrecorded_sessions(journal, recordings, (b'"turn"',))


def test_failures_are_counted_since_a_time(journal: SqliteJournal) -> None:
    """The time of the last failure is returned with their number."""
    for at in ("2026-01-01", "2026-01-02", "2026-01-03"):
        with journal.transaction() as transaction:
            transaction.append(record("", "/repo", "internal_error", at=at))
    happen(journal)

    assert (2, "2026-01-03") == journal_evidence.summarize_failures(journal, "2026-01-02")
    assert (0, "") == journal_evidence.summarize_failures(journal, "2027")


def test_an_unreadable_journal_is_evidence_of_nothing(unreadable: SqliteJournal, tmp_path: Path) -> None:
    """Nothing is raised, and nothing is concluded from records that cannot be read."""
    write(tmp_path / "files", {"lost.jsonl": TURN})
    files = list_recordings(str(tmp_path / "files"), 0, lambda _name: True, 0)

    assert () == journal_evidence.recent_sessions(unreadable, "claude-code", "")
    assert () == journal_evidence.latest_entries(unreadable, "s-1")
    assert () == journal_evidence.unrecorded_sessions(unreadable, [("lost", files[0])], (b'"turn"',))
    assert (0, "") == journal_evidence.summarize_failures(unreadable, "")
