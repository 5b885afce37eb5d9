"""Which transport is opened, and what the user is told about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from io import StringIO

import pytest
from fakes.codex import workbench
from fakes.codex.conversation import ENGLISH
from fakes.codex.workbench import Workbench

from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.adapters.codex_auto.app.main import RunContext, open_transport
from upbeat.adapters.codex_auto.app.options import Options
from upbeat.adapters.codex_auto.conversation.turns import OpenedTransport
from upbeat.adapters.codex_auto.view.show import TurnPrinter
from upbeat.adapters.system.environment import read_environment
from upbeat.core.errors import RequestError

SERVER = workbench.PROGRAM.with_name("app_server.py")


@pytest.fixture
def server(bench: Workbench) -> Workbench:
    """A bench whose Codex has an app-server."""
    bench.program.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{SERVER.read_text()}")
    return bench


@pytest.fixture
def signals() -> Iterator[SignalHandler]:
    with SignalHandler() as entered:
        yield entered


def opened(
    bench: Workbench, signals: SignalHandler, options: Options, *, is_interactive: bool = False, is_plan: bool = False
) -> OpenedTransport:
    """Return the transport that is opened for ``options``, and close it."""
    variables = bench.environment(UPBEAT_WRAPPED="1")
    printer = TurnPrinter(StringIO(), StringIO(), ENGLISH)
    environment = read_environment(variables)
    context = RunContext(options, environment, ENGLISH, signals, printer, str(bench.program), variables, is_interactive)
    transport = open_transport(context, str(bench.repository), is_plan_only=is_plan)
    transport.transport.close()
    return transport


@pytest.mark.parametrize(
    ("transport", "is_interactive", "is_plan", "name"),
    [
        ("auto", True, False, "app-server"),
        ("auto", False, False, "exec"),
        ("auto", True, True, "exec"),
        ("exec", True, False, "exec"),
        ("app-server", False, False, "app-server"),
        ("app-server", True, True, "exec"),
    ],
)
def test_the_transport_that_is_opened(
    server: Workbench, signals: SignalHandler, transport: str, is_interactive: bool, is_plan: bool, name: str
) -> None:
    """A user at a terminal gets the app-server, a script exec, a named transport is used, and a plan starts nothing."""
    result = opened(server, signals, Options(transport=transport), is_interactive=is_interactive, is_plan=is_plan)

    assert (name, name == "app-server") == (result.transport.name, result.app_server is not None)
    assert (("connected to codex app-server",) if name == "app-server" else ()) == result.notices
    assert [] == server.processes()


@pytest.mark.parametrize(
    ("flags", "reason"),
    [((), "error: unrecognized subcommand 'app-server'"), (("-i", "x.png"), "-i is only a flag of codex exec")],
)
def test_at_a_terminal_exec_replaces_an_unavailable_app_server(
    bench: Workbench, signals: SignalHandler, flags: tuple[str, ...], reason: str
) -> None:
    """With an old Codex, or a flag that only exec has, the conversation uses exec and the reason is shown."""
    result = opened(bench, signals, Options(flags=flags), is_interactive=True)

    assert ("exec", (f"codex app-server is unavailable, so codex exec is used: {reason}",)) == (
        result.transport.name,
        result.notices,
    )


def test_an_app_server_requested_by_name_is_not_replaced(bench: Workbench, signals: SignalHandler) -> None:
    """A requested app-server that is unavailable is an error that names the remedy."""
    with pytest.raises(RequestError, match="use --transport exec"):
        opened(bench, signals, Options(transport="app-server"), is_interactive=True)
