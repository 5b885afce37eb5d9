"""A process that was started here and all that it started itself, and how they are ended: asked, told, killed.

The leader starts a session of its own. Members are the processes of that session and all descendants of the
leader, also those that left its group (Codex gives each command a group). A daemon has left its parents, too: it is
known by a mark in the environment that it got, where there is one; who starts it without that environment hides it.
Without ``/proc`` (macOS) only the group is known.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from time import sleep

MARK = "UPBEAT_FAMILY"
"""The variable that marks a family."""

_GUARDING = ("/usr/bin/setpriv", "--pdeathsig")

STAGES = ((signal.SIGINT, 2.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0))
"""The signals that end a turn, and the seconds that each has."""

SWEEP_SECONDS = 0.01
"""Between one look for what is left of a family and the next."""
_MOST_SWEEPS = 10
_QUIET_SWEEPS = 2
"""So often nothing must be found: a process that is just becoming another program has no environment to be known by."""


def new_mark() -> str:
    """The value of ``MARK`` in the environment of one more family."""
    return os.urandom(8).hex()


def guarded(argv: list[str], number: signal.Signals = signal.SIGTERM) -> list[str]:
    """``argv``, ended with the signal ``number`` when we are killed and cannot do it ourselves.

    It counts for the thread that starts it. ``setpriv`` replaces itself by the program. Where there is none, a
    program whose reader is gone ends at its next line of output.
    """
    return [*_GUARDING, number.name.removeprefix("SIG"), "--", *argv] if _can_guard() else argv


@cache
def _can_guard() -> bool:
    """Whether ``setpriv`` is there and knows the flag (util-linux since 2.33, BusyBox not)."""
    try:
        tried = subprocess.run([*_GUARDING, "TERM", "--", "true"], capture_output=True, timeout=2)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


@dataclass(frozen=True, slots=True)
class _Process:
    """One line of the process table; ``born`` (ticks since boot) tells it from a later one with its number."""

    number: int
    parent: int
    session: int
    born: int
    is_dead: bool
    has_terminal: bool


@dataclass(slots=True)
class Family:
    """The process ``leader`` (a session leader, just started) and all that comes of it.

    ``mark`` is the value of ``MARK`` in the environment that it was started with; empty for none. With
    ``spares_terminals`` a daemon in which somebody may work (tmux, screen) is no member, nor what runs there.
    """

    leader: int
    mark: str = ""
    spares_terminals: bool = False
    _seen: dict[int, int] = field(default_factory=dict)
    """Members by number, with their births: one that was seen once is found again when its parent is gone."""

    def __post_init__(self) -> None:
        if process := _read(str(self.leader)):
            self._seen[self.leader] = process.born

    def is_alive(self) -> bool:
        """Whether any member still runs. A leader that has ended must have been waited for."""
        table = _table()
        return bool(self._members(table)) if table else self._group_answers(0)

    def signal(self, number: int) -> bool:
        """Send ``number`` to all members; whether there was any."""
        table = _table()
        members = self._members(table)
        has_group = self._group_answers(number)
        for process in members:
            if _group_of(process.number) != self.leader:
                _send(process.number, number)
        return bool(members) or (has_group and not table)

    def end_group(self) -> bool:
        """Kill what is left of the leader's own group; whether there was any. It takes no look at all processes."""
        return self._group_answers(signal.SIGKILL)

    def sweep(self) -> Iterator[None]:
        """Kill all members, and again those that came since, until none is found.

        After each time it is the caller's turn to wait ``SWEEP_SECONDS``, and for the leader if that has ended.
        """
        quiet = 0
        while quiet < _QUIET_SWEEPS:
            quiet = 0 if self.signal(signal.SIGKILL) else quiet + 1
            yield

    def end(self, leader: subprocess.Popen[bytes]) -> None:
        """Kill ``leader`` and all that came of it, also what goes on starting others for a while."""
        for _ in islice(self.sweep(), _MOST_SWEEPS):
            leader.poll()
            sleep(SWEEP_SECONDS)

    def _members(self, table: dict[int, _Process]) -> list[_Process]:
        found = {number for number, born in self._seen.items() if number in table and table[number].born == born}
        found |= {process.number for process in table.values() if process.session == self.leader}
        found |= self._marked(table)
        children: dict[int, list[int]] = {}
        for process in table.values():
            children.setdefault(process.parent, []).append(process.number)
        waiting = list(found)
        while waiting:
            new = set(children.get(waiting.pop(), ())) - found
            found |= new
            waiting += new
        members = [table[number] for number in found if not table[number].is_dead]
        self._seen |= {process.number: process.born for process in members}
        return members

    def _marked(self, table: dict[int, _Process]) -> set[int]:
        if not self.mark:
            return set()
        first = min(self._seen.values(), default=0)
        wanted = f"{MARK}={self.mark}".encode()
        marked = {
            process.number
            for process in table.values()
            if process.born >= first and not process.is_dead and wanted in _variables(process.number)
        }
        return marked - _with_terminals(table) if self.spares_terminals and marked else marked

    def _group_answers(self, number: int) -> bool:
        try:
            os.killpg(self.leader, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


def start(
    command: Sequence[str],
    variables: Mapping[str, str],
    *,
    cwd: str | None = None,
    stdin: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    bufsize: int = -1,
    spares_terminals: bool = False,
) -> tuple[subprocess.Popen[bytes], Family]:
    """Start ``command`` with a pipe for its stdout, as one that is ended with all that comes of it. Raises OSError."""
    mark = new_mark()
    process = subprocess.Popen(
        command,
        env={**variables, MARK: mark},
        cwd=cwd,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        bufsize=bufsize,
        start_new_session=True,
    )
    return process, Family(process.pid, mark, spares_terminals)


def _table() -> dict[int, _Process]:
    """The processes of this machine; empty where there is no ``/proc``."""
    return {process.number: process for process in _listed()}


def _listed() -> Iterator[_Process]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if name.isdigit() and (process := _read(name)):
            yield process


def _with_terminals(table: dict[int, _Process]) -> set[int]:
    """Who has a terminal, and all parents of these."""
    found: set[int] = set()
    for process in table.values():
        number = process.number if process.has_terminal else 0
        while number in table and number not in found:
            found.add(number)
            number = table[number].parent
    return found


def _read(name: str) -> _Process | None:
    # the command's name, in parentheses, may hold anything
    fields = _content(f"/proc/{name}/stat").rpartition(b") ")[2].split()
    if len(fields) < 20:
        return None
    is_dead, has_terminal = fields[0] in (b"Z", b"X"), fields[4] != b"0"
    return _Process(int(name), int(fields[1]), int(fields[3]), int(fields[19]), is_dead, has_terminal)


def _content(path: str) -> bytes:
    """All of a file of ``/proc``; nothing where the process has ended, or there is no such folder.

    Not ``open``: of each process one file is read, and that takes three times as long.
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


def _variables(number: int) -> list[bytes]:
    """The environment that a process was started with; empty where that is nobody's business of ours."""
    return _content(f"/proc/{number}/environ").split(b"\0")


def _group_of(number: int) -> int:
    try:
        return os.getpgid(number)
    except ProcessLookupError:
        return 0


def _send(number: int, what: int) -> None:
    try:
        os.kill(number, what)
    except (ProcessLookupError, PermissionError):
        return
