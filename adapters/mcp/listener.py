"""The Unix socket beside the MCP server, through which command hooks of the same client reach it.

Law: only the same user gets in. The folder is 0700 and ours, the socket 0600, the peer's uid is checked. One
connection carries one payload and one answer, each with its length before it (``adapters/shim.py``).
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import stat
import struct
import threading
from collections.abc import Callable
from pathlib import Path

from ..shim import receive, socket_path

TIMEOUT = 10.0
BACKLOG = 512
"""Hooks that may wait to be let in; whoever finds no room answers for itself."""
BREATH = 0.05
"""Seconds until the next try when the system has no room for another connection."""
_NAME = re.compile(r"[a-z-]+-(\d+)\.sock(?:\.\d+)?")


class Listener:
    """Answers each connection with ``answer(payload)`` until ``close``."""

    def __init__(self, client: str, client_pid: int, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer
        self.path = Path(socket_path(os.getuid(), client, client_pid))
        self._socket: socket.socket | None = None
        self._closed = threading.Event()

    def start(self) -> bool:
        """Whether it listens now; without it hooks run the core themselves."""
        try:
            if not _private_folder(self.path.parent):
                return False
            _sweep(self.path.parent)
            listening = _bound(self.path)
        except OSError:
            return False
        if listening is None:
            return False
        self._socket = listening
        self._closed.clear()
        threading.Thread(target=self._accept, args=(listening,), name="hook-listener", daemon=True).start()
        return True

    def close(self) -> None:
        """Stop listening and take the socket away."""
        self._closed.set()
        if self._socket:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
                self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            self._socket.close()

    def _accept(self, listening: socket.socket) -> None:
        """Until ``close``. Out of files or threads is no end: who connects later would wait for nobody."""
        while not self._closed.is_set():
            try:
                connection, _address = listening.accept()
            except OSError:
                self._closed.wait(BREATH)
                continue
            try:
                threading.Thread(target=self._serve, args=(connection,), name="hook", daemon=True).start()
            except RuntimeError:
                connection.close()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ValueError):
            connection.settimeout(TIMEOUT)
            if _peer_uid(connection) != os.getuid():
                return
            payload = receive(connection)
            if payload is not None:
                answer = self._answer(payload)
                connection.sendall(len(answer).to_bytes(8, "big") + answer)


def _private_folder(folder: Path) -> bool:
    """Make ``folder`` if it is not there; whether it is ours, real and closed to others."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _bound(path: Path) -> socket.socket | None:
    """A socket that listens at ``path``; None when another server does already: the first one answers for all.

    It gets its name only once it listens, and by a link, so that of two servers that start together neither
    takes the other's name away.
    """
    draft = path.with_name(f"{path.name}.{threading.get_native_id()}")
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        draft.unlink(missing_ok=True)
        listening.bind(str(draft))
        draft.chmod(0o600)  # the folder is closed to others already; a umask would count for every thread
        listening.listen(BACKLOG)
        if path.exists() and not _answers(path):
            path.unlink(missing_ok=True)
        os.link(draft, path)
    except OSError as error:
        listening.close()
        if not isinstance(error, FileExistsError):
            raise
        return None
    finally:
        draft.unlink(missing_ok=True)
    return listening


def _sweep(folder: Path) -> None:
    """Take away the sockets of clients that are gone."""
    for path in folder.iterdir():
        if (name := _NAME.fullmatch(path.name)) and not _is_running(int(name[1])):
            path.unlink(missing_ok=True)


def _answers(path: Path) -> bool:
    """Whether somebody listens at ``path``."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(str(path)) == 0


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _peer_uid(connection: socket.socket) -> int:
    """The uid at the other end; -1 where the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        size = struct.calcsize("3i")
        _pid, uid, _gid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return int(uid)
    if hasattr(socket, "LOCAL_PEERCRED"):  # macOS: struct xucred {version, uid, ngroups, groups[16]}
        credentials = connection.getsockopt(0, socket.LOCAL_PEERCRED, 76)
        return int(struct.unpack_from("2I", credentials)[1])
    return -1
