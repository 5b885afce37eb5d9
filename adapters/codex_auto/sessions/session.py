"""A session: a Codex thread that codex-auto can resume, and the lease of the process that works on it.

A lease counts while its process lives. Process ids are reused, so the start time of the process is part of the lease.
The processes of another machine cannot be inspected; their leases count for ``FOREIGN_LEASE_SECONDS``.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass

from upbeat.adapters.codex.transport.base import TokenUsage

DEFAULT_SESSION = "default"
FOREIGN_LEASE_SECONDS = 12 * 3600
PS = "/bin/ps"

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAME = re.compile(r"[\w.-]{1,64}")


@dataclass(frozen=True, slots=True)
class Session:
    """One thread. Times are ISO 8601 in UTC; ``usage`` is the thread's total when its last turn ended."""

    thread_id: str
    created_at: str
    updated_at: str
    cwd: str
    usage: TokenUsage | None = None
    root: str = ""
    """The absolute path of its repository when it was last used."""
    title: str = ""
    """The first words of its first prompt, without secrets."""


def is_thread_id(text: str) -> bool:
    """Return whether ``text`` is a complete UUID. ``codex exec resume`` silently starts a new thread for others."""
    return _UUID.fullmatch(text) is not None


def is_session_name(text: str) -> bool:
    """Return whether ``text`` is a valid name: up to 64 letters, digits, dots, hyphens and underscores."""
    return _NAME.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Lease:
    """The holder of a session; ``renewed_at`` is in seconds since 1970. Process id 0 is no process."""

    pid: int
    process_start: str
    host: str
    renewed_at: int = 0

    def is_same_process(self, other: Lease) -> bool:
        """Return whether both leases belong to one process."""
        return (self.pid, self.process_start, self.host) == (other.pid, other.process_start, other.host)


FREE = Lease(0, "", "")


def lease_of_this_process() -> Lease:
    """Return a lease for this process."""
    return Lease(os.getpid(), process_start_time(os.getpid()), os.uname().nodename)


def is_lease_active(lease: Lease, hostname: str, now: int) -> bool:
    """Return whether the holder still lives, as seen from the machine ``hostname``."""
    if lease.host != hostname:
        return now - lease.renewed_at < FOREIGN_LEASE_SECONDS
    return bool(lease.process_start) and process_start_time(lease.pid) == lease.process_start


def process_start_time(pid: int) -> str:
    """Return when the process ``pid`` started, as an opaque string; empty when it has ended.

    On Linux these are ticks since boot (field 22 of ``/proc/<pid>/stat``), elsewhere the output of ``ps``.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b") ")[2].split()  # the name in parentheses may contain anything
    except OSError:
        return "" if os.path.exists("/proc/self/stat") else _start_time_from_ps(pid)
    is_dead = fields[0] in (b"Z", b"X")
    return "" if is_dead else fields[19].decode("ascii")


def _start_time_from_ps(pid: int) -> str:
    command = [PS, "-o", "stat=", "-o", "lstart=", "-p", str(pid)]
    try:
        output = subprocess.run(command, capture_output=True, timeout=5, check=False).stdout.decode("ascii", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    state, _, start = output.strip().partition(" ")
    return "" if state.startswith("Z") else " ".join(start.split())
