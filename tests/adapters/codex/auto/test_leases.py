"""Leases: one holder for a session and for a thread, and none that is dead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from upbeat.adapters.codex.auto.leases import FOREIGN_SECONDS, Lease, Leases, Taken, is_alive, own_lease, started

THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
NOW = 1_767_225_600
HERE = os.uname().nodename


@pytest.fixture
def neighbour() -> subprocess.Popen[bytes]:  # type: ignore[misc]
    """Another process that lives."""
    with subprocess.Popen([sys.executable, "-IS", "-c", "import time; time.sleep(60)"]) as process:
        yield process
        process.kill()


def lease_of(process: subprocess.Popen[bytes]) -> Lease:
    return Lease(process.pid, started(process.pid), HERE)


def test_a_session_has_one_holder(tmp_path: Path, neighbour: subprocess.Popen[bytes]) -> None:
    """Who comes second is told who has it; another name is free."""
    theirs = lease_of(neighbour)
    Leases(str(tmp_path), theirs).take("a", "", NOW)

    assert Taken(replace(theirs, at=NOW)) == Leases(str(tmp_path)).take("a", "", NOW)
    assert Taken() == Leases(str(tmp_path)).take("b", "", NOW)
    assert {"a"} == set(Leases(str(tmp_path)).living(NOW))


def test_a_thread_has_one_holder_whatever_its_name(tmp_path: Path, neighbour: subprocess.Popen[bytes]) -> None:
    """Two names of one thread do not make two writers."""
    Leases(str(tmp_path), lease_of(neighbour)).take("a", THREAD, NOW)

    assert Leases(str(tmp_path)).take("b", THREAD.upper(), NOW).holder is not None


def test_a_holder_has_one_session(tmp_path: Path, neighbour: subprocess.Popen[bytes]) -> None:
    """Taking another gives back the one before; releasing gives back all."""
    theirs = Leases(str(tmp_path), lease_of(neighbour))
    theirs.take("a", "", NOW)
    theirs.take("b", "", NOW)
    held = set(Leases(str(tmp_path)).living(NOW))
    theirs.release()

    assert ({"b"}, {}) == (held, Leases(str(tmp_path)).living(NOW))


def test_the_lease_of_a_dead_process_is_taken_over_and_told(tmp_path: Path, neighbour: subprocess.Popen[bytes]) -> None:
    """Also while nobody has waited for the dead one."""
    theirs = lease_of(neighbour)
    Leases(str(tmp_path), theirs).take("a", "", NOW)
    neighbour.kill()
    end = time.monotonic() + 5
    while started(neighbour.pid) and time.monotonic() < end:
        time.sleep(0.01)
    zombie = Leases(str(tmp_path)).take("a", "", NOW)
    neighbour.wait()

    assert Taken(former=replace(theirs, at=NOW)) == zombie
    assert Taken() == Leases(str(tmp_path)).take("a", "", NOW)


def test_a_number_that_was_given_out_again_is_not_the_holder(neighbour: subprocess.Popen[bytes]) -> None:
    """The same number with another start is another process."""
    theirs = lease_of(neighbour)

    assert is_alive(theirs, HERE, NOW)
    assert not is_alive(replace(theirs, started=str(int(theirs.started) - 1)), HERE, NOW)
    assert not is_alive(replace(theirs, started=""), HERE, NOW)


@pytest.mark.parametrize(("age", "alive"), [(0, True), (FOREIGN_SECONDS - 1, True), (FOREIGN_SECONDS, False)])
def test_another_machine_is_believed_for_hours(age: int, alive: bool) -> None:
    """Its processes cannot be seen from here."""
    assert alive == is_alive(Lease(1, "1", "elsewhere", NOW - age), HERE, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"schema_version": "1.0", "leases": []}',
        '{"schema_version": "1.0", "leases": {"a": 7}}',
        '{"schema_version": "1.0", "leases": {"a": {"pid": 0, "started": "1", "host": "h"}}}',
        '{"schema_version": "1.0", "leases": {"a": {"pid": true, "started": 1, "host": []}}}',
    ],
)
def test_a_damaged_file_holds_nobody_up(tmp_path: Path, text: str) -> None:
    """What cannot be understood is nobody's lease."""
    path = tmp_path / ".upbeat/codex-leases.json"
    path.parent.mkdir()
    path.write_text(text)

    assert Taken() == Leases(str(tmp_path)).take("a", "", NOW)


def test_looking_writes_nothing(tmp_path: Path) -> None:
    """Neither asking who is there nor giving back what one does not have leaves a trace."""
    Leases(str(tmp_path)).living(NOW)
    Leases(str(tmp_path)).release()

    assert [] == os.listdir(tmp_path)


def test_a_lease_names_its_process(tmp_path: Path) -> None:
    """Number, start, machine, time and thread, so that a person can look."""
    Leases(str(tmp_path)).take("a", THREAD, NOW)
    stored = json.loads((tmp_path / ".upbeat/codex-leases.json").read_text())["leases"]["a"]
    own = own_lease()

    assert {"pid": own.pid, "started": own.started, "host": HERE, "at": NOW, "thread_id": THREAD} == stored


def test_ps_tells_the_start_where_there_is_no_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS: state and start, one for the living, none for the dead."""
    ps = tmp_path / "ps"
    ps.write_text('#!/bin/sh\n[ "$6" = 7 ] && echo "S+   Thu Jan  1 00:00:00 2026"\n[ "$6" = 8 ] && echo "Z    Thu"\n')
    ps.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    from upbeat.adapters.codex.auto import leases

    assert ["Thu Jan 1 00:00:00 2026", "", ""] == [leases._started_by_ps(pid) for pid in (7, 8, 9)]
