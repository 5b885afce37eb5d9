"""Who sent what arrives on a descriptor."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from upbeat.adapters.system.process import arrival
from upbeat.adapters.system.process.ancestry import ancestors_of
from upbeat.adapters.system.process.arrival import arrival_of, peer_pid
from upbeat.core.contract.arrival import Arrival, Route

TELL = (
    "import json, sys; from upbeat.adapters.system.process.arrival import arrival_of, Route\n"
    "arrival = arrival_of(Route.COMMAND, ('python',), mark='MARK')\n"
    "print(arrival.sender, sorted(arrival.sender_ancestors)[:0])"
)
COMMAND = [sys.executable, "-c", TELL]
linux_only = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


def sender(command: list[str], *, env: dict[str, str] | None = None, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | (env or {}), **options)  # type: ignore[call-overload]
    return str(done.stdout.split(" ")[0])


def own() -> str:
    return ancestors_of(os.getpid())[0].identity


@linux_only
def test_the_parent_sends() -> None:
    """A payload in a pipe or a socket pair of the parent is the parent's, also through a shell."""
    for command in (COMMAND, ["/bin/sh", "-c", '"$@"; true', "sh", *COMMAND]):
        held = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert held.stdout is not None
        assert own() == held.stdout.read().split(" ")[0]
        held.communicate()

    assert own() == sender(COMMAND, input="x")


@linux_only
def test_the_mark_of_agents_shells(tmp_path: Path) -> None:
    """A pipe whose writer is gone is the parent's by the output, unless an agent's shell has started the process."""
    command = ["/bin/sh", "-c", f'exec "$@" < {tmp_path}/pipe', "sh", *COMMAND]
    os.mkfifo(tmp_path / "pipe")
    for mark, expected in (({}, own()), ({"MARK": "1"}, "")):
        writer = subprocess.Popen(["/bin/sh", "-c", f"exec printf x > {tmp_path}/pipe"])
        assert expected == sender(command, env=mark)
        writer.wait()


@linux_only
def test_a_socket_pair() -> None:
    """The system says who made a socket pair."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert own() == sender(COMMAND, stdin=theirs.fileno())
        assert os.getpid() == peer_pid(theirs.fileno())


@linux_only
def test_anything_else_sends(tmp_path: Path) -> None:
    """A file, nothing, another program, or an agent's shell is no client."""
    (tmp_path / "forged").write_text("{}")
    shell = ["/bin/sh", "-c", f'cat {tmp_path}/forged | {{ "$@"; }}', "sh", *COMMAND]
    with (tmp_path / "forged").open() as file:
        assert "" == sender(COMMAND, stdin=file)
    assert "" == sender(COMMAND, stdin=subprocess.DEVNULL)
    assert own() != sender(shell)


@linux_only
def test_where_the_system_cannot_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /proc a pipe or a socket is the parent's, and a file is still nobody's."""
    monkeypatch.setattr(arrival, "_KNOWS_PIPES", False)
    monkeypatch.setattr(arrival, "peer_pid", lambda _descriptor: 0)
    parent = ancestors_of(os.getpid())[1].identity
    reading, writing = os.pipe()
    ours, theirs = socket.socketpair()
    with ours, theirs, (tmp_path / "forged").open("w") as file:
        seen = [arrival_of(Route.COMMAND, (), descriptors=(one,)) for one in (reading, ours.fileno(), file.fileno())]
    os.close(reading)
    os.close(writing)

    assert [parent, parent, ""] == [one.sender for one in seen]


def test_no_descriptors() -> None:
    """Without descriptors nothing is known, and closed ones are none."""
    assert Arrival(Route.SOCKET) == arrival_of(Route.SOCKET, (), descriptors=())
    assert Arrival(Route.SOCKET) == arrival_of(Route.SOCKET, (), descriptors=(987654,))
    assert 0 == peer_pid(987654)
