"""Start a process as the leader of a process tree, and signal or kill the whole tree.

The leader starts a session of its own. Members are the processes of that session and all descendants of the leader,
including those that left its group (Codex gives each command a group). A daemon has also left its parents: it is found
by a mark in its environment, unless it was started with a clean environment. Without ``/proc`` (macOS) only the group
is known.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from time import sleep

MARK_VARIABLE = "UPBEAT_PROCESS_TREE"
"""The environment variable that marks the members of a tree."""

_SETPRIV = ("/usr/bin/setpriv", "--pdeathsig")

STOP_SIGNALS = ((signal.SIGINT, 2.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0))
"""The signals that stop a turn, each with the seconds to wait before the next."""

SWEEP_SECONDS = 0.01
"""The pause between two searches for surviving members."""
_MAX_SWEEPS = 10
_QUIET_SWEEPS = 2
"""Empty searches in a row that end the sweep: during ``execve`` a process has no environment to be found by."""


def with_death_signal(argv: list[str], signal_number: signal.Signals = signal.SIGTERM) -> list[str]:
    """Return ``argv`` wrapped so that it gets ``signal_number`` when the thread that starts it dies.

    ``setpriv`` replaces itself with the program. Without ``setpriv``, a program whose reader is gone ends at its next
    line of output.
    """
    return [*_SETPRIV, signal_number.name.removeprefix("SIG"), "--", *argv] if _has_setpriv() else argv


@cache
def _has_setpriv() -> bool:
    """Return whether ``setpriv`` exists and knows the flag (util-linux since 2.33, not BusyBox)."""
    try:
        return (
            subprocess.run([*_SETPRIV, "TERM", "--", "/bin/sh", "-c", ":"], capture_output=True, timeout=2).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


@dataclass(frozen=True, slots=True)
class _Process:
    """A process; ``started_at`` (ticks since boot) distinguishes it from a later one with the same pid."""

    pid: int
    parent_pid: int
    session_id: int
    started_at: int
    is_dead: bool
    has_terminal: bool


@dataclass(slots=True)
class ProcessTree:
    """The process ``leader`` (a session leader that was just started) and everything that it starts.

    ``mark`` is the value of ``MARK_VARIABLE`` in its environment; empty for none. With ``spares_terminals`` a daemon
    that offers a terminal (tmux, screen) and the processes in it are not members.
    """

    leader: int
    mark: str = ""
    spares_terminals: bool = False
    _seen: dict[int, int] = field(default_factory=dict)
    """Members by pid, with their start times: a member stays known when its parent is gone."""

    def __post_init__(self) -> None:
        if process := _read_process(str(self.leader)):
            self._seen[self.leader] = process.started_at

    def is_alive(self) -> bool:
        """Return whether any member still runs. A leader that has exited must have been waited for."""
        table = _process_table()
        return bool(self._members(table)) if table else self._signal_group(0)

    def send_signal(self, number: int) -> bool:
        """Send a signal to all members; return whether there were any."""
        table = _process_table()
        members = self._members(table)
        has_group = self._signal_group(number)
        for process in members:
            with suppress(ProcessLookupError, PermissionError):
                if os.getpgid(process.pid) != self.leader:
                    os.kill(process.pid, number)
        return bool(members) or (has_group and not table)

    def kill_group(self) -> bool:
        """Kill the rest of the leader's own group without reading the process table; return whether there was any."""
        return self._signal_group(signal.SIGKILL)

    def kill_repeatedly(self) -> Iterator[None]:
        """Kill all members, and new ones again, until none is found.

        After each step the caller waits ``SWEEP_SECONDS``, and reaps the leader if it has exited.
        """
        quiet = 0
        while quiet < _QUIET_SWEEPS:
            quiet = 0 if self.send_signal(signal.SIGKILL) else quiet + 1
            yield

    def kill(self, leader: subprocess.Popen[bytes]) -> None:
        """Kill ``leader`` and its whole tree, including members that keep starting others."""
        for _ in islice(self.kill_repeatedly(), _MAX_SWEEPS):
            leader.poll()
            sleep(SWEEP_SECONDS)

    def _members(self, table: dict[int, _Process]) -> list[_Process]:
        pids = {pid for pid, started_at in self._seen.items() if pid in table and table[pid].started_at == started_at}
        pids |= {process.pid for process in table.values() if process.session_id == self.leader}
        pids |= self._marked_pids(table)
        children: dict[int, list[int]] = {}
        for process in table.values():
            children.setdefault(process.parent_pid, []).append(process.pid)
        pending = list(pids)
        while pending:
            new = set(children.get(pending.pop(), ())) - pids
            pids |= new
            pending += new
        members = [table[pid] for pid in pids if not table[pid].is_dead]
        self._seen |= {process.pid: process.started_at for process in members}
        return members

    def _marked_pids(self, table: dict[int, _Process]) -> set[int]:
        if not self.mark:
            return set()
        first = min(self._seen.values(), default=0)
        entry = f"{MARK_VARIABLE}={self.mark}".encode()
        marked = {
            process.pid
            for process in table.values()
            if process.started_at >= first
            and not process.is_dead
            and entry in _read_proc_file(f"/proc/{process.pid}/environ").split(b"\0")
        }
        return marked - _pids_with_terminals(table) if self.spares_terminals and marked else marked

    def _signal_group(self, number: int) -> bool:
        try:
            os.killpg(self.leader, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


def start_process(
    command: Sequence[str],
    variables: Mapping[str, str],
    *,
    cwd: str | None = None,
    stdin: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    bufsize: int = -1,
    spares_terminals: bool = False,
) -> tuple[subprocess.Popen[bytes], ProcessTree]:
    """Start ``command`` as the leader of a process tree, with a pipe for its stdout. Raises OSError."""
    mark = os.urandom(8).hex()
    process = subprocess.Popen(
        command,
        env={**variables, MARK_VARIABLE: mark},
        cwd=cwd,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        bufsize=bufsize,
        start_new_session=True,
    )
    return process, ProcessTree(process.pid, mark, spares_terminals)


def _process_table() -> dict[int, _Process]:
    """Return the processes of this machine by pid; empty without ``/proc``."""
    return {process.pid: process for process in _iter_processes()}


def _iter_processes() -> Iterator[_Process]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if name.isdigit() and (process := _read_process(name)):
            yield process


def _pids_with_terminals(table: dict[int, _Process]) -> set[int]:
    """Return the processes that have a terminal, and all their ancestors."""
    pids: set[int] = set()
    for process in table.values():
        pid = process.pid if process.has_terminal else 0
        while pid in table and pid not in pids:
            pids.add(pid)
            pid = table[pid].parent_pid
    return pids


def _read_process(name: str) -> _Process | None:
    # the name of the command, in parentheses, can contain any character
    fields = _read_proc_file(f"/proc/{name}/stat").rpartition(b") ")[2].split()
    if len(fields) < 20:
        return None
    is_dead, has_terminal = fields[0] in (b"Z", b"X"), fields[4] != b"0"
    return _Process(int(name), int(fields[1]), int(fields[3]), int(fields[19]), is_dead, has_terminal)


def _read_proc_file(path: str) -> bytes:
    """Return the content of a file of ``/proc``; empty if the process has ended or may not be read.

    This does not use ``open``, which takes three times as long, because one file is read per process.
    """
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    content = b""
    try:
        while chunk := os.read(file, 65536):
            content += chunk
    except OSError:
        return b""
    finally:
        os.close(file)
    return content
