"""Opens the way to Codex that was asked for.

Law: ``codex exec`` is the contract of record, and what scripts get. A person at a terminal gets ``codex app-server``
where it answers, and is told which of the two it is. Nothing is started for a plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .... import __version__
from ....core.contract.codes import LimitCode
from ....core.contract.report import Limit
from ....core.errors import RequestError
from ...local.git_root import find_root
from .command import Command
from .exec_transport import ExecTransport
from .options import Options
from .signals import Signals
from .texts import Texts
from .transport import Transport

if TYPE_CHECKING:
    from .app_server import AppServerTransport
    from .app_server_turn import AskPerson


@dataclass(frozen=True, slots=True)
class Way:
    """A way to Codex, what it had to give up, and what the person should know about it."""

    transport: Transport
    app_server: AppServerTransport | None = None
    limits: tuple[Limit, ...] = ()
    news: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the way is for. ``program`` and ``cwd`` are absolute; ``ask_person`` None: there is nobody to ask."""

    options: Options
    program: str
    cwd: str
    variables: Mapping[str, str]
    is_plan: bool
    talks: bool
    ask_person: AskPerson | None = None


def connect(wanted: Wanted, signals: Signals, texts: Texts) -> Way:
    """The way; with app-server, its process runs and has said hello.

    Raises:
        RequestError: app-server was asked for by name, and cannot be had.
    """
    choice = wanted.options.transport
    if wanted.is_plan or choice == "exec" or (choice == "auto" and not wanted.talks):
        return _exec(wanted, signals)
    from .app_server import AppServerUnavailable, open_app_server

    try:
        server = open_app_server(
            wanted.program,
            wanted.cwd,
            wanted.variables,
            signals,
            version=__version__,
            flags=wanted.options.flags,
            ask_person=wanted.ask_person,
            idle_seconds=wanted.options.idle_seconds,
        )
    except AppServerUnavailable as problem:
        reason = str(problem).strip().split("\n")[-1]
        if choice != "auto":
            raise RequestError(texts.no_app_server.format(reason=reason)) from None
        return _exec(wanted, signals, (texts.way_exec.format(reason=reason),))
    return Way(server, server, news=(texts.way_app_server,))


def _exec(wanted: Wanted, signals: Signals, news: tuple[str, ...] = ()) -> Way:
    options = wanted.options
    outside_git = not find_root(wanted.cwd).worktree
    command = Command(options.codex, options.repo or "", options.flags, outside_git)
    transport = ExecTransport(
        command, wanted.program, wanted.variables, signals, options.idle_seconds, verbatim=options.json
    )
    limits = (Limit.of(LimitCode.NO_GIT_ROOT, "Codex is started with --skip-git-repo-check"),) if outside_git else ()
    return Way(transport, limits=limits, news=news)
