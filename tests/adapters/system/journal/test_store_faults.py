"""Where the disk, a lock or a killed process keeps the journal from storing, the turn goes on."""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import apsw
import pytest
from fakes.clock import FakeClock
from journal_values import record, step
from processes import in_a_fork
from session_journal import continuations, event_names, happen, rebuild_state

from upbeat.adapters.system.journal import store as journal_module
from upbeat.adapters.system.journal.store import SqliteJournal


def no_room(stored: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    stored.file.path.unlink()
    stored.file.folder.rename(stored.file.folder.with_name("was"))
    stored.file.folder.write_text("in the way")


def locked(stored: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "BUSY_TIMEOUT_SECONDS", 0.05)
    connection = apsw.Connection(str(stored.file.path))
    connection.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(stored, "held", connection, raising=False)


@pytest.mark.parametrize("stop", [no_room, locked])
def test_what_cannot_be_stored_costs_no_turn(
    stored: SqliteJournal, monkeypatch: pytest.MonkeyPatch, stop: Callable[[Any, Any], None]
) -> None:
    """Where nothing can be stored every event works on the state that can be read; it is counted where it can be."""
    known = continuations(stored)
    stop(stored, monkeypatch)
    left = known + 1 if stop is locked else 0

    assert (left, left) == (continuations(stored), continuations(stored))
    with stored.transaction() as transaction:
        assert transaction.problem
    health = stored.health()
    assert (True, 3 if stop is locked else 0) == (bool(health.problem), health.write_failures)


def test_a_lock_that_goes_away(stored: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the lock is released, events are stored again, and the failures are reported until a prune."""
    locked(stored, monkeypatch)
    happen(stored)
    stored.held.execute("ROLLBACK")  # type: ignore[attr-defined]

    assert 2 == continuations(stored)
    assert ("", 1) == (stored.health().problem, stored.health().write_failures)
    assert stored.health().last_failure.endswith("Z database is locked")
    stored.prune()
    assert 0 == stored.health().write_failures


def fill_disk(state_home: Path, room: int) -> tuple[int, bool, bool, tuple[str, ...]]:
    """Store 40 events where files may have ``room`` bytes, and one afterwards; run it in a process of its own."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    journal = SqliteJournal(state_home, FakeClock())
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    for _ in range(40):
        happen(journal, event_fields={"text": "some words " * 300})
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    happen(journal, event="Room")
    health = journal.health()
    return len(journal.records(last=100)), journal.verify().is_intact, health.write_failures > 0, health.damaged_files


@pytest.mark.parametrize("room", [0, 3000, 40_000, 60_000, 90_000])
def test_a_full_disk(tmp_path: Path, room: int) -> None:
    """Nothing is raised, what was stored is whole, it goes on once there is room; with none not even failures count."""
    records, *state = in_a_fork(fill_disk, tmp_path, room)

    assert [True, room > 0, ()] == state
    assert 1 <= records < 41


def test_a_wait_is_short_after_a_long_one(stored: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    """After one wait in vain, the next wait is short."""
    locked(stored, monkeypatch)
    happen(stored)
    monkeypatch.setattr(journal_module, "BUSY_TIMEOUT_SECONDS", 60.0)

    assert 2 == continuations(stored)


def test_an_interrupt_leaves_nothing_behind(stored: SqliteJournal) -> None:
    """A transaction that was left open by Ctrl-C is undone by the next event, and the file stays where it is."""
    happen(stored)
    assert stored._database
    stored._database.begin()

    assert (3, ()) == (continuations(stored), stored.health().damaged_files)


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    "odd",
    [
        {
            "event_fields": {
                "n": 10**5000,
                "cycle": CYCLE,
                "bytes": b"\xff",
                "nan": float("nan"),
                5: object,
                "\ud800": "\ud800",
            }
        },
        {
            "root": "/\udcff\x00",
            "session_id": "\ud800",
            "event": "\x1b[31m",
            "client": "c" * 9999,
            "agent_id": "\ud800",
        },
        {"duration_ms": float("inf"), "injected_chars": 10**30, "at": "\ud800"},
        {"event_fields": {"text": "x" * 3_000_000}, "turn": {str(n): n for n in range(5000)}},
    ],
    ids=["values", "names", "numbers", "size"],
)
def test_whatever_a_record_holds_is_stored(stored: SqliteJournal, odd: dict[str, Any]) -> None:
    """No value makes an event fail, or its record too large."""
    with stored.transaction() as transaction:
        session_id = odd.get("session_id", "odd")
        facts, state = step(transaction.state(session_id), 1)
        transaction.peer_sessions(odd.get("root", "/"))
        transaction.append(record(**{"session_id": session_id, **odd}, facts=facts), state)
    with stored.transaction() as transaction:
        assert state == transaction.state(session_id)

    assert (3, 0, True) == (len(stored.records()), stored.health().write_failures, stored.verify().is_intact)
    assert len(json.dumps(stored.records()[-1].body)) < 70_000


def write_events(state_home: Path, count: int) -> None:
    journal = SqliteJournal(state_home, FakeClock())
    for _ in range(count):
        happen(journal)


def test_many_processes_lose_nothing(journal: SqliteJournal) -> None:
    """Twenty processes write twenty events each to one session: none is lost, none is there twice."""
    state_home = journal.file.folder.parent
    with ProcessPoolExecutor(20, mp_context=get_context("fork")) as pool:
        list(pool.map(write_events, [state_home] * 20, [20] * 20))

    assert (400, 399) == (len(journal.records(last=1000)), rebuild_state(journal, "s-1").loop.iterations)
    assert (0, True) == (journal.health().write_failures, journal.verify().is_intact)


def test_killed_writers_lose_nothing(journal: SqliteJournal) -> None:
    """What a writer had stored before kill -9 is there, once, and the journal is whole."""
    acknowledged = 0
    for number in range(20):
        reader, writer = os.pipe()
        pid = os.fork()
        while pid == 0:
            happen(journal)
            os.write(writer, b".")
        os.close(writer)
        acknowledged += len(os.read(reader, 1 + number % 5))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        while rest := os.read(reader, 100):
            acknowledged += len(rest)
        os.close(reader)
    records = len(journal.records(last=10_000))

    assert 20 <= acknowledged <= records <= acknowledged + 20
    assert (records - 1, True) == (rebuild_state(journal, "s-1").loop.iterations, journal.verify().is_intact)


def test_a_forked_process_opens_its_own(stored: SqliteJournal) -> None:
    """A connection is not used on both sides of a fork."""
    happen(stored)
    in_a_fork(happen, stored)
    in_a_fork(happen, stored)
    happen(stored)

    assert (6, True) == (len(event_names(stored)), stored.verify().is_intact)
