"""The journal on disk: what is stored, how private and clean it is, how it is read, verified and pruned."""

from __future__ import annotations

import json
import os
import stat
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from fakes.clock import FakeClock
from journal_values import STARTED, record, step

from upbeat.adapters.system.journal import prune
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.errors import JournalError
from upbeat.core.journal.record import ChainBreak, PruneResult, Retention, VerificationResult
from upbeat.core.workflow.facts import SessionClosed, TurnContinued
from upbeat.core.workflow.reducer import apply_facts
from upbeat.core.workflow.state import NEW_SESSION, SessionState

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"


class Clock(FakeClock):
    """A clock that can be set."""

    def __init__(self) -> None:
        super().__init__()
        self.time = super().now()

    def now(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def journal(tmp_path: Path, clock: Clock) -> SqliteJournal:
    return SqliteJournal(tmp_path / "state", clock)


def happen(journal: SqliteJournal, session_id: str = "s-1", **more: Any) -> SessionState:
    with journal.transaction() as transaction:
        facts, state = step(transaction.state(session_id), 1)
        transaction.append(record(session_id, at="", facts=facts, **more), state)
    return state


def spoil(journal: SqliteJournal, sql: str, *values: Any) -> None:
    """Change the file behind the journal's back."""
    with apsw.Connection(str(journal.file.path)) as connection:
        connection.execute(sql, values)


def test_records_are_kept(journal: SqliteJournal) -> None:
    """Records are there in order, with their time, number, and a hash that the next one follows on."""
    happen(journal)
    happen(journal, "s-2", event="Tea")
    first, second = journal.records()

    assert [(1, "TurnEnding", "s-1"), (2, "Tea", "s-2")] == [
        (entry.seq, entry.text_field("event"), entry.text_field("session_id")) for entry in (first, second)
    ]
    assert ("2026-01-02T03:04:05.678Z", first.digest) == (first.text_field("at"), second.previous)
    assert (first, None) == (journal.record(1), journal.record(3))


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


def test_it_is_private(journal: SqliteJournal) -> None:
    """Nobody else reads it, its companions included; a file that was open to others is closed."""
    happen(journal)
    files = list(journal.file.folder.iterdir())
    os.chmod(journal.file.path, 0o644)
    os.chmod(journal.file.folder, 0o755)
    journal.close()
    happen(journal)

    assert {"journal.db", "journal.db-shm", "journal.db-wal", "journal.lock"} == {file.name for file in files}
    assert {0o600} == {stat.S_IMODE(file.stat().st_mode) for file in files}
    assert 0o700 == stat.S_IMODE(journal.file.folder.stat().st_mode)


def test_it_is_clean(journal: SqliteJournal) -> None:
    """No secret reaches the file: not in a record, not in a state, not in a name."""
    run = replace(STARTED.run, goal=f"with {KEY}")
    started = replace(STARTED, run=run)
    with journal.transaction() as transaction:
        transaction.append(
            record(f"s {KEY}", f"/{KEY}", event_fields={"problem": f"\x1b[31m{KEY}", KEY: [KEY]}, facts=(started,)),
            replace(apply_facts((started,), NEW_SESSION), handover_client=KEY),
        )
    journal.close()

    assert not [file for file in journal.file.folder.iterdir() if KEY.encode() in file.read_bytes()]
    with journal.transaction() as transaction:
        assert run.steps == (transaction.state(f"s {KEY}").run or run).steps
        assert "<redacted:aws-access-key>" == transaction.state(f"s {KEY}").handover_client
        assert 1 == len(transaction.peer_sessions(f"/{KEY}"))


@pytest.mark.parametrize("goal", [KEY, "x" * 9000, "\u202edo\x00 it"])
def test_a_state_can_be_folded_from_its_records(journal: SqliteJournal, goal: str) -> None:
    """Whatever has to be taken out of a fact, the stored state is what the stored facts make."""
    started = replace(STARTED, run=replace(STARTED.run, goal=goal))
    for facts in ((started,), (TurnContinued(f"a{goal}", 1),), (SessionClosed(),)):
        with journal.transaction() as transaction:
            state = transaction.state("s")
            transaction.append(record("s", facts=facts), apply_facts(facts, state))
    [known] = journal.sessions()

    assert goal != (known.state.run or STARTED.run).goal
    assert known.state == journal.rebuild_state("s")
    assert VerificationResult(3, 0, 1) == journal.verify()


def test_a_block_in_a_block_is_part_of_it(journal: SqliteJournal) -> None:
    """A transaction inside another one is no second one."""

    def both() -> None:
        with journal.transaction() as outer:
            with journal.transaction() as inner:
                inner.append(record())
            raise KeyError(outer is inner)

    with pytest.raises(KeyError, match="True"):
        both()

    assert () == journal.records()


def test_threads_share_it(journal: SqliteJournal) -> None:
    """Threads of one process write one after the other, and lose nothing."""
    threads = [threading.Thread(target=lambda: [happen(journal) for _ in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (40, 39) == (len(journal.records()), journal.rebuild_state("s-1").loop.iterations)


def test_sessions(journal: SqliteJournal, clock: Clock) -> None:
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
    assert ("a", ["c", "b", "a"]) == (second.session_id, [one.session_id for one in journal.sessions()])


def test_a_clock_that_goes_back(journal: SqliteJournal, clock: Clock) -> None:
    """Order is the order of writing, whatever the clock says."""
    happen(journal, "a")
    clock.time -= timedelta(days=400)
    happen(journal, "b")

    assert ["a", "b"] == [entry.text_field("session_id") for entry in journal.records()]
    assert ["b", "a"] == [one.session_id for one in journal.sessions()]
    assert journal.verify().is_intact


def test_an_unreadable_state_is_new_and_told(journal: SqliteJournal) -> None:
    """A state that nobody can read counts as new; a record says so, and the session goes on from there."""
    happen(journal)
    spoil(journal, "UPDATE sessions SET state = '{\"run\": 5}'")
    [spoilt] = journal.sessions()
    happen(journal)

    assert (NEW_SESSION, True) == (spoilt.state, "run" in spoilt.problem)
    assert ["TurnEnding", "journal_state_unreadable", "TurnEnding"] == [
        e.text_field("event") for e in journal.records()
    ]
    assert journal.sessions()[0].state == journal.rebuild_state("s-1") == apply_facts((STARTED,), NEW_SESSION)
    assert journal.verify().is_intact


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
    spoil(journal, SPOILT[how][0])

    assert SPOILT[how][1] == journal.verify().chain_break


def test_a_changed_state_is_found(journal: SqliteJournal) -> None:
    """A state that is not what its records say is named."""
    happen(journal, "a")
    happen(journal, "b")
    spoil(journal, "UPDATE sessions SET state = json_set(state, '$.compactions', 3) WHERE session_id = 'b'")

    assert VerificationResult(2, 0, 2, None, ("b",)) == journal.verify()


# Pruning


def days(count: int) -> timedelta:
    return timedelta(days=count)


def test_old_records_go(journal: SqliteJournal, clock: Clock) -> None:
    """Pruning by time leaves a chain that holds, and the states of those who go on."""
    for _ in range(3):
        happen(journal, "goes on")
        happen(journal, "is over")
        clock.time += days(1)
    state = happen(journal, "goes on")
    pruned = journal.prune(clock.time - days(1))

    assert PruneResult(4, 0) == pruned
    assert [5, 6, 7] == [entry.seq for entry in journal.records()]
    assert VerificationResult(3, 4, 2) == journal.verify()
    assert state == journal.rebuild_state("goes on") == journal.sessions()[0].state
    assert (PruneResult(2, 0), PruneResult()) == (journal.prune(clock.time), journal.prune(clock.time))
    assert state.loop.iterations + 1 == happen(journal, "goes on").loop.iterations
    assert VerificationResult(2, 6, 2) == journal.verify()


def test_sessions_go_with_their_last_record(journal: SqliteJournal, clock: Clock) -> None:
    """Of sessions without records only those stay whose run goes on."""
    happen(journal, "runs")
    ended = happen(journal, "ended")
    with journal.transaction() as transaction:
        transaction.append(record("ended", facts=(SessionClosed(),)), replace(ended, has_ended=True))
        transaction.append(record("idle"))
    pruned = journal.prune(clock.time + days(1))

    assert (PruneResult(4, 2), ["runs"]) == (pruned, [one.session_id for one in journal.sessions()])
    assert VerificationResult(0, 4, 1) == journal.verify()
    assert (5, VerificationResult(1, 4, 1)) == (happen(journal, "runs") and journal.records()[0].seq, journal.verify())


def test_too_much_goes(tmp_path: Path, clock: Clock) -> None:
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


def test_it_prunes_by_itself_once_a_day(tmp_path: Path, clock: Clock) -> None:
    """The first event of a day takes out what is too old."""
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
def test_a_jump_of_the_clock_takes_nothing_out(journal: SqliteJournal, clock: Clock, jump: int) -> None:
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
def test_dates_that_cannot_be(tmp_path: Path, clock: Clock, now: datetime, max_days: int) -> None:
    """A clock or a setting beyond the first or the last day costs no turn and no record."""
    journal = SqliteJournal(tmp_path, clock, lambda: Retention(max_days=max_days))
    happen(journal)
    clock.time = now.replace(tzinfo=UTC)
    happen(journal)
    journal.close()
    happen(journal)

    assert [1, 2, 3] == [entry.seq for entry in journal.records()]
    assert 0 == journal.health().write_failures


def test_much_is_taken_out_bit_by_bit(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
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


# Where nothing is, and reading


def test_reading_makes_nothing(journal: SqliteJournal) -> None:
    """Where there is no journal, whoever looks gets nothing and leaves nothing."""
    assert ((), (), None, NEW_SESSION) == (
        journal.records(),
        journal.sessions(),
        journal.record(1),
        journal.rebuild_state("s"),
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


def test_the_body_is_canonical(journal: SqliteJournal) -> None:
    """What is hashed is what is stored."""
    happen(journal)
    with apsw.Connection(str(journal.file.path)) as connection:
        [(body,)] = connection.execute("SELECT body FROM records").fetchall()

    assert body == json.dumps(json.loads(body), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def test_times_are_utc(journal: SqliteJournal, clock: Clock) -> None:
    """``updated_at`` is seconds since the epoch."""
    clock.time = datetime(2026, 5, 1, tzinfo=UTC)
    happen(journal)

    assert 1777593600.0 == journal.sessions()[0].updated_at
