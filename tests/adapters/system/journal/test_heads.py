"""The journal's head outside of its file: what is taken off the end is noticed."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest
from fakes.clock import FakeClock

from upbeat.adapters.system.journal.heads import remove_heads
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.record import Record


def journal(home: Path) -> SqliteJournal:
    return SqliteJournal(home / "state", FakeClock(), data_home=home / "data")


def append(home: Path, count: int, start: int = 0) -> None:
    """Append records, each by a process of its own as far as the journal can tell."""
    for number in range(start, start + count):
        made = journal(home)
        with made.transaction() as transaction:
            transaction.append(Record("", f"Event{number}", "claude-code"))
        made.close()


def change(home: Path, sql: str) -> None:
    apsw.Connection(str(home / "state" / "upbeat" / "journal.db")).execute(sql)


def problem(home: Path) -> str:
    found = journal(home).verify().chain_break
    return f"{found.seq}: {found.problem}" if found else ""


def test_an_untouched_journal(tmp_path: Path) -> None:
    """Both heads name the last record, and nothing is missing."""
    append(tmp_path, 3)
    heads = [tmp_path / "state" / "upbeat" / "journal.head", *(tmp_path / "data" / "upbeat").iterdir()]

    assert "" == problem(tmp_path)
    assert [("000000000003", 0o600)] * 2 == [(head.read_text()[:12], head.stat().st_mode & 0o777) for head in heads]


@pytest.mark.parametrize(
    ("sql", "later", "expected"),
    [
        ("DELETE FROM records WHERE seq > 2", 0, "5: was the last one, and is gone"),
        ("DELETE FROM records WHERE seq > 2", 9, "5: was the last one, and is gone"),
        ("DELETE FROM records", 0, "5: was the last one, and is gone"),
        ("DELETE FROM records; DELETE FROM sessions", 9, "5: was the last one, and is gone"),
    ],
    ids=["cut", "cut and written on", "emptied", "emptied and written on"],
)
def test_a_cut_end(tmp_path: Path, sql: str, later: int, expected: str) -> None:
    """Records that were taken off the end are missed, also after new ones were written."""
    append(tmp_path, 5)
    change(tmp_path, sql)
    append(tmp_path, later, 5)

    assert expected in problem(tmp_path)


@pytest.mark.parametrize("later", [0, 1, 9])
@pytest.mark.parametrize("keeps_log", [True, False])
def test_an_emptied_file(tmp_path: Path, later: int, *, keeps_log: bool) -> None:
    """A journal of no bytes is missed, with or without its write-ahead log."""
    append(tmp_path, 5)
    for path in (tmp_path / "state" / "upbeat").glob("journal.db*"):
        if path.name == "journal.db":
            path.write_bytes(b"")
        elif not keeps_log:
            path.unlink()
    append(tmp_path, later, 5)

    assert "is gone" in problem(tmp_path)


@pytest.mark.parametrize("later", [1, 9])
def test_a_journal_without_its_tables(tmp_path: Path, later: int) -> None:
    """What was damaged and therefore set aside is missed."""
    append(tmp_path, 5)
    change(tmp_path, "DROP TABLE records")
    append(tmp_path, later, 5)

    assert "is gone" in problem(tmp_path)


@pytest.mark.parametrize("later", [0, 1, 9])
def test_a_removed_file(tmp_path: Path, later: int) -> None:
    """A journal that was removed is missed, even with the head beside it."""
    append(tmp_path, 5)
    for path in (tmp_path / "state" / "upbeat").iterdir():
        path.unlink()
    append(tmp_path, later, 5)

    assert "is gone" in problem(tmp_path)


def test_pruning_by_the_user_begins_anew(tmp_path: Path) -> None:
    """What the user prunes is not missed; neither is what the journal itself prunes."""
    append(tmp_path, 5)
    change(tmp_path, "DELETE FROM records WHERE seq > 2")
    journal(tmp_path).prune()
    append(tmp_path, 2)

    assert "" == problem(tmp_path)


def test_writers_at_the_same_time(tmp_path: Path) -> None:
    """A writer that keeps its head late takes nothing back, and is no loss."""
    slow, fast = journal(tmp_path), journal(tmp_path)
    with slow.transaction() as transaction:
        transaction.append(Record("", "First", "claude-code"))
        late = slow.heads.remember
        object.__setattr__(
            slow, "heads", type("Late", (), {"remember": staticmethod(lambda *given: queued.append(given))})
        )
        queued: list[tuple[object, ...]] = []
    with fast.transaction() as transaction:
        transaction.append(Record("", "Second", "claude-code"))
    late(*queued[0])  # type: ignore[arg-type]

    assert "" == problem(tmp_path)
    assert "000000000002" == (tmp_path / "state" / "upbeat" / "journal.head").read_text()[:12]


@pytest.mark.parametrize("content", ["", "x", "9" * 200, "000000000009 short\n"])
def test_a_damaged_head(tmp_path: Path, content: str) -> None:
    """What is no head is none, and costs nothing."""
    append(tmp_path, 1)
    head = tmp_path / "state" / "upbeat" / "journal.head"
    head.write_text(content)
    append(tmp_path, 1, 1)

    assert "" == problem(tmp_path)


def test_heads_that_cannot_be_written(tmp_path: Path) -> None:
    """Without a place for a head, events are stored all the same."""
    (tmp_path / "data").write_text("a file")
    (tmp_path / "state" / "upbeat").mkdir(parents=True)
    os.mkfifo(tmp_path / "state" / "upbeat" / "journal.head")
    append(tmp_path, 2)

    assert ("", 2) == (problem(tmp_path), journal(tmp_path).verify().records)


def test_removing_what_is_elsewhere(tmp_path: Path) -> None:
    """The heads in the data folder go, and the folder with them unless something else is in it."""
    folder = tmp_path / "upbeat"
    for others in ([], ["receipts"]):
        folder.mkdir()
        (folder / "journal-0123abcd.head").touch()
        for name in others:
            (folder / name).touch()
        remove_heads(tmp_path)

        assert others == [path.name for path in folder.glob("*")]
        assert bool(others) is folder.exists()
