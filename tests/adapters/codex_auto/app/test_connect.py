"""Which way to Codex is taken, and what is said about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.codex import workbench
from fakes.codex.texts import ENGLISH
from fakes.codex.workbench import Workbench, make_workbench

from upbeat.adapters.codex.transport.base import ApprovalDecision
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.adapters.codex_auto.app.connect import ConnectOptions, OpenedTransport, open_transport
from upbeat.adapters.codex_auto.app.options import Options
from upbeat.core.contract.codes import LimitCode
from upbeat.core.errors import RequestError

SERVER = workbench.PROGRAM.with_name("app_server.py")


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return make_workbench(tmp_path / "b")


@pytest.fixture
def server(bench: Workbench) -> Workbench:
    """A bench whose Codex has an app-server."""
    bench.program.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{SERVER.read_text()}")
    return bench


@pytest.fixture
def signals() -> Iterator[SignalHandler]:
    with SignalHandler() as entered:
        yield entered


def way(
    bench: Workbench, signals: SignalHandler, options: Options, *, talks: bool = False, plan: bool = False
) -> OpenedTransport:
    variables = bench.environment(UPBEAT_WRAPPED="1")
    wanted = ConnectOptions(
        options, str(bench.program), str(bench.repository), variables, plan, talks, lambda _: ApprovalDecision.DECLINE
    )
    found = open_transport(wanted, signals, ENGLISH)
    found.transport.close()
    return found


@pytest.mark.parametrize(
    ("transport", "talks", "plan", "name"),
    [
        ("auto", True, False, "app-server"),
        ("auto", False, False, "exec"),
        ("auto", True, True, "exec"),
        ("exec", True, False, "exec"),
        ("app-server", False, False, "app-server"),
        ("app-server", True, True, "exec"),
    ],
)
def test_the_way_that_is_taken(
    server: Workbench, signals: SignalHandler, transport: str, talks: bool, plan: bool, name: str
) -> None:
    """At a terminal the app-server, for scripts exec, by name the named; a plan starts nothing."""
    found = way(server, signals, Options(transport=transport), talks=talks, plan=plan)

    assert (name, name == "app-server") == (found.transport.name, found.app_server is not None)
    assert (("connected to codex app-server",) if name == "app-server" else ()) == found.notices
    assert [] == server.processes()


@pytest.mark.parametrize(
    ("flags", "reason"),
    [((), "error: unrecognized subcommand 'app-server'"), (("-i", "x.png"), "-i is only a flag of codex exec")],
)
def test_at_a_terminal_exec_steps_in_and_says_why(
    bench: Workbench, signals: SignalHandler, flags: tuple[str, ...], reason: str
) -> None:
    """An old Codex, or a flag that only exec has, costs nobody the conversation."""
    found = way(bench, signals, Options(flags=flags), talks=True)

    assert ("exec", (f"codex app-server is unavailable, so codex exec is used: {reason}",)) == (
        found.transport.name,
        found.notices,
    )


def test_what_was_asked_for_by_name_is_not_replaced(bench: Workbench, signals: SignalHandler) -> None:
    """Without an app-server there is none to be had, and the sentence names what to do."""
    with pytest.raises(RequestError, match="use --transport exec"):
        way(bench, signals, Options(transport="app-server"), talks=True)


def test_outside_git_exec_has_to_say_so(tmp_path: Path, signals: SignalHandler) -> None:
    """The check of Codex is skipped, and a limit tells it."""
    found = way(make_workbench(tmp_path / "b", git=False), signals, Options())

    assert [LimitCode.NO_GIT_ROOT] == [limit.code for limit in found.limits]
