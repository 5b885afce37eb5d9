"""Find out which process sent what arrives on a descriptor: the client at the other end of the pipe, or something else.

Clients give hooks and servers a socket pair (Claude Code) or pipes (Codex). The system says who made a socket pair; a
pipe is the client's if the client holds its other end. Codex closes its end of a hook's input at once, so there the
hook's output tells, unless an agent's shell has left its mark in the environment. Where the system cannot tell
(on macOS), the parent counts.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Collection, Sequence
from contextlib import suppress

from upbeat.adapters.system.process.ancestry import Ancestor, ancestors_of
from upbeat.core.contract.arrival import Arrival, Route

MAX_DISTANCE = 2
"""Processes between sender and receiver, with the sender: a client may start a hook through a shell."""
_LOCAL_PEERPID = 2  # macOS
_KNOWS_PIPES = os.path.isdir("/proc/self/fd")


def arrival_of(
    route: Route,
    programs: Collection[str],
    *,
    pid: int | None = None,
    descriptors: Sequence[int] = (0, 1),
    mark: str = "",
) -> Arrival:
    """Return how what the process ``pid`` (default: this one) reads arrived.

    ``descriptors`` are its input and its output. ``programs`` are the names of the client's program; ``mark`` is the
    variable that only its agents' shells have.
    """
    pid = pid or os.getpid()
    line = ancestors_of(pid)[1:]
    sender = _find_sender(line[:MAX_DISTANCE], descriptors, is_marked=bool(mark) and _has_variable(pid, mark))
    if sender is None:
        return Arrival(route)
    above = frozenset(process.identity for process in line[line.index(sender) + 1 :])
    return Arrival(route, sender.identity, above, bool(sender.names.intersection(programs)))


def peer_pid(descriptor: int) -> int:
    """Return the process at the other end of a Unix socket, or that made the socket pair; 0 if that is unknown."""
    import socket  # few hooks get one, and it takes as long to import as the rest

    with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as peer:
        if hasattr(socket, "SO_PEERCRED"):
            size = struct.calcsize("3i")
            return int(struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0])
        return int(peer.getsockopt(0, _LOCAL_PEERPID))
    return 0


def _find_sender(near: Sequence[Ancestor], descriptors: Sequence[int], *, is_marked: bool) -> Ancestor | None:
    """Return the process of ``near`` that the input comes from; None if it does not come from any."""
    if not near or not descriptors:
        return None
    status = [found for descriptor in descriptors if (found := _status_of(descriptor))]
    if not status or not (stat.S_ISSOCK(status[0].st_mode) or stat.S_ISFIFO(status[0].st_mode)):
        return None
    if stat.S_ISSOCK(status[0].st_mode):
        peer = peer_pid(descriptors[0])
        sender = next((process for process in near if process.pid == peer), None)
        if sender or _KNOWS_PIPES:
            return sender
    if not _KNOWS_PIPES:
        return None if is_marked else near[0]
    if holder := next((process for process in near if _holds(process.pid, status[0].st_ino, stat.S_IWUSR)), None):
        return holder
    if is_marked or len(status) < 2 or not stat.S_ISFIFO(status[1].st_mode):
        return None
    parent = near[0]
    return parent if _holds(parent.pid, status[1].st_ino, stat.S_IRUSR) else None


def _status_of(descriptor: int) -> os.stat_result | None:
    """Return what the system says of an open descriptor; None if it is closed."""
    with suppress(OSError):
        return os.fstat(descriptor)
    return None


def _has_variable(pid: int, name: str) -> bool:
    """Return whether a process was started with a variable; False if that is unknown."""
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return any(entry.startswith(f"{name}=".encode()) for entry in file.read().split(b"\0"))
    return False


def _holds(pid: int, inode: int, mode: int) -> bool:
    """Return whether a process has the pipe ``inode`` open to read or to write (``stat.S_IRUSR``, ``stat.S_IWUSR``)."""
    target = f"pipe:[{inode}]"
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                link = f"/proc/{pid}/fd/{name}"  # the permissions of the link are the mode of the descriptor
                if os.readlink(link) == target and os.lstat(link).st_mode & mode:
                    return True
    return False
