"""Who works on which session now: ``<repository>/.upbeat/codex-leases.json``.

Law: a session, and a thread, has one holder. A lease counts as long as its process lives: the number alone would
not do, since numbers are given out again, so the time of its start stands beside it. A lease of another machine
cannot be looked at and counts for ``FOREIGN_SECONDS`` after the last turn.

::

    {"schema_version": "1.0",
     "leases": {"default": {"pid": 4711, "started": "8812345", "host": "here", "at": 1767225600, "thread_id": "…"}}}

It is no loss when this file is: Codex itself lets only one process write to a thread.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import asdict, dataclass
from typing import Any

from . import state_folder

FILE = "codex-leases.json"
FOREIGN_SECONDS = 12 * 3600


@dataclass(frozen=True, slots=True)
class Lease:
    """The holder of a session; ``at`` is when it last said so, in seconds since 1970."""

    pid: int
    started: str
    host: str
    at: int = 0
    thread_id: str = ""

    def is_of(self, other: Lease) -> bool:
        """Whether both are of the same process."""
        return (self.pid, self.started, self.host) == (other.pid, other.started, other.host)


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of asking for a session. ``holder`` is who has it instead; nobody: it is ours."""

    holder: Lease | None = None
    former: Lease | None = None
    """Who had it, and died without giving it back."""


def own_lease() -> Lease:
    """This process as a holder."""
    return Lease(os.getpid(), started(os.getpid()), os.uname().nodename)


class Leases:
    """The leases of the repository at ``root``, for the holder ``own``, which has at most one at a time."""

    def __init__(self, root: str, own: Lease | None = None) -> None:
        self._root = root
        self._own = own or own_lease()

    def take(self, name: str, thread_id: str, now: int) -> Taken:
        """Take the session ``name``, whose thread is ``thread_id`` (empty: none yet), and give back the one before.

        Raises:
            OSError: the folder cannot be written to.
        """
        with state_folder.opened_to_write(self._root) as folder:
            leases = _read(folder)
            rivals = [
                lease
                for other, lease in leases.items()
                if not lease.is_of(self._own) and (other == name or _is_same_thread(lease.thread_id, thread_id))
            ]
            living = next((lease for lease in rivals if is_alive(lease, self._own.host, now)), None)
            if living:
                return Taken(living)
            kept = {
                other: lease for other, lease in leases.items() if lease not in rivals and not lease.is_of(self._own)
            }
            own = Lease(self._own.pid, self._own.started, self._own.host, now, thread_id)
            _write(folder, {**kept, name: own})
            return Taken(former=rivals[0] if rivals else None)

    def release(self) -> None:
        """Give back what we hold."""
        try:
            with state_folder.opened(self._root) as folder:
                if not any(lease.is_of(self._own) for lease in _read(folder).values()):
                    return
            with state_folder.opened_to_write(self._root) as folder:
                kept = {name: lease for name, lease in _read(folder).items() if not lease.is_of(self._own)}
                _write(folder, kept)
        except OSError:
            return  # nobody is held up: we are as good as dead

    def living(self, now: int) -> dict[str, Lease]:
        """The sessions that other processes hold, by name."""
        try:
            with state_folder.opened(self._root) as folder:
                leases = _read(folder)
        except OSError:
            return {}
        return {
            name: lease
            for name, lease in leases.items()
            if not lease.is_of(self._own) and is_alive(lease, self._own.host, now)
        }


def is_alive(lease: Lease, here: str, now: int) -> bool:
    """Whether the holder still lives, as seen from the machine ``here``."""
    if lease.host != here:
        return now - lease.at < FOREIGN_SECONDS
    return bool(lease.started) and started(lease.pid) == lease.started


def started(pid: int) -> str:
    """When the process ``pid`` started, in words that only compare; empty when it has ended.

    On Linux these are ticks since boot (field 22 of ``/proc/<pid>/stat``), elsewhere what ``ps`` says.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # the command's name, in parentheses, may hold anything
            fields = file.read().rpartition(b") ")[2].split()
    except OSError:
        return "" if os.path.exists("/proc/self/stat") else _started_by_ps(pid)
    is_dead = fields[0] in (b"Z", b"X")
    return "" if is_dead else fields[19].decode("ascii")


def _started_by_ps(pid: int) -> str:
    command = ["ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)]
    try:
        told = subprocess.run(command, capture_output=True, timeout=5, check=False).stdout.decode("ascii", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    state, _, start = told.strip().partition(" ")
    return "" if state.startswith("Z") else " ".join(start.split())


def _is_same_thread(one: str, other: str) -> bool:
    return bool(one) and one.lower() == other.lower()


def _read(folder: int) -> dict[str, Lease]:
    """The leases; what cannot be understood is nobody's."""
    try:
        document = state_folder.read(folder, FILE, "leases")
    except (FileNotFoundError, ValueError):
        return {}
    found = {name: _lease(fields) for name, fields in document["leases"].items()}
    return {name: lease for name, lease in found.items() if lease}


def _lease(fields: Any) -> Lease | None:
    if not isinstance(fields, dict):
        return None
    numbers = [fields.get(name) for name in ("pid", "at")]
    texts = [fields.get(name) for name in ("started", "host", "thread_id")]
    pid, at = (one if isinstance(one, int) and not isinstance(one, bool) else -1 for one in numbers)
    start, host, thread_id = (one if isinstance(one, str) else "" for one in texts)
    return Lease(pid, start, host, at, thread_id) if pid > 0 else None


def _write(folder: int, leases: dict[str, Lease]) -> None:
    document = {"leases": {name: asdict(lease) for name, lease in leases.items()}}
    state_folder.replace(folder, FILE, document, durable=False)
