"""Records, sessions, the state of the file and every change to it are read from one snapshot."""

from __future__ import annotations

from datetime import timedelta

import pytest
from session_journal import SettableClock, change_file, happen

from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.errors import JournalError
from upbeat.core.journal.record import ChainBreak, PruneResult, VerificationResult


def test_records_are_chosen(journal: SqliteJournal) -> None:
    """The last of one session, of one repository, or from behind one record on."""
    for session_id, root in (("a", "/x"), ("b", "/x"), ("a", "/y"), ("b", "/y")):
        happen(journal, session_id, root=root)

    def chosen(*which: str, **more: int) -> list[int]:
        return [entry.seq for entry in journal.records(*which, **more)]  # type: ignore[arg-type]

    assert [3, 4] == chosen(last=2)
    assert [1, 3] == chosen("a")
    assert [1, 2] == chosen("", "/x")
    assert [4] == chosen("b", after=2)


def test_sessions(journal: SqliteJournal, clock: SettableClock) -> None:
    """The sessions of a repository, the latest first, each with its last event."""
    happen(journal, "a")
    happen(journal, "b", root="/other")
    clock.time += timedelta(seconds=5)
    state = happen(journal, "c", event="Tea")
    first, second = journal.sessions("/repo")

    assert ("c", "/repo", "claude-code", state, 3, clock.time.timestamp(), "Tea") == (
        *(first.session_id, first.root, first.client, first.state, first.seq, first.updated_at),
        first.last_entry and first.last_entry.text_field("event"),
    )
    assert ("a", ["c", "b", "a"]) == (second.session_id, [session.session_id for session in journal.sessions()])


@pytest.mark.parametrize(
    ("start", "expected"), [("ab", "ab"), ("abc", "abc-2"), ("abc-1", "abc-1"), ("b", ""), ("%", ""), ("ABC", "")]
)
def test_find_session(journal: SqliteJournal, start: str, expected: str) -> None:
    """A session is found by its whole id, else the latest by the start of its id."""
    for session_id in ("ab", "abc-1", "abc-2"):
        happen(journal, session_id)

    assert expected == journal.find_session(start)


def test_recorded_roots(journal: SqliteJournal) -> None:
    """The repositories with sessions, the latest first, each once."""
    for session_id, root in (("a", "/x"), ("b", "/y"), ("c", ""), ("d", "/x"), ("e", "/z")):
        happen(journal, session_id, root)

    assert (("/z", "/x", "/y"), ("/z",)) == (journal.recorded_roots(), journal.recorded_roots(last=1))


SPOILT = {
    "body": (
        "UPDATE records SET body = replace(body, 'PLAN', 'DEV') WHERE seq = 2",
        ChainBreak(2, "was changed after it was written"),
    ),
    "no json": ("UPDATE records SET body = 'x' WHERE seq = 2", ChainBreak(2, "was changed after it was written")),
    "taken out": (
        "DELETE FROM records WHERE seq = 2",
        ChainBreak(3, "does not follow the record before it: one was taken out, put in or changed"),
    ),
    "the end": (
        "DELETE FROM records WHERE seq = 4",
        ChainBreak(4, "is gone, and sessions remember it: the end was taken off"),
    ),
    "filed wrong": (
        "UPDATE records SET session_id = 'x' WHERE seq = 3",
        ChainBreak(3, "is filed under another session, time or event than its own"),
    ),
}


@pytest.mark.parametrize("how", SPOILT)
def test_what_was_changed_is_found(journal: SqliteJournal, how: str) -> None:
    """The first record that is not what was written is named."""
    for _ in range(4):
        happen(journal)
    change_file(journal, SPOILT[how][0])

    assert SPOILT[how][1] == journal.verify().chain_break


def test_a_changed_state_is_found(journal: SqliteJournal) -> None:
    """A state that is not what its records say is named."""
    happen(journal, "a")
    happen(journal, "b")
    change_file(journal, "UPDATE sessions SET state = json_set(state, '$.compactions', 3) WHERE session_id = 'b'")

    assert VerificationResult(2, 0, 2, None, ("b",)) == journal.verify()


def test_reading_makes_nothing(journal: SqliteJournal) -> None:
    """Reading without a journal gives empty results and creates nothing."""
    assert ((), (), None) == (
        journal.records(),
        journal.sessions(),
        journal.record(1),
    )
    assert (VerificationResult(0, 0, 0), PruneResult(), False) == (
        journal.verify(),
        journal.prune(),
        journal.health().exists,
    )
    assert not journal.file.folder.exists()


def test_health(journal: SqliteJournal) -> None:
    """How large it is, how many records there are, since when."""
    happen(journal)
    health = journal.health()

    assert (True, 1, 1, "2026-01-02T03:04:05.678Z", "wal", "", 0, ()) == (
        *(health.exists, health.records, health.sessions, health.oldest, health.journal_mode, health.problem),
        *(health.write_failures, health.damaged_files),
    )
    assert health.size_bytes > 4096


def test_a_damaged_file_cannot_be_read(journal: SqliteJournal) -> None:
    """Reading a damaged file raises an error that says what happens next, and leaves the file unchanged."""
    happen(journal)
    journal.close()
    for file in journal.file.folder.iterdir():
        file.write_bytes(b"garbage " * 1000)
    with pytest.raises(JournalError, match=r"file is not a database\); the next event of a client sets it aside"):
        journal.records()

    assert "file is not a database" == journal.health().problem
    assert b"garbage " * 1000 == journal.file.path.read_bytes()
