"""The Unix socket through which command hooks reach the MCP server of the same client.

Invariant: only the same user can connect: the folder is 0700 and owned by the user, the socket 0600, and the peer's uid
is checked. A connection carries one payload and one answer, each after its length (``adapters/hook_entry/shim.py``).
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import stat
import struct
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from upbeat.adapters.hook_entry.shim import receive_rest, socket_path
from upbeat.adapters.system.process.arrival import peer_pid

TIMEOUT_SECONDS = 10.0
BACKLOG = 512
"""Pending connections; a hook that cannot connect runs the core itself."""
MAX_DESCRIPTORS = 2
ACCEPT_RETRY_SECONDS = 0.05
"""Delay before the next attempt if the system cannot accept a connection."""
_SOCKET_NAME = re.compile(r"[a-z-]+-(\d+)\.sock(?:\.\d+)?")


class HookListener:
    """Answers each connection with ``handler(payload, pid, descriptors)`` until ``close``.

    ``pid`` is the process that asks, ``descriptors`` its input and output, if it has sent them.
    """

    def __init__(self, client: str, client_pid: int, handler: Callable[[bytes, int, Sequence[int]], bytes]) -> None:
        self._handler = handler
        self.path = Path(socket_path(os.getuid(), client, client_pid))
        self._socket: socket.socket | None = None
        self._closed = threading.Event()

    def start(self) -> bool:
        """Start listening, and return whether that worked; without it hooks run the core themselves."""
        try:
            if not _ensure_private_folder(self.path.parent):
                return False
            _remove_stale_sockets(self.path.parent)
            listening = _bind_listening_socket(self.path)
        except OSError:
            return False
        if listening is None:
            return False
        self._socket = listening
        self._closed.clear()
        threading.Thread(target=self._accept_loop, args=(listening,), name="hook-listener", daemon=True).start()
        return True

    def close(self) -> None:
        """Stop listening and remove the socket."""
        self._closed.set()
        if self._socket:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
                self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            self._socket.close()

    def _accept_loop(self, listening: socket.socket) -> None:
        """Accept until ``close``, even after running out of files or threads: later connections would hang."""
        while not self._closed.is_set():
            try:
                connection, _address = listening.accept()
            except OSError:
                self._closed.wait(ACCEPT_RETRY_SECONDS)
                continue
            try:
                threading.Thread(target=self._serve, args=(connection,), name="hook", daemon=True).start()
            except RuntimeError:
                connection.close()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ValueError):
            connection.settimeout(TIMEOUT_SECONDS)
            if _peer_uid(connection) != os.getuid():
                return
            size, descriptors, _flags, _address = socket.recv_fds(connection, 8, MAX_DESCRIPTORS, socket.MSG_WAITALL)
            try:
                payload = receive_rest(connection, size)
                if payload is not None:
                    answer = self._handler(payload, peer_pid(connection.fileno()), descriptors)
                    connection.sendall(len(answer).to_bytes(8, "big") + answer)
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)


def _ensure_private_folder(folder: Path) -> bool:
    """Create ``folder`` if needed; return whether it is a folder of this user that is closed to others."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _bind_listening_socket(path: Path) -> socket.socket | None:
    """Return a socket that listens at ``path``; None if another server does already: the first one answers for all.

    The socket gets its name by a link once it listens, so that two servers that start together cannot remove each
    other's name.
    """
    draft = path.with_name(f"{path.name}.{threading.get_native_id()}")
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        draft.unlink(missing_ok=True)
        listening.bind(str(draft))
        draft.chmod(0o600)  # the folder is closed to others already; a umask would apply to every thread
        listening.listen(BACKLOG)
        if path.exists() and not _is_listening(path):
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


def _remove_stale_sockets(folder: Path) -> None:
    """Remove the sockets of clients that have ended."""
    for path in folder.iterdir():
        if (name := _SOCKET_NAME.fullmatch(path.name)) and not _is_running(int(name[1])):
            path.unlink(missing_ok=True)


def _is_listening(path: Path) -> bool:
    """Return whether a server listens at ``path``."""
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
    """Return the uid of the peer; -1 if the system does not report it."""
    if hasattr(socket, "SO_PEERCRED"):
        size = struct.calcsize("3i")
        _pid, uid, _gid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return int(uid)
    if hasattr(socket, "LOCAL_PEERCRED"):  # macOS: struct xucred {version, uid, ngroups, groups[16]}
        credentials = connection.getsockopt(0, socket.LOCAL_PEERCRED, 76)
        return int(struct.unpack_from("2I", credentials)[1])
    return -1
