"""The socket is for the same user only, for one server of a client, and gone with it."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from upbeat.adapters.hook_entry import shim
from upbeat.adapters.mcp_server import listener as listening
from upbeat.adapters.mcp_server.listener import HookListener

PID = os.getpid()


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the sockets, elsewhere than the real one."""
    folder = tmp_path_factory.mktemp("s") / "u"

    def here(uid: int, client: str, pid: int) -> str:
        return str(folder / f"{client}-{pid}.sock")

    monkeypatch.setattr(listening, "socket_path", here)
    return folder


@pytest.fixture
def listener(folder: Path) -> Iterator[HookListener]:
    started = HookListener("claude-code", PID, lambda payload, *_: b"to " + payload)
    assert started.start()
    yield started
    started.close()


def ask(path: Path, payload: bytes, length: int | None = None) -> bytes | None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(5)
        connection.connect(str(path))
        connection.sendall((len(payload) if length is None else length).to_bytes(8, "big") + payload)
        return shim.receive_frame(connection)


@pytest.mark.parametrize("payload", [b"x", b"", b"y" * 300_000], ids=["short", "empty", "long"])
def test_it_answers(listener: HookListener, payload: bytes) -> None:
    """One payload in, one answer out."""
    assert b"to " + payload == ask(listener.path, payload)


def test_it_answers_many(listener: HookListener) -> None:
    """Hooks that come together are answered together."""
    with ThreadPoolExecutor(20) as pool:
        answers = pool.map(ask, [listener.path] * 20, [b"x"] * 20)

    assert [b"to x"] * 20 == list(answers)


def test_it_is_private(listener: HookListener) -> None:
    """The folder is 0700, the socket 0600, and nothing else is left behind."""
    assert (0o700, 0o600) == (
        stat.S_IMODE(listener.path.parent.stat().st_mode),
        stat.S_IMODE(listener.path.stat().st_mode),
    )
    assert [listener.path] == list(listener.path.parent.iterdir())


def test_the_umask_of_the_process_is_left_alone(listener: HookListener, monkeypatch: pytest.MonkeyPatch) -> None:
    """A umask counts for every thread: folders that another one makes meanwhile would be closed to their owner."""
    monkeypatch.setattr(os, "umask", lambda _mask: pytest.fail("a umask was set"))
    listener.close()

    assert listener.start()


def test_closing_takes_it_away(listener: HookListener) -> None:
    """After ``close`` no socket is left; a second ``close`` does nothing."""
    listener.close()
    listener.close()

    assert [] == list(listener.path.parent.iterdir())


def test_a_second_server_leaves_the_first_alone(listener: HookListener) -> None:
    """The first server of a client answers for all; the second one's end does not take the socket away."""
    second = HookListener("claude-code", PID, lambda *_: b"second")

    assert not second.start()

    second.close()

    assert b"to x" == ask(listener.path, b"x")


def test_a_dead_servers_socket_is_taken_over(folder: Path) -> None:
    """A socket without a listener is replaced."""
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(folder / f"claude-code-{PID}.sock"))
    started = HookListener("claude-code", PID, lambda *_: b"new")

    assert started.start()
    assert b"new" == ask(started.path, b"x")

    started.close()


def test_of_servers_that_start_together_one_listens(folder: Path) -> None:
    """However they race, one of them has the socket and it answers."""
    ready = threading.Barrier(6)
    listeners = [HookListener("claude-code", PID, lambda payload, *_: payload) for _ in range(6)]

    def start(listener: HookListener) -> bool:
        ready.wait()
        return listener.start()

    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(start, listeners))

    assert 1 == outcomes.count(True)
    assert b"x" == ask(listeners[0].path, b"x")

    for listener in listeners:
        listener.close()


def test_it_sweeps_after_the_dead(folder: Path) -> None:
    """Sockets of clients that ended are removed; those of others stay."""
    gone = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
    gone.wait()
    folder.mkdir(mode=0o700)
    for name in (
        f"codex-cli-{gone.pid}.sock",
        f"codex-cli-{gone.pid}.sock.77",
        f"codex-cli-{os.getppid()}.sock",
        "note.txt",
    ):
        (folder / name).touch()
    started = HookListener("claude-code", PID, lambda payload, *_: payload)
    started.start()
    left = sorted(path.name for path in folder.iterdir())
    started.close()

    assert sorted([f"claude-code-{PID}.sock", f"codex-cli-{os.getppid()}.sock", "note.txt"]) == left


def open_to_others(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    folder.chmod(0o755)


def a_link(folder: Path) -> None:
    (folder.parent / "real").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "real")


def a_file(folder: Path) -> None:
    folder.write_text("")


def somebody_elses(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    if os.getuid():
        pytest.skip("needs another user's folder, which only root can make")
    os.chown(folder, 12345, 12345)


@pytest.mark.parametrize("make", [open_to_others, a_link, a_file, somebody_elses])
def test_a_hostile_folder_is_refused(folder: Path, make: object) -> None:
    """In a folder that is foreign, a link, a file or open to others the server does not listen, and changes nothing."""
    make(folder)  # type: ignore[operator]
    started = HookListener("claude-code", PID, lambda payload, *_: payload)

    assert not started.start()
    assert not started.path.exists()

    started.close()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_another_user_gets_no_answer(listener: HookListener) -> None:
    """Even with the permissions gone wrong, the peer's uid is checked."""
    for path in (listener.path.parent, *listener.path.parents):
        if path != Path("/"):
            path.chmod(path.stat().st_mode | 0o055)
    listener.path.chmod(0o666)
    listener.path.parent.chmod(0o755)
    code = (
        "import os,socket,sys\nos.setgid(12345); os.setuid(12345)\n"
        "s=socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1])\n"
        "s.sendall((1).to_bytes(8,'big')+b'x'); print(s.recv(99))"
    )
    done = subprocess.run(
        ["/usr/bin/env", "python3", "-I", "-S", "-c", code, str(listener.path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert "b''\n" == done.stdout or "ConnectionResetError" in done.stderr or "BrokenPipeError" in done.stderr
    assert b"to x" == ask(listener.path, b"x")


@pytest.mark.parametrize(
    ("payload", "length"),
    [
        pytest.param(b"half", 100, id="breaks off"),
        pytest.param(b"", shim.MAX_FRAME_BYTES + 1, id="too long"),
        pytest.param(b"", 2**63, id="absurd"),
    ],
)
def test_broken_frames_are_dropped(listener: HookListener, payload: bytes, length: int) -> None:
    """A frame that is no frame gets no answer, and the next one does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(listener.path))
        connection.sendall(length.to_bytes(8, "big") + payload)
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(5)

        assert b"" == connection.recv(10)

    assert b"to x" == ask(listener.path, b"x")


def test_a_silent_client_delays_nobody(listener: HookListener) -> None:
    """A silent connection does not delay others."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.connect(str(listener.path))

        assert b"to x" == ask(listener.path, b"x")


def test_out_of_files_is_no_end(listener: HookListener, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the system could not accept a connection, later connections are answered."""
    real, troubles = socket.socket.accept, [OSError(errno.EMFILE, "too many"), OSError(errno.ECONNABORTED, "gone")]

    def accept(self: socket.socket) -> object:
        accepted = real(self)
        if troubles:
            accepted[0].close()
            raise troubles.pop()
        return accepted

    monkeypatch.setattr(socket.socket, "accept", accept)
    end = time.monotonic() + 30
    while troubles and time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError):
            ask(listener.path, b"x")

    assert [] == troubles
    assert b"to x" == ask(listener.path, b"x")


def test_out_of_threads_is_no_end(listener: HookListener, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection for which no thread can be started is closed, and the next one is answered."""
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", lambda _thread: (_ for _ in ()).throw(RuntimeError("no thread")))
        with pytest.raises((OSError, ValueError)):
            ask(listener.path, b"x")

    assert b"to x" == ask(listener.path, b"x")
