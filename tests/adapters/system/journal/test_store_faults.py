"""The journal survives what disks, people and kill -9 do to it: the turn goes on, and the next event is stored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from fakes.clock import FakeClock
from journal_values import record, step

from upbeat.adapters.system.journal import file as journal_file
from upbeat.adapters.system.journal import store as journal_module
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.record import Retention
from upbeat.core.workflow.state import NEW_SESSION

ROOT = Path(__file__).parents[4]
ASIDE = "journal.damaged-20260102T030405Z.db"


def happen(journal: SqliteJournal, **more: Any) -> int:
    """Store one event; return how many times the session has been continued."""
    with journal.transaction() as transaction:
        facts, state = step(transaction.state("s-1"), 1)
        transaction.append(record(facts=facts, **more), state)
    return state.loop.iterations


def events(journal: SqliteJournal) -> list[str]:
    return [entry.text_field("event") for entry in journal.records()]


@pytest.fixture
def journal(tmp_path: Path) -> SqliteJournal:
    """A journal with two events in it, closed."""
    made = SqliteJournal(tmp_path, FakeClock())
    happen(made)
    happen(made)
    with apsw.Connection(str(made.file.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    made.close()
    return made


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(20000))


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def half_written(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "other").write_text("file")


def link(path: Path) -> None:
    path.unlink()
    (path.parent.parent / "elsewhere").write_text("another file")
    path.symlink_to(path.parent.parent / "elsewhere")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def other_tables(path: Path) -> None:
    with apsw.Connection(str(path)) as connection:
        connection.execute("DROP TABLE records")


@pytest.mark.parametrize("damage", [garbage, truncated, half_written, folder, link, pipe, other_tables])
def test_a_damaged_file_is_set_aside(journal: SqliteJournal, damage: Callable[[Path], None]) -> None:
    """What cannot be used is renamed and kept, a record says so, and the same event is stored in a new file."""
    damage(journal.file.path)

    assert (0, 1) == (happen(journal), happen(journal))
    assert ["journal_set_aside", "TurnEnding", "TurnEnding"] == events(journal)
    assert ASIDE == journal.records()[0].body["event_fields"]["file"]
    assert ((ASIDE,), 0, True) == (
        journal.health().damaged_files,
        journal.health().write_failures,
        journal.verify().is_intact,
    )
    assert os.path.lexists(journal.file.folder / ASIDE)
    if damage is link:
        assert "another file" == (journal.file.folder.parent / "elsewhere").read_text()


def test_an_empty_file_is_a_new_one(journal: SqliteJournal) -> None:
    """A file of zero bytes is what a new one looks like."""
    journal.file.path.write_bytes(b"")

    assert (0, 1, ["TurnEnding"] * 2) == (happen(journal), happen(journal), events(journal))


def test_damage_while_it_is_open(journal: SqliteJournal) -> None:
    """Damage under a warm process is seen at its next event or at once, and the event after that is stored."""
    happen(journal)
    with apsw.Connection(str(journal.file.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with journal.file.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (journal.file.path.stat().st_size - 4096))
    later = SqliteJournal(journal.file.folder.parent, FakeClock())
    happen(later)
    happen(later)
    happen(journal)

    assert journal.verify().is_intact
    assert "journal_set_aside" in events(journal)


def test_a_file_that_is_gone_is_made_anew(journal: SqliteJournal) -> None:
    """Whoever deletes the journal while it is open gets a new one with the next event."""
    happen(journal)
    for path in journal.file.folder.iterdir():
        path.unlink()

    assert (0, ["TurnEnding"]) == (happen(journal), events(journal))


def test_only_some_damaged_files_are_kept(journal: SqliteJournal) -> None:
    """Of files that were set aside the latest three are kept."""
    for _ in range(5):
        journal.close()
        garbage(journal.file.path)
        journal.file.folder.joinpath("journal.db-wal").unlink(missing_ok=True)
        happen(journal)

    assert 3 == len(journal.health().damaged_files)
    assert 4 == len([path for path in journal.file.folder.iterdir() if path.suffix == ".db"])


def test_a_file_of_a_newer_version_is_left_alone(journal: SqliteJournal) -> None:
    """What a newer upbeat wrote is neither changed nor set aside; status says what to do."""
    with apsw.Connection(str(journal.file.path)) as connection:
        connection.execute("PRAGMA user_version=99")
    happen(journal)

    assert "version 99, written by a newer upbeat; update this one" in journal.health().problem
    assert (1, ()) == (journal.health().write_failures, journal.health().damaged_files)


def no_room(journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.file.path.unlink()
    journal.file.folder.rename(journal.file.folder.with_name("was"))
    journal.file.folder.write_text("in the way")


def locked(journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "BUSY_TIMEOUT_SECONDS", 0.05)
    connection = apsw.Connection(str(journal.file.path))
    connection.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(journal, "held", connection, raising=False)


@pytest.mark.parametrize("stop", [no_room, locked])
def test_what_cannot_be_stored_costs_no_turn(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch, stop: Callable[[Any, Any], None]
) -> None:
    """Where nothing can be stored every event works on empty state; where that can be counted, it is."""
    stop(journal, monkeypatch)

    assert (0, 0) == (happen(journal), happen(journal))
    assert journal.health().problem
    assert journal.health().write_failures == (2 if stop is locked else 0)


def test_a_lock_that_goes_away(journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the lock is released, events are stored again, and the failures are reported until a prune."""
    locked(journal, monkeypatch)
    happen(journal)
    journal.held.execute("ROLLBACK")  # type: ignore[attr-defined]

    assert 2 == happen(journal)
    assert ("", 1) == (journal.health().problem, journal.health().write_failures)
    assert journal.health().last_failure.endswith("Z database is locked")
    journal.prune()
    assert 0 == journal.health().write_failures


def test_a_disk_without_room_is_told(journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk is full, status says so before anybody wonders."""
    monkeypatch.setattr(journal_file, "MIN_FREE_BYTES", 2**80)

    assert f"no room left at {journal.file.folder}" == journal.health().problem


READ_ONLY = """
import os, shutil, sys, tempfile
from pathlib import Path
from fakes.clock import FakeClock
from journal_values import record, step
from upbeat.adapters.system.journal.store import SqliteJournal

def happen():
    with journal.transaction() as transaction:
        facts, state = step(transaction.state("s-1"), 1)
        transaction.append(record(facts=facts), state)
    return state.loop.iterations

home = Path(tempfile.mkdtemp())
journal = SqliteJournal(home, FakeClock())
stored = [happen(), happen()]
journal.health(), journal.close()
if sys.argv[1] == "nothing":
    shutil.rmtree(journal.file.folder)
paths = [*home.rglob("*"), home]
for path in paths:
    path.chmod(0o500 if path.is_dir() else 0o400)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
stored += [happen(), happen()]
print(stored, journal.health().problem.replace(str(home), "HOME"), len(journal.records()))
for path in reversed(paths):
    path.chmod(0o700)
shutil.rmtree(home)
"""


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("nothing", "[0, 1, 0, 0] HOME cannot be written 0\n"),
        ("a journal", "[0, 1, 0, 0] HOME/upbeat/journal.db can only be read 2\n"),
    ],
)
def test_a_home_that_cannot_be_written(tmp_path: Path, what: str, expected: str) -> None:
    """A read-only home costs nothing but the records; what is there can still be read."""
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, what],
        env={"PYTHONPATH": str(ROOT / "tests"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ("", expected) == (done.stderr, done.stdout)


FULL = """
import resource, signal, sys
from pathlib import Path
from fakes.clock import FakeClock
from journal_values import record, step
from upbeat.adapters.system.journal.store import SqliteJournal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = SqliteJournal(Path(sys.argv[1]), FakeClock())
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
for number in range(40):
    with journal.transaction() as transaction:
        facts, state = step(transaction.state("s-1"), number)
        transaction.append(record(event_fields={"text": "some words " * 300}, facts=facts), state)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with journal.transaction() as transaction:
    transaction.append(record(event="Room"))
health = journal.health()
print(len(journal.records(last=100)), journal.verify().is_intact, health.write_failures > 0, health.damaged_files)
"""


@pytest.mark.parametrize("room", [0, 3000, 40_000, 60_000, 90_000])
def test_a_full_disk(tmp_path: Path, room: int) -> None:
    """Nothing is raised, what was stored is whole, it goes on once there is room; with none not even failures count."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), str(room)],
        env={"PYTHONPATH": str(ROOT / "tests"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    records, *rest = done.stdout.split(maxsplit=1)

    assert ("", [f"True {room > 0} ()\n"]) == (done.stderr, rest)
    assert 1 <= int(records) < 41


def test_an_error_while_pruning_costs_no_turn(tmp_path: Path) -> None:
    """A transaction that was committed stays, whatever becomes of the pruning after it."""
    made = SqliteJournal(tmp_path, FakeClock(), lambda: Retention(max_days=10))
    happen(made)
    made._prune_checked_on = ""
    with apsw.Connection(str(made.file.path)) as connection:
        connection.execute("DROP TABLE notes")
    happen(made)

    assert 1 == len(made.health().damaged_files)
    assert 0 == happen(made)


def test_a_wait_is_short_after_a_long_one(journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has waited in vain once does not wait as long again."""
    locked(journal, monkeypatch)
    happen(journal)
    monkeypatch.setattr(journal_module, "BUSY_TIMEOUT_SECONDS", 60.0)

    assert 0 == happen(journal)


def test_an_interrupt_leaves_nothing_behind(journal: SqliteJournal) -> None:
    """A transaction that was left open by Ctrl-C is undone by the next event, and the file stays where it is."""
    happen(journal)
    assert journal._database
    journal._database.begin()

    assert (3, ()) == (happen(journal), journal.health().damaged_files)


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
def test_whatever_a_record_holds_is_stored(journal: SqliteJournal, odd: dict[str, Any]) -> None:
    """No value makes an event fail, or its record too large."""
    with journal.transaction() as transaction:
        session_id = odd.get("session_id", "odd")
        facts, state = step(transaction.state(session_id), 1)
        transaction.peer_sessions(odd.get("root", "/"))
        transaction.append(record(**{"session_id": session_id, **odd}, facts=facts), state)
    with journal.transaction() as transaction:
        assert state == transaction.state(session_id)

    assert (3, 0, True) == (len(journal.records()), journal.health().write_failures, journal.verify().is_intact)
    assert len(json.dumps(journal.records()[-1].body)) < 70_000


# Processes


def load(module: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", f"reliability.{module}", *arguments],
        cwd=ROOT / "tests",
        env={"PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def test_killed_writers_lose_nothing() -> None:
    """kill -9 in the middle of writing: what was said to be stored is there, once, and the journal is whole."""
    told = load("lost_kills", "journal", "--size", "400", "--kills", "20")["journal, 400"]

    assert told["records"] >= 10


def test_many_processes_lose_nothing() -> None:
    """Twenty processes write twenty events each to one session: none is lost, none is there twice."""
    told = load("journal_load", "--writers", "20", "--events", "20")

    assert 400 == told["stored"]


def test_a_forked_process_opens_its_own(journal: SqliteJournal) -> None:
    """A connection is not used on both sides of a fork."""
    script = (
        "import os, sys; from pathlib import Path; from fakes.clock import FakeClock\n"
        "from journal_values import record; from upbeat.adapters.system.journal.store import SqliteJournal\n"
        "journal = SqliteJournal(Path(sys.argv[1]), FakeClock())\n"
        "for side in range(3):\n"
        "    with journal.transaction() as transaction: transaction.append(record(event=str(os.getpid())))\n"
        "    if side == 0: child = os.fork()\n"
        "if child: os.waitpid(child, 0)\n"
    )
    subprocess.run(
        [sys.executable, "-c", script, str(journal.file.folder.parent)],
        env={"PYTHONPATH": str(ROOT / "tests")},
        check=True,
    )

    assert (7, 2) == (len(events(journal)), len(set(events(journal)[2:])))
    assert journal.verify().is_intact


def test_days_go_by(journal: SqliteJournal) -> None:
    """A process that lives for weeks prunes on each of its days."""

    class Clock(FakeClock):
        days = 0

        def now(self) -> Any:
            return super().now() + timedelta(days=self.days)

    clock = Clock()
    warm = SqliteJournal(journal.file.folder.parent, clock, lambda: Retention(max_days=3))
    for day in range(10):
        clock.days = day
        happen(warm, at="")

    assert 4 == len(events(warm))
    assert NEW_SESSION != warm.sessions()[0].state
