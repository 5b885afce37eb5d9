"""The processes of a turn: all of them are found, and nobody else's."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from upbeat.adapters.codex.auto import family
from upbeat.adapters.codex.auto.family import Family, guarded

SHELL = ["sh", "-c", 'setsid sleep 61 & sleep 62 & echo ready; exec "$0" 63', "sleep"]


@pytest.fixture
def leader() -> subprocess.Popen[bytes]:
    """A session leader with a child in its group and one that has left even the session."""
    process = subprocess.Popen(SHELL, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout
    process.stdout.readline()
    process.stdout.close()
    time.sleep(0.1)
    return process


def alive(marker: str) -> bool:
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == f"sleep\0{marker}\0".encode():
                return True
        except OSError:
            continue
    return False


def test_all_members_get_the_signal(leader: subprocess.Popen[bytes]) -> None:
    """Group, session and descendants that left both: none survives, and the family is then not alive."""
    members = Family(leader.pid)

    assert members.is_alive()
    members.signal(signal.SIGTERM)
    leader.wait(5)
    end = time.monotonic() + 3
    while members.is_alive() and time.monotonic() < end:
        time.sleep(0.01)
    assert not members.is_alive()
    assert [False] * 3 == [alive(marker) for marker in ("61", "62", "63")]


def test_a_member_is_found_after_its_parent_is_gone(leader: subprocess.Popen[bytes]) -> None:
    """Who was seen once is remembered, by number and birth, when nothing else leads to it any more."""
    members = Family(leader.pid)
    assert members.is_alive()
    os.kill(leader.pid, signal.SIGKILL)
    leader.wait(5)

    assert members.is_alive()
    members.signal(signal.SIGKILL)
    end = time.monotonic() + 3
    while members.is_alive() and time.monotonic() < end:
        time.sleep(0.01)
    assert not members.is_alive()


def test_strangers_are_left_alone(leader: subprocess.Popen[bytes]) -> None:
    """Our own other children are no members."""
    stranger = subprocess.Popen(["sleep", "64"])
    members = Family(leader.pid)
    members.signal(signal.SIGKILL)
    leader.wait(5)
    time.sleep(0.1)

    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_without_a_process_table_the_group_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no /proc the group still gets its signals."""
    monkeypatch.setattr(family, "_listed", lambda: iter(()))
    process = subprocess.Popen(["sleep", "65"], start_new_session=True)
    members = Family(process.pid)

    assert members.is_alive()
    members.signal(signal.SIGTERM)
    assert -signal.SIGTERM == process.wait(5)
    assert not members.is_alive()


def test_a_machine_without_the_guard_runs_the_program_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """setpriv may be missing, or know no --pdeathsig; the program is started all the same."""
    found = guarded(["codex", "exec"])
    for guard in (("/nowhere/setpriv",), ("false",)):
        monkeypatch.setattr(family, "_GUARDING", guard)
        family._can_guard.cache_clear()

        assert ["codex", "exec"] == guarded(["codex", "exec"])
    family._can_guard.cache_clear()
    assert found[-2:] == ["codex", "exec"]
