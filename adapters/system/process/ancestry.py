"""The processes that a process descends from.

Invariant: nothing here raises; a process that cannot be read ends the line. Without ``/proc`` (macOS), one ``ps`` runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress

from upbeat.core.lazy_dataclass import dataclass

MAX_ANCESTORS = 64


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A process. ``names`` are those of its program; ``started_at`` tells it from a later one with the same pid."""

    pid: int
    parent_pid: int
    names: frozenset[str]
    started_at: str = ""

    @property
    def identity(self) -> str:
        return f"{self.pid}:{self.started_at}"


def ancestors_of(pid: int) -> tuple[Ancestor, ...]:
    """Return the process ``pid`` and those it descends from, the nearest first."""
    find = _find_in_proc if os.path.exists("/proc/self/stat") else _find_with_ps()
    return tuple(_walk(pid, find))


def descends_from_program(pid: int, programs: Collection[str]) -> str:
    """Return the program, one of ``programs``, that ``pid`` descends from; empty for none."""
    for ancestor in ancestors_of(pid)[1:]:
        if found := ancestor.names.intersection(programs):
            return min(found)
    return ""


def _walk(pid: int, find: Callable[[int], Ancestor | None]) -> Iterator[Ancestor]:
    for _ in range(MAX_ANCESTORS):
        process = find(pid) if pid > 0 else None
        if process is None:
            return
        yield process
        pid = process.parent_pid


def _find_in_proc(pid: int) -> Ancestor | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            status = file.read().decode("utf-8", "replace")
    except OSError:
        return None
    start, end = status.find("("), status.rfind(")")  # the name can contain any character
    fields = status[end + 1 :].split()
    names = {status[start + 1 : end]}
    with suppress(OSError):  # a process of another user
        names.add(os.path.basename(os.readlink(f"/proc/{pid}/exe")))
    return Ancestor(pid, int(fields[1]), frozenset(names), fields[19])


def _find_with_ps() -> Callable[[int], Ancestor | None]:
    import subprocess

    try:
        lines = subprocess.run(
            ["/bin/ps", "-axo", "pid=,ppid=,comm="], capture_output=True, timeout=5, check=False
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        lines = ""
    table: dict[int, Ancestor] = {}
    for line in lines.splitlines():
        match line.split(maxsplit=2):
            case [pid, parent, name] if pid.isdigit() and parent.isdigit():
                table[int(pid)] = Ancestor(int(pid), int(parent), frozenset({os.path.basename(name)}))
    return table.get
