"""A server that goes wrong costs an answer, and never a process that stays, a turn's time or our memory."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from own_servers import hostile, odd, provider, settings, wait_for_start
from processes import Fork, environment, is_gone, pids_with_home

from upbeat.adapters.cli.main import main
from upbeat.adapters.mcp_client import ServerLifetime
from upbeat.adapters.mcp_client import provider as providing
from upbeat.adapters.mcp_client.provider import RECENT_START_WAIT_SECONDS, ServersProvider
from upbeat.adapters.system.process.tree import with_death_signal
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


def connect(asked: ServersProvider) -> None:
    """Start the server and wait until it is ready, so that a time limit applies to the call alone."""
    asked.tool_statuses("/", threading.Event())


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


def after(seconds: float) -> threading.Event:
    """Is set after ``seconds``: as long as a tool has."""
    event = threading.Event()
    timer = threading.Timer(seconds, event.set)
    timer.daemon = True
    timer.start()
    return event


@pytest.mark.parametrize("how", ["banner", "complains", "evil schema", "fine"])
def test_what_is_forgiven(make: Make, how: str) -> None:
    """A banner on stdout, ten megabytes of complaints, a schema that would take years: it still answers."""
    assert "5 characters" == ask(make(how))


@pytest.mark.parametrize(
    ("how", "code", "reason"),
    [
        ("refuses", ErrorCode.TOOL_UNAVAILABLE, "it exited with code 3; ValueError: no licence for aws <redacted:"),
        ("garbage", ErrorCode.TOOL_UNAVAILABLE, "its output is not MCP messages"),
        ("one long line", ErrorCode.TOOL_UNAVAILABLE, "it wrote a line of more than 4194304 bytes"),
        ("dies", ErrorCode.TOOL_UNAVAILABLE, "it exited with code 7"),
        ("floods", ErrorCode.TOOL_UNAVAILABLE, "it wrote more than 8388608 unsolicited bytes"),
        ("lies", ErrorCode.PARSE, "odd answered: "),
        ("a million small lists", ErrorCode.TOOL_UNAVAILABLE, "it wrote a message with more than 50000 values"),
        ("many blocks", ErrorCode.TOOL_UNAVAILABLE, "it wrote a message with more than 50000 values"),
        ("asks without end", ErrorCode.TOOL_UNAVAILABLE, "it sent more than 100 requests at once"),
    ],
)
def test_the_failure_has_the_reason(make: Make, how: str, code: ErrorCode, reason: str) -> None:
    """A server that breaks the connection, the protocol or a limit is a failure with the reason, without secrets."""
    actual_code, message = failure(make(how))

    assert (code, True) == (actual_code, reason in message)


@pytest.mark.parametrize("how", ["hangs", "is slow"])
def test_what_hangs_is_given_up(make: Make, how: str) -> None:
    """A server that does not say hello, or does not answer, is waited for as long as its tool may take."""
    asked = make(how)
    if how == "is slow":
        connect(asked)

    assert ErrorCode.TIMEOUT == failure(asked, after(0.2))[0]


def test_what_is_late_too_often_is_ended(make: Make) -> None:
    """A server that lets calls wait three times in a row is ended; the next turn has its limit at once."""
    asked = make("is slow")
    connect(asked)
    late = [failure(asked, after(0.1))[0] for _ in range(3)]
    said = until(asked, lambda one: "3 times" in one, cancelled=lambda: after(0.2))

    assert [ErrorCode.TIMEOUT] * 3 == late
    assert "odd unavailable: it timed out 3 times in a row" == said[-1]


def test_a_session_does_not_wait(make: Make, tmp_path: Path) -> None:
    """In a session a server that is starting costs its small share and a limit; later it answers."""
    asked = make("fine", use=ServerLifetime.SESSION)
    hanging = failure(make("hangs", use=ServerLifetime.SESSION))

    assert (ErrorCode.TOOL_UNAVAILABLE, "odd is starting; it may be ready in the next turn") == hanging
    assert RECENT_START_WAIT_SECONDS <= 0.25

    settings(tmp_path, odd("fine"))
    asked.warm_up("/")

    assert ["5 characters"] == [one for one in until(asked, lambda one: one == "5 characters") if "starting" not in one]


def test_a_session_waits_for_a_young_server_only(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that has been starting for long costs a turn no time at all."""
    monkeypatch.setattr(providing, "RECENT_START_WAIT_SECONDS", 30)
    monkeypatch.setattr(providing, "RECENT_START_SECONDS", 0)
    started = time.monotonic()

    assert "odd is starting; it may be ready in the next turn" == failure(make("hangs", use=ServerLifetime.SESSION))[1]
    assert time.monotonic() - started < 15


def test_a_broken_server_is_left_alone(make: Make, tmp_path: Path) -> None:
    """A server that failed is not started again with each turn, and the answer to that comes at once."""
    asked = make("refuses", str(tmp_path / "starts"))
    failures = {failure(asked)[1] for _ in range(5)}

    assert 1 == len(failures)
    assert 1 == len((tmp_path / "starts").read_text().splitlines())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_nobody_is_left(make: Make, tmp_path: Path) -> None:
    """A server that ignores the end of stdin and SIGTERM is gone after ``close``, with everything that it started."""
    asked = make("stubborn", str(tmp_path / "starts"))
    ask(asked)
    leader = int((tmp_path / "starts").read_text())
    family = [int(path.name) for path in Path("/proc").glob("[0-9]*") if _group(path) == leader]

    assert 2 == len(family)

    asked.close()

    assert all(map(is_gone, family))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_no_daemon_is_left(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server has sent away from itself, and deaf to SIGTERM, is gone with it."""
    monkeypatch.setenv("HOME", str(tmp_path))  # by which all that it starts is found
    asked = make("fine")
    settings(tmp_path, hostile("forks"))
    ask(asked)
    family = pids_with_home(tmp_path)

    assert 11 == len(family)

    asked.close()

    assert all(map(is_gone, family))


def _group(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[2])
    except OSError:
        return 0


def test_it_gets_nothing_from_us(make: Make) -> None:
    """A server's request for a model's answer is refused, and its tool still answers."""
    assert "refused" == make("asks back").call("odd.search", {}, "/", threading.Event()).data["text"]


def test_a_change_while_it_runs(make: Make) -> None:
    """A tool that changes its declaration behind a running connection is switched off with the next call."""
    asked = make("changes")

    assert "5 characters" == ask(asked)

    assert (
        "has changed since you approved it; review it with `upbeat tools approve odd.search`"
        == until(asked, lambda one: one != "5 characters")[-1]
    )


def test_a_missing_program(tmp_path: Path) -> None:
    """A program that is not there is one sentence."""
    settings(
        tmp_path,
        '[mcp.servers.odd]\ncommand = "no-such-program"\n[mcp.servers.odd.tools.search]\nquery_argument = "q"\n',
    )
    asked = provider(tmp_path)

    assert (
        ErrorCode.TOOL_UNAVAILABLE,
        "odd unavailable: no program 'no-such-program' on PATH",
    ) == failure(asked)

    asked.close()


def test_after_the_end_nothing_starts(make: Make, tmp_path: Path) -> None:
    """A call that comes when the session has ended starts no server."""
    asked = make("fine", str(tmp_path / "starts"))
    asked.close()

    assert (ErrorCode.TOOL_UNAVAILABLE, "odd ended with its session") == failure(asked)
    assert not (tmp_path / "starts").exists()


SERVE, CALL, PREPARE = ["mcp"], ["tools", "call", "odd.search"], ["prepare", "--prompt", "fix parse()"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("command", [SERVE, CALL, PREPARE], ids=lambda command: command[0])
def test_a_signal_leaves_no_server(tmp_path: Path, command: list[str], number: signal.Signals) -> None:
    """A command that is ended by a signal ends its servers, even one that ignores the end of its stdin."""
    if number == signal.SIGKILL and with_death_signal(["true"]) == ["true"]:
        pytest.skip("needs setpriv of util-linux")
    settings(tmp_path, odd("hangs", str(tmp_path / "starts")))
    reader, writer = os.pipe()
    with open(reader), open(writer), Fork(main, command, tmp_path, environment(tmp_path), reader) as fork:
        leader = wait_for_start(tmp_path / "starts")
        fork.send(number)
        fork.wait()

        assert leader
        assert is_gone(leader)
