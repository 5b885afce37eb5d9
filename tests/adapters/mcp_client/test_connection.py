"""A failed server is restarted after growing delays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from own_servers import odd, provider, settings

from upbeat.adapters.mcp_client import ServerLifetime
from upbeat.adapters.mcp_client.connection import ServerConnection, restart_delay_seconds
from upbeat.adapters.mcp_client.event_loop import BackgroundLoop
from upbeat.adapters.mcp_client.program import Program
from upbeat.adapters.mcp_client.provider import ServersProvider
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure

Make = Callable[..., ServersProvider]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes a provider for one odd server; all are closed at the end."""
    made: list[ServersProvider] = []

    def one(how: str, *more: str, use: ServerLifetime = ServerLifetime.ONCE) -> ServersProvider:
        settings(tmp_path, odd(how, *more))
        made.append(provider(tmp_path, use))
        return made[-1]

    yield one
    for each in made:
        each.close()


def ask(asked: ServersProvider, cancelled: threading.Event | None = None) -> str:
    return asked.call("odd.search", {"q": "x"}, "/", cancelled or threading.Event()).summary


def failure(asked: ServersProvider, cancelled: threading.Event | None = None) -> tuple[ErrorCode, str]:
    with pytest.raises(ToolFailure) as failed:
        ask(asked, cancelled)
    return failed.value.code, str(failed.value)


def until(
    asked: ServersProvider,
    is_it: Callable[[str], bool],
    cancelled: Callable[[], threading.Event] = threading.Event,
) -> list[str]:
    """What it answers, and how it fails, until that is what was waited for."""
    said: list[str] = []
    end = time.monotonic() + 20
    while time.monotonic() < end and not (said and is_it(said[-1])):
        try:
            said.append(ask(asked, cancelled()))
        except ToolFailure as failed:
            said.append(str(failed))
    return said


def is_running(pid: int) -> bool:
    """Whether ``pid`` still runs. One that was killed has a moment: the signal is sent, not yet carried out."""
    until = time.monotonic() + 5.0
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        if state in ("Z", "X"):
            return False
        time.sleep(0.01)
    return True


def after(seconds: float) -> threading.Event:
    """Is set after ``seconds``: as long as a tool has."""
    event = threading.Event()
    timer = threading.Timer(seconds, event.set)
    timer.daemon = True
    timer.start()
    return event


def _has_home(process: Path, home: Path) -> bool:
    try:
        return f"HOME={home}".encode() in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _group(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[2])
    except OSError:
        return 0


COMMANDS = (["mcp", "--client", "claude-code"], ["tools", "call", "odd.search"], ["prepare", "--prompt", "fix parse()"])


def _started(folder: Path) -> int:
    """The server's process, once it has told."""
    path = folder / "starts"
    return int(path.read_text() or 0) if path.exists() else 0


def test_it_is_tried_again() -> None:
    """After its pause a server that failed is started again, and not before."""
    tried: list[float] = []
    never = threading.Event()

    def find() -> Program:
        tried.append(time.monotonic())
        raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, "there is none")

    background = BackgroundLoop()
    connection = ServerConnection("odd", find, background, initial_backoff=0.3)
    end = time.monotonic() + 10
    while len(tried) < 2 and time.monotonic() < end:
        connection.start()
        with pytest.raises(ToolFailure, match="there is none"):
            connection.wait_until_ready(never, 5)
    background.close()

    assert tried[1] - tried[0] >= 0.3


@pytest.mark.parametrize(("failures", "seconds"), [(0, 5), (1, 5), (2, 10), (3, 20), (7, 320), (8, 600), (99, 600)])
def test_pauses_double(failures: int, seconds: float) -> None:
    """The pause doubles with each failure in a row, up to ten minutes."""
    assert seconds == restart_delay_seconds(failures)
