"""Open the requested transport to Codex.

Scripts get ``codex exec``. A user at a terminal gets ``codex app-server`` if it answers, and is informed which of the
two is used. A dry run starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from upbeat import __version__
from upbeat.adapters.codex.transport.exec.transport import CodexCommandLine, ExecTransport
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.adapters.codex_auto.app.options import Options
from upbeat.adapters.codex_auto.conversation.turn_runner import OpenedTransport
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.system.git.root import find_root
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.report import Limit
from upbeat.core.errors import RequestError

if TYPE_CHECKING:
    from upbeat.adapters.codex.transport.app_server.turn import AskPerson


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """What the transport is for.

    ``program`` and ``cwd`` are absolute; without ``ask_person`` approvals are declined.
    """

    options: Options
    program: str
    cwd: str
    variables: Mapping[str, str]
    is_plan_only: bool
    is_interactive: bool
    ask_person: AskPerson | None = None


def open_transport(connect_options: ConnectOptions, signals: SignalHandler, texts: Texts) -> OpenedTransport:
    """Open the transport; the process of an app-server runs and has answered.

    Raises:
        RequestError: app-server was requested by name and is unavailable.
    """
    choice = connect_options.options.transport
    if connect_options.is_plan_only or choice == "exec" or (choice == "auto" and not connect_options.is_interactive):
        return _open_exec(connect_options, signals)
    from upbeat.adapters.codex.transport.app_server.transport import AppServerUnavailable, open_app_server

    try:
        server = open_app_server(
            connect_options.program,
            connect_options.cwd,
            connect_options.variables,
            signals,
            version=__version__,
            flags=connect_options.options.flags,
            ask_person=connect_options.ask_person,
            idle_seconds=connect_options.options.idle_seconds,
        )
    except AppServerUnavailable as problem:
        reason = str(problem).strip().split("\n")[-1]
        if choice != "auto":
            raise RequestError(texts["app_server_unavailable"].format(reason=reason)) from None
        return _open_exec(connect_options, signals, (texts["using_exec"].format(reason=reason),))
    return OpenedTransport(server, server, notices=(texts["using_app_server"],))


def _open_exec(
    connect_options: ConnectOptions, signals: SignalHandler, notices: tuple[str, ...] = ()
) -> OpenedTransport:
    options = connect_options.options
    outside_git = not find_root(connect_options.cwd).worktree
    command = CodexCommandLine(options.codex_program, options.repo or "", options.flags, outside_git)
    transport = ExecTransport(
        command,
        connect_options.program,
        connect_options.variables,
        signals,
        options.idle_seconds,
        emits_raw_lines=options.is_json_output,
    )
    limits = (Limit.of(LimitCode.NO_GIT_ROOT, "Codex is started with --skip-git-repo-check"),) if outside_git else ()
    return OpenedTransport(transport, limits=limits, notices=notices)
