"""The processes of a turn: all of them are found, and nobody else's."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import wait_until

from upbeat.adapters.system.process import tree
from upbeat.adapters.system.process.tree import MARK_VARIABLE, ProcessTree, with_death_signal

ID = os.getpid()  # tells the processes of this run from those of another
SHELL = ["sh", "-c", f'setsid sleep 61.{ID} & sleep 62.{ID} & echo ready; exec "$0" 63.{ID}', "sleep"]


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
    return bool(_running(f"sleep\0{marker}.{ID}\0"))


def test_all_members_get_the_signal(leader: subprocess.Popen[bytes]) -> None:
    """Group, session and descendants that left both: none survives, and the family is then not alive."""
    members = ProcessTree(leader.pid)

    assert members.is_alive()
    members.send_signal(signal.SIGTERM)
    leader.wait(5)
    assert wait_until(lambda: not members.is_alive(), 3)
    assert [False] * 3 == [alive(marker) for marker in ("61", "62", "63")]


def test_a_member_is_found_after_its_parent_is_gone(leader: subprocess.Popen[bytes]) -> None:
    """A member seen once stays known by its pid and start time when its parent is gone."""
    members = ProcessTree(leader.pid)
    assert members.is_alive()
    os.kill(leader.pid, signal.SIGKILL)
    leader.wait(5)

    assert members.is_alive()
    members.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not members.is_alive(), 3)


def test_unrelated_processes_are_left_alone(leader: subprocess.Popen[bytes]) -> None:
    """Other child processes of the caller are not members."""
    unrelated = subprocess.Popen(["sleep", "64"])
    members = ProcessTree(leader.pid)
    members.send_signal(signal.SIGKILL)
    leader.wait(5)
    time.sleep(0.1)

    assert unrelated.poll() is None
    unrelated.kill()
    unrelated.wait()


def test_without_a_process_table_the_group_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no /proc the group still gets its signals."""
    monkeypatch.setattr(tree, "_iter_processes", lambda: iter(()))
    process = subprocess.Popen(["sleep", "65"], start_new_session=True)
    members = ProcessTree(process.pid)

    assert members.is_alive()
    members.send_signal(signal.SIGTERM)
    assert -signal.SIGTERM == process.wait(5)
    assert not members.is_alive()


def test_a_machine_without_the_guard_runs_the_program_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without setpriv, or with one that lacks --pdeathsig, the program is started directly."""
    guarded = with_death_signal(["codex", "exec"])
    for guard in (("/nowhere/setpriv",), ("false",)):
        monkeypatch.setattr(tree, "_SETPRIV", guard)
        tree._has_setpriv.cache_clear()

        assert ["codex", "exec"] == with_death_signal(["codex", "exec"])
    tree._has_setpriv.cache_clear()
    assert guarded[-2:] == ["codex", "exec"]


def test_the_guard_ends_what_nobody_else_can() -> None:
    """A process that is started under guard is gone once the one that started it has been killed."""
    code = (
        "import signal, subprocess, sys, time\n"
        "from upbeat.adapters.system.process.tree import with_death_signal\n"
        "child = subprocess.Popen(with_death_signal(['/bin/sleep', '66'], signal.SIGKILL))\n"
        "print(child.pid, flush=True)\ntime.sleep(60)\n"
    )
    if with_death_signal(["true"]) == ["true"]:
        pytest.skip("needs setpriv of util-linux")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as starter:
        assert starter.stdout
        child = Path("/proc", starter.stdout.readline().decode().strip())
        was_running = wait_until(lambda: (child / "comm").read_text() == "sleep\n", 5)  # setpriv is done
        starter.kill()

    assert was_running
    assert wait_until(lambda: not child.exists(), 5)


DAEMON = f"(setsid sh -c 'echo ready; exec >&-; sleep 67.{ID} & sleep 67.{ID}' &); exec sleep 67.{ID} >/dev/null"


def test_a_daemon_is_found_by_its_mark() -> None:
    """A process that left its group, session and parents is found by the mark in its environment."""
    mark = os.urandom(8).hex()
    process = subprocess.Popen(
        ["sh", "-c", DAEMON],
        env={"PATH": "/usr/bin:/bin", MARK_VARIABLE: mark},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout
    process.stdout.readline()
    ours, unmarked, others = (
        ProcessTree(process.pid, mark),
        ProcessTree(process.pid),
        ProcessTree(process.pid, os.urandom(8).hex()),
    )
    process.kill()  # nothing leads from it to its daemon any more
    process.communicate()

    assert [True, False, False] == [members.is_alive() for members in (ours, unmarked, others)]

    end = time.monotonic() + 5
    while ours.is_alive() and time.monotonic() < end:
        ours.send_signal(signal.SIGKILL)
        time.sleep(0.01)

    assert not alive("67")


@pytest.mark.parametrize("spares_terminals", [True, False])
def test_a_daemon_with_terminals_can_be_spared(spares_terminals: bool) -> None:
    """A daemon with terminals, like tmux, ends only if terminals are not spared; a plain daemon always ends."""
    mark = os.urandom(8).hex()
    terminal = f"import pty; pty.fork() or __import__('time').sleep(68); __import__('time').sleep(69)  # {mark}"
    script = 'setsid "$0" -c "$1" >/dev/null 2>&1 </dev/null & setsid sleep 70 >/dev/null 2>&1 </dev/null & sleep 0.5'
    leader = subprocess.Popen(
        ["sh", "-c", script, sys.executable, terminal],
        env={"PATH": "/usr/bin:/bin", MARK_VARIABLE: mark},
        start_new_session=True,
    )
    members = ProcessTree(leader.pid, mark, spares_terminals=spares_terminals)
    leader.wait()
    members.kill(leader)
    left = _running(mark)
    ProcessTree(leader.pid, mark).kill(leader)

    assert (2 if spares_terminals else 0, False, 0) == (left, alive("70"), _running(mark))


def _running(word: str) -> int:
    """How many processes have ``word`` in their command line."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            count += word.encode() in path.read_bytes()
    return count
