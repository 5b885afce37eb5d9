"""Frames that are none, peers that say nothing or are another user, and folders that are not ours.

Invariant: whoever keeps to the protocol is answered meanwhile, and nobody else gets a byte.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from upbeat.adapters.hook_entry import shim
from upbeat.adapters.mcp_server import listener as listening
from upbeat.adapters.mcp_server.listener import HookListener

from .hook_routes import Tally

AT_ONCE = 100
PATIENCE = 30.0
OTHER_UID = 12345
GOOD = b'{"hook_event_name": "Tea", "cwd": "/"}'
_CONNECT = (
    f"import os,socket,sys\nos.setgid({OTHER_UID}); os.setuid({OTHER_UID})\n"
    "s=socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1])\n"
    "s.sendall((1).to_bytes(8,'big')+b'x'); sys.stdout.buffer.write(s.recv(99))"
)


def frames(tally: Tally, path: Path, seed: int, count: int) -> None:
    """Send ``count`` broken frames to the socket at ``path``, a good one after every tenth, many at once at the end."""
    chance = random.Random(seed)
    for number in range(count):
        tally.count += 1
        with _connected(path) as connection, contextlib.suppress(OSError):
            connection.sendall(_frame(chance))
            if chance.random() < 0.5:
                connection.shutdown(socket.SHUT_WR)
        if number % 10 == 0:
            _ask_well(tally, path)
    silent = [_connected(path) for _ in range(AT_ONCE)]
    askers = [threading.Thread(target=_ask_well, args=(tally, path)) for _ in range(AT_ONCE)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    for connection in silent:
        connection.close()
    tally.count += 2 * AT_ONCE


def _frame(chance: random.Random) -> bytes:
    kind = chance.randrange(6)
    if kind == 0:
        return chance.randbytes(chance.randrange(8))
    if kind == 1:
        return struct.pack(">Q", chance.choice((shim.MAX_FRAME_BYTES + 1, 2**31, 2**63, 2**64 - 1)))
    if kind == 2:
        return struct.pack(">Q", chance.randrange(1, 10_000)) + chance.randbytes(chance.randrange(9))
    if kind == 3:
        return chance.randbytes(chance.randrange(8, 200))
    if kind == 4:
        return b'{"hook_event_name": "Stop"}\n'
    data = chance.randbytes(chance.randrange(50))
    return struct.pack(">Q", len(data)) + data + chance.randbytes(20)


def _connected(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(PATIENCE)
    connection.connect(str(path))
    return connection


def _ask_well(tally: Tally, path: Path) -> None:
    """One frame as it should be; its answer is as long as it says."""
    started = time.monotonic()
    try:
        with _connected(path) as connection:
            connection.sendall(struct.pack(">Q", len(GOOD)) + GOOD)
            answer = shim.receive_frame(connection)
    except (OSError, ValueError) as error:
        tally.faults.append(f"a good frame got no answer: {error}")
        return
    tally.slowest = max(tally.slowest, time.monotonic() - started)
    tally.answered += 1
    if answer != b"":
        tally.faults.append(f"a good frame got {answer!r}")


def _open_to_others(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    folder.chmod(0o755)


def _a_link(folder: Path) -> None:
    real = folder.with_name(f"{folder.name}-real")
    real.mkdir(mode=0o700)
    folder.symlink_to(real)


def _a_file(folder: Path) -> None:
    folder.touch()


def _somebody_elses(folder: Path) -> None:
    folder.mkdir(mode=0o777)
    os.chown(folder, OTHER_UID, OTHER_UID)


IS_ROOT = os.getuid() == 0
HOSTILE: tuple[Callable[[Path], None], ...] = (
    *(_open_to_others, _a_link, _a_file),
    *((_somebody_elses,) if IS_ROOT else ()),
)
"""Another user is tried by root only."""


def intruders(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield what another program could prepare or try, and whether it was refused."""
    real_path = listening.socket_path
    try:
        for prepare in HOSTILE:
            place, name = folder / prepare.__name__, prepare.__name__.strip("_")
            prepare(place)
            _listen_in(place)
            listener = HookListener("claude-code", os.getpid(), lambda payload: payload)
            yield f"folder {name}: no server", not listener.start()
            listener.close()
            yield f"folder {name}: no hook", shim.request_from_server("claude-code", b"x") is None
        if IS_ROOT:
            yield "another user", _another_user_is_refused(folder / "open")
    finally:
        listening.socket_path = shim.socket_path = real_path


def _listen_in(folder: Path) -> None:
    def here(_uid: int, client: str, pid: int) -> str:
        return str(folder / f"{client}-{pid}.sock")

    listening.socket_path = shim.socket_path = here


def _another_user_is_refused(folder: Path) -> bool:
    """Even where every permission has gone wrong."""
    _listen_in(folder)
    listener = HookListener("claude-code", os.getpid(), lambda payload: b"to " + payload)
    listener.start()
    for path in (folder, *folder.parents[:-1]):
        path.chmod(path.stat().st_mode | 0o055)
    listener.path.chmod(0o666)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _CONNECT, str(listener.path)], capture_output=True, check=False
    )
    listener.close()
    is_refused = b"ConnectionResetError" in done.stderr or b"BrokenPipeError" in done.stderr or done.returncode == 0
    return is_refused and done.stdout == b""
