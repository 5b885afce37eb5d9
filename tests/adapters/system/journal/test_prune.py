"""Pruning removes the oldest records, and leaves a journal that can be verified and replayed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from journal_values import record
from session_journal import SettableClock, change_file, continuations, event_names, happen, rebuild_state

from upbeat.adapters.system.journal import prune
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.record import PruneResult, Retention, VerificationResult
from upbeat.core.workflow.facts import SessionClosed
from upbeat.core.workflow.state import NEW_SESSION


def days(count: int) -> timedelta:
    return timedelta(days=count)


def test_old_records_go(journal: SqliteJournal, clock: SettableClock) -> None:
    """Pruning by time leaves a valid chain and the states of running sessions."""
    for _ in range(3):
        happen(journal, "goes on")
        happen(journal, "is over")
        clock.time += days(1)
    state = happen(journal, "goes on")
    pruned = journal.prune(clock.time - days(1))

    assert PruneResult(4, 0) == pruned
    assert [5, 6, 7] == [entry.seq for entry in journal.records()]
    assert VerificationResult(3, 4, 2) == journal.verify()
    assert state == rebuild_state(journal, "goes on") == journal.sessions()[0].state
    assert (PruneResult(2, 0), PruneResult()) == (journal.prune(clock.time), journal.prune(clock.time))
    assert state.loop.iterations + 1 == happen(journal, "goes on").loop.iterations
    assert VerificationResult(2, 6, 2) == journal.verify()


def test_sessions_go_with_their_last_record(journal: SqliteJournal, clock: SettableClock) -> None:
    """Of sessions without records only those stay whose run goes on."""
    happen(journal, "runs")
    ended = happen(journal, "ended")
    with journal.transaction() as transaction:
        transaction.append(record("ended", facts=(SessionClosed(),)), replace(ended, has_ended=True))
        transaction.append(record("idle"))
    pruned = journal.prune(clock.time + days(1))

    assert (PruneResult(4, 2), ["runs"]) == (pruned, [session.session_id for session in journal.sessions()])
    assert VerificationResult(0, 4, 1) == journal.verify()
    assert (5, VerificationResult(1, 4, 1)) == (happen(journal, "runs") and journal.records()[0].seq, journal.verify())


def test_too_much_goes(tmp_path: Path, clock: SettableClock) -> None:
    """A file over its size is brought well below it, the oldest first, and the room is given back."""
    journal = SqliteJournal(tmp_path, clock, lambda: Retention(max_mb=1))
    for _ in range(400):
        with journal.transaction() as transaction:
            transaction.append(record(event_fields={"text": "some words " * 360}))
    pruned = journal.prune()
    left = journal.records(last=10**6)

    assert 100 < pruned.records < 250
    assert (pruned.is_finished, 400 - pruned.records, 400) == (True, len(left), left[-1].seq)
    assert journal.file.path.stat().st_size < 1024 * 1024
    assert journal.verify().is_intact
    assert PruneResult() == journal.prune()


def test_it_prunes_by_itself_once_a_day(tmp_path: Path, clock: SettableClock) -> None:
    """The first event of a day removes records over the age limit."""
    asked = []

    def retention() -> Retention:
        asked.append(clock.time)
        return Retention(max_days=10)

    journal = SqliteJournal(tmp_path, clock, retention)
    for _ in range(3):
        happen(journal)
    for _ in range(2):
        clock.time += days(6)
        happen(journal)
    happen(SqliteJournal(tmp_path, clock, retention))

    assert [4, 5, 6] == [entry.seq for entry in journal.records()]
    assert 3 == len(asked)


@pytest.mark.parametrize("jump", [400, -400])
def test_a_jump_of_the_clock_takes_nothing_out(journal: SqliteJournal, clock: SettableClock, jump: int) -> None:
    """A clock that is wrong for a day, in either direction, costs no record."""
    happen(journal)
    clock.time += days(jump)
    happen(journal)
    clock.time -= days(jump)
    happen(journal)

    assert 3 == len(journal.records())


@pytest.mark.parametrize(
    ("now", "max_days"),
    [(datetime(1, 1, 1, tzinfo=UTC), 90), (datetime(2026, 1, 2, tzinfo=UTC), 10**6), (datetime.max, 90)],
)
def test_dates_that_cannot_be(tmp_path: Path, clock: SettableClock, now: datetime, max_days: int) -> None:
    """A clock or a setting beyond the first or the last day costs no turn and no record."""
    journal = SqliteJournal(tmp_path, clock, lambda: Retention(max_days=max_days))
    happen(journal)
    clock.time = now.replace(tzinfo=UTC)
    happen(journal)
    journal.close()
    happen(journal)

    assert [1, 2, 3] == [entry.seq for entry in journal.records()]
    assert 0 == journal.health().write_failures


def test_much_is_taken_out_bit_by_bit(tmp_path: Path, clock: SettableClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """One event takes out only so much; the next ones go on, until nothing is over the limits."""
    monkeypatch.setattr(prune, "MAX_RECORDS_PER_EVENT", 2)
    journal = SqliteJournal(tmp_path, clock, lambda: Retention(max_days=10))
    for _ in range(5):
        happen(journal)
    clock.time += days(6)
    happen(journal)
    clock.time += days(5)
    left = [happen(journal) and [entry.seq for entry in journal.records()] for _ in range(4)]

    assert [[3, 4, 5, 6, 7], [5, 6, 7, 8], [6, 7, 8, 9], [6, 7, 8, 9, 10]] == left


def test_an_error_while_pruning_costs_no_turn(tmp_path: Path, clock: SettableClock) -> None:
    """A transaction that was committed stays, whatever becomes of the pruning after it."""
    journal = SqliteJournal(tmp_path, clock, lambda: Retention(max_days=10))
    happen(journal)
    clock.time += days(1)
    change_file(journal, "DROP TABLE notes")
    happen(journal)

    assert 1 == len(journal.health().damaged_files)
    assert 0 == continuations(journal)


def test_days_go_by(tmp_path: Path, clock: SettableClock) -> None:
    """A process that lives for weeks prunes on each of its days."""
    journal = SqliteJournal(tmp_path, clock, lambda: Retention(max_days=3))
    for _ in range(10):
        happen(journal)
        clock.time += days(1)

    assert 4 == len(event_names(journal))
    assert NEW_SESSION != journal.sessions()[0].state
