"""The journal's file is private, and what cannot be used is renamed and kept."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from fakes.clock import FakeClock
from processes import in_a_fork
from session_journal import change_file, continuations, event_names, happen, write_back

from upbeat.adapters.system.journal.store import SqliteJournal

ASIDE = "journal.damaged-20260102T030405Z.db"


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
def test_a_damaged_file_is_set_aside(stored: SqliteJournal, damage: Callable[[Path], None]) -> None:
    """An unusable file is renamed, kept and reported by a record and ``verify``; the event is stored in a new file."""
    damage(stored.file.path)

    assert (0, 1) == (continuations(stored), continuations(stored))
    assert ["journal_set_aside", "TurnEnding", "TurnEnding"] == event_names(stored)
    assert ASIDE == stored.records()[0].body["event_fields"]["file"]
    assert ((ASIDE,), 0, False) == (
        stored.health().damaged_files,
        stored.health().write_failures,
        stored.verify().is_intact,
    )
    assert os.path.lexists(stored.file.folder / ASIDE)
    if damage is link:
        assert "another file" == (stored.file.folder.parent / "elsewhere").read_text()


def test_an_empty_file_is_a_new_one(stored: SqliteJournal) -> None:
    """A file of zero bytes is what a new one looks like."""
    stored.file.path.write_bytes(b"")

    assert (0, 1, ["TurnEnding"] * 2) == (continuations(stored), continuations(stored), event_names(stored))


def test_damage_while_it_is_open(stored: SqliteJournal) -> None:
    """Damage under a warm process is seen at its next event or at once, and the event after that is stored."""
    happen(stored)
    write_back(stored)
    with stored.file.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (stored.file.path.stat().st_size - 4096))
    later = SqliteJournal(stored.file.folder.parent, FakeClock())
    happen(later)
    happen(later)
    happen(stored)

    assert "is gone" in str(stored.verify().chain_break)
    assert "journal_set_aside" in event_names(stored)


def test_a_file_that_is_gone_is_made_anew(stored: SqliteJournal) -> None:
    """If the journal is deleted while it is open, the next event creates a new one."""
    happen(stored)
    for path in stored.file.folder.iterdir():
        path.unlink()

    assert (0, ["TurnEnding"]) == (continuations(stored), event_names(stored))


def test_only_some_damaged_files_are_kept(stored: SqliteJournal) -> None:
    """Of files that were set aside the latest three are kept."""
    for _ in range(5):
        stored.close()
        garbage(stored.file.path)
        stored.file.folder.joinpath("journal.db-wal").unlink(missing_ok=True)
        happen(stored)

    assert 3 == len(stored.health().damaged_files)
    assert 4 == len([path for path in stored.file.folder.iterdir() if path.suffix == ".db"])


def test_a_file_of_a_newer_version_is_left_alone(stored: SqliteJournal) -> None:
    """A file of a newer upbeat is neither changed nor set aside, and the status tells how to fix it."""
    change_file(stored, "PRAGMA user_version=99")
    happen(stored)

    assert "version 99, written by a newer upbeat; update this one" in stored.health().problem
    assert (1, ()) == (stored.health().write_failures, stored.health().damaged_files)


def test_it_is_private(journal: SqliteJournal) -> None:
    """Only the owner can read the journal's files; permissions that were opened are closed again."""
    happen(journal)
    files = list(journal.file.folder.iterdir())
    os.chmod(journal.file.path, 0o644)
    os.chmod(journal.file.folder, 0o755)
    journal.close()
    happen(journal)

    assert {"journal.db", "journal.db-shm", "journal.db-wal", "journal.head", "journal.lock"} == {
        file.name for file in files
    }
    assert {0o600} == {stat.S_IMODE(file.stat().st_mode) for file in files}
    assert 0o700 == stat.S_IMODE(journal.file.folder.stat().st_mode)


def use_read_only_home(has_journal: bool) -> tuple[list[int], str, int]:
    """Store two events, make the home read-only, and try two more; run it in a process of its own."""
    home = Path(tempfile.mkdtemp())
    journal = SqliteJournal(home, FakeClock())
    stored = [continuations(journal), continuations(journal)]
    journal.close()
    if not has_journal:
        shutil.rmtree(journal.file.folder)
    paths = [*home.rglob("*"), home]
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    stored += [continuations(journal), continuations(journal)]
    problem, count = journal.health().problem.replace(str(home), "HOME"), len(journal.records())
    for path in reversed(paths):
        path.chmod(0o700)
    shutil.rmtree(home)
    return stored, problem, count


@pytest.mark.parametrize(
    ("has_journal", "counts", "problem", "count"),
    [
        (False, [0, 1, 0, 0], "HOME cannot be written", 0),
        (True, [0, 1, 2, 2], "HOME/upbeat/journal.db can only be read", 2),
    ],
)
def test_a_home_that_cannot_be_written(has_journal: bool, counts: list[int], problem: str, count: int) -> None:
    """A read-only home costs nothing but the records; what there is can still be read."""
    assert (counts, problem, count) == in_a_fork(use_read_only_home, has_journal)
