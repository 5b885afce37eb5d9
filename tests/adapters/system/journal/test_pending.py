"""A hook whose process ends before it has answered leaves a file, and the journal a record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.journal.pending import FOLDER_NAME, announce_hook, settle_hook, take_turn, take_unanswered
from upbeat.adapters.system.journal.store import UNANSWERED_EVENT, SqliteJournal

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"
PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s-1", "cwd": "/repo"}


def gone_pid() -> int:
    """Return the id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-IS", "-c", ""]) as process:
        process.wait()
    return process.pid


def announce(home: Path, payload: bytes, pid: int = 0) -> Path:
    """Announce a hook as this process, or as one that is gone."""
    path = Path(announce_hook(str(home), "claude-code", payload))
    return path.rename(path.with_name(f"{pid}-1.json")) if pid else path


def test_an_answered_hook_leaves_nothing(tmp_path: Path) -> None:
    """The file is private, names the hook, and is gone once there is an answer; a hook at work is left alone."""
    path = announce(tmp_path, json.dumps(PAYLOAD).encode())
    noted = json.loads(path.read_text())

    assert (0o700, 0o600) == (path.parent.stat().st_mode & 0o777, path.stat().st_mode & 0o777)
    assert ("claude-code", "PreToolUse", "Bash", "s-1") == tuple(
        noted[name] for name in ("client", "event", "tool", "session_id")
    )
    assert [] == take_unanswered(str(tmp_path / "upbeat"))
    settle_hook(str(path))
    assert [] == os.listdir(path.parent)


@pytest.mark.parametrize("read", [False, True], ids=["next event", "next reader"])
def test_a_hook_whose_process_is_gone_is_recorded_once(tmp_path: Path, read: bool) -> None:
    """The next transaction, or whoever reads the journal, writes the record; the session's state stays."""
    announce(tmp_path, json.dumps(PAYLOAD).encode(), gone_pid())
    journal = SqliteJournal(tmp_path, SystemClock())
    if not read:
        with journal.transaction():
            pass
    for reader in (journal, SqliteJournal(tmp_path, SystemClock())):
        [record] = reader.records()

        assert (UNANSWERED_EVENT, "s-1") == (record.text_field("event"), record.text_field("session_id"))
        assert ("PreToolUse", "Bash") == tuple(record.body["event_fields"][name] for name in ("hook", "tool"))
        assert reader.verify().is_intact


def test_no_input_of_a_call_is_written(tmp_path: Path) -> None:
    """What is not a plain name is left out, as is what cannot be read."""
    hostile = {"tool_name": f"x {KEY}", "session_id": "\x1b[2J", "hook_event_name": 5, "tool_input": {"command": KEY}}
    for payload in (json.dumps(hostile).encode(), b"\xff{", b"[]", b"", KEY.encode()):
        path = announce(tmp_path, payload)

        assert {"client", "at"} == set(json.loads(path.read_text()))


def test_foreign_files_stay(tmp_path: Path) -> None:
    """Links, other names and broken files neither raise nor become more than an empty note."""
    folder = tmp_path / "upbeat" / FOLDER_NAME
    folder.mkdir(parents=True)
    pid = gone_pid()
    (tmp_path / "secret").write_text(json.dumps({"client": "secret"}))
    (folder / f"{pid}-1.json").symlink_to(tmp_path / "secret")
    (folder / f"{pid}-2.json").write_text("{")
    (folder / "notes.txt").write_text("mine")

    assert [{}, {}] == take_unanswered(str(tmp_path / "upbeat"))
    assert ["notes.txt"] == os.listdir(folder)
    assert (tmp_path / "secret").exists()


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    """The hook goes on without its file."""
    (tmp_path / "upbeat").write_text("a file")

    assert "" == announce_hook(str(tmp_path), "claude-code", b"{}")
    settle_hook("")
    assert [] == take_unanswered(str(tmp_path / "upbeat"))


def test_hooks_take_turns(tmp_path: Path) -> None:
    """As many work as there are cores; the next one waits, not longer than its client would, or until one ends."""
    path = str(announce(tmp_path, b"{}"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    turns = [take_turn(path, 0) for _ in range(cores)]

    assert None not in turns
    assert take_turn(path, 0) is None
    os.close(turns.pop() or 0)
    turns.append(take_turn(path, 0))
    assert None not in turns
    for turn in turns:
        os.close(turn or 0)
    assert take_turn("", 0) is None
