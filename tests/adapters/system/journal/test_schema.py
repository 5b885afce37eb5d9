"""The way to the present tables from every earlier version."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import apsw
import pytest
from fakes.clock import FakeClock
from journal_values import record

from upbeat.adapters.system.journal.schema import MIGRATIONS, SCHEMA_VERSION
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.codec import encode_record
from upbeat.core.journal.record import Record

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"
LINES = (
    {
        "at": "2025-11-21T07:00:00.123+00:00",
        "event": "PromptSubmitted",
        "client": "claude-code",
        "session_id": "s-1",
        "effects": ["InjectContext"],
        "origin": "user",
        "run_id": "r",
        "limits": [],
        "silent_because": "",
        "tools": ["ci_search:ok"],
        "injected_chars": 12,
        "ms": 34,
    },
    {"at": "yesterday", "event": "unreadable_payload", "client": "codex-cli", "problem": f"not {KEY}", "ms": "x"},
)


def append(journal: SqliteJournal) -> None:
    with journal.transaction() as transaction:
        transaction.append(record())


def old_log(folder: Path, name: str = "log.jsonl", *lines: str) -> None:
    (folder / "upbeat").mkdir(parents=True, exist_ok=True)
    (folder / "upbeat" / name).write_text("".join(f"\n{line}\n" for line in lines))


def version(journal: SqliteJournal) -> int:
    with apsw.Connection(str(journal.file.path)) as connection:
        [(version_number,)] = connection.execute("PRAGMA user_version").fetchall()
    return int(version_number)


def test_every_version_leads_to_the_present_one() -> None:
    """From each version a file can have there is a way, without a circle."""
    for number in range(SCHEMA_VERSION):
        if number in MIGRATIONS:
            assert number < MIGRATIONS[number][0] <= SCHEMA_VERSION
    assert 0 in MIGRATIONS


def test_from_nothing(tmp_path: Path) -> None:
    """Without any journal the first event makes one of the present version."""
    journal = SqliteJournal(tmp_path, FakeClock())
    append(journal)

    assert (SCHEMA_VERSION, 1) == (version(journal), len(journal.records()))


def test_from_version_1(tmp_path: Path) -> None:
    """The lines of the old log are the first records; torn ones are left out; the file keeps under another name."""
    old_log(tmp_path, "log.jsonl", json.dumps(LINES[0]), '{"torn": "rec', "[1]", json.dumps(LINES[1]))
    old_log(tmp_path, "log.1.jsonl", json.dumps({"event": "older"}))
    journal = SqliteJournal(tmp_path, FakeClock())
    append(journal)
    imported = (
        Record("", "older"),
        Record(
            "2025-11-21T07:00:00.123Z",
            "PromptSubmitted",
            "claude-code",
            "s-1",
            event_fields={"effects": ["InjectContext"], "origin": "user", "run_id": "r", "tools": ["ci_search:ok"]},
            injected_chars=12,
            duration_ms=34,
        ),
        Record("", "invalid_payload", "codex-cli", event_fields={"problem": "not <redacted:aws-access-key>"}),
    )

    empty = encode_record(Record("", ""))

    assert [encode_record(each) for each in (*imported, record())] == [
        {**empty, **entry.body} for entry in journal.records()
    ]
    assert journal.verify().is_intact
    assert {"log.jsonl.imported", "log.1.jsonl.imported"} <= {path.name for path in journal.file.folder.iterdir()}
    assert 0o600 == stat.S_IMODE(journal.file.path.stat().st_mode)


def test_the_old_log_is_imported_once(tmp_path: Path) -> None:
    """Processes that open the old log at the same time import it once."""
    old_log(tmp_path, "log.jsonl", *(json.dumps({"event": f"old {number}"}) for number in range(200)))
    threads = [threading.Thread(target=append, args=[SqliteJournal(tmp_path, FakeClock())]) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal = SqliteJournal(tmp_path, FakeClock())

    assert [f"old {n}" for n in range(200)] + ["TurnEnding"] * 6 == [
        entry.text_field("event") for entry in journal.records(last=1000)
    ]
    assert journal.verify().is_intact


@pytest.mark.parametrize("what", ["folder", "not utf-8", "empty"])
def test_an_old_log_that_cannot_be_read(tmp_path: Path, what: str) -> None:
    """What cannot be imported does not keep the new journal from working."""
    path = tmp_path / "upbeat/log.jsonl"
    path.parent.mkdir()
    path.mkdir() if what == "folder" else path.write_bytes(b"\xff\xfe\n{" if what == "not utf-8" else b"")
    journal = SqliteJournal(tmp_path, FakeClock())
    append(journal)

    assert ["TurnEnding"] == [entry.text_field("event") for entry in journal.records()]


def test_the_present_version(tmp_path: Path) -> None:
    """A file of the present version stays as it is."""
    append(SqliteJournal(tmp_path, FakeClock()))
    journal = SqliteJournal(tmp_path, FakeClock())
    before = journal.records()
    append(journal)

    assert (before, 2) == (journal.records()[:1], len(journal.records()))
