"""The tools of the user's servers behind the port ``ToolProvider``.

Law: a server costs a turn an answer or a limit, and no time beyond its own. A tool is asked only as its user approved
it: the first sight counts for one that says that it only reads, or that its user listed; a change ends it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ...core.contract.codes import ErrorCode
from ...core.contract.finding import ANSWER, Finding, ToolOutput
from ...core.errors import ToolFailure
from ...core.layers import did_you_mean, shown
from ...core.ports import Cancellation
from ...core.servers import Server, split_name, tool_name
from ..local.environment import Environment
from ..local.settings import load_user_settings
from . import Use
from .answer import Answer, Declared, said
from .pins import Pin, Pins
from .program import Finder, program_of

if TYPE_CHECKING:
    from .background import Background
    from .connection import Connection

SHARE_SECONDS = 0.2
"""What a turn of a session waits for a server that was started less than ``EARLY_SECONDS`` ago; for others nothing."""
EARLY_SECONDS = 3.0
START_SECONDS = 20.0
MAX_ANSWER = 64 * 1024
"""Characters. Whoever says more is refused and not cut: half of a secret is none that can be found."""
SCORE = 0.5
"""An answer stands behind the best of the code, and before what only might matter."""

AUTOMATIC, BY_REQUEST, CHANGED, UNREACHABLE = "automatic", "by request", "changed", "not reachable"


@dataclass(frozen=True, slots=True)
class Shown:
    """A tool and how it is (one of the four words above), or a server that is not reachable; and why."""

    name: str
    state: str
    detail: str = ""
    timeout_ms: int = 0


class ServersProvider:
    """Implements ``core.ports.ToolProvider`` for the servers in the user's own settings."""

    def __init__(self, environment: Environment, use: Use, finders: Mapping[str, Finder]) -> None:
        self._environment = environment
        self._use = use
        self._finders = finders
        self._pins = Pins(environment.state_home)
        self._background: Background | None = None
        self._connections: dict[tuple[str, str], tuple[object, Connection]] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def tools(self) -> Mapping[str, str]:
        """The tools that may run by themselves, from the settings alone: no server is asked."""
        return {
            tool_name(server.name, tool.name): f"Asks the tool {tool.name} of your server {server.name}."
            for server in self.servers()
            for tool in server.tools
        }

    def servers(self) -> tuple[Server, ...]:
        """The servers as the user's file has them now."""
        return load_user_settings(self._environment).servers

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        """Ask a server. Raises ``ToolFailure``: unavailable, not approved, invalid arguments, timeout, parse."""
        if cancelled.is_set():
            raise ToolFailure(ErrorCode.TIMEOUT, "was not asked in time")
        server_name, name = split_name(tool)
        server = self._server(server_name)
        connection = self._connected(server, root, cancelled)
        declared = _known(connection.tools(cancelled), server, name)
        self._check(server, declared, root)
        for given in args:
            if declared.arguments and given not in declared.arguments:
                hint = did_you_mean(given, declared.arguments)
                raise ToolFailure(ErrorCode.INVALID_ARGS, f"takes no argument {shown(given)}{hint}")
        return _output(tool_name(server.name, name), connection.call(name, args, cancelled))

    def warm_up(self, root: str) -> None:
        """Start what a turn in the repository at ``root`` may ask, and wait for nothing."""
        if self._use is Use.SESSION:
            for server in self.servers():
                if server.tools:
                    self._connection(server, root).start()

    def show(self, root: str, cancelled: Cancellation) -> list[Shown]:
        """Every tool of every server, and how it is."""
        servers = self.servers()
        for server in servers:
            self._connection(server, root).start()
        return [one for server in servers for one in self._shown(server, root, cancelled)]

    def approve(self, server_name: str, tool: str, root: str, cancelled: Cancellation) -> tuple[Declared, ...]:
        """Approve ``tool``, or all of the server's where it is empty, as declared now; what was approved.

        Raises ``ToolFailure`` when the server or the tool is not there, and OSError where it cannot be remembered.
        """
        server = self._server(server_name)
        declared = self._connected(server, root, cancelled).tools(cancelled)
        chosen = (_known(declared, server, tool),) if tool else tuple(declared.values())
        self._pins.pin(_pinned_as(server, root), {one.name: one.digest for one in chosen})
        return chosen

    def close(self) -> None:
        """End every server that was started; a call that comes later starts none."""
        with self._lock:
            self._is_closed = True
            background, self._background = self._background, None
            self._connections.clear()
        if background:
            background.close()

    def _server(self, name: str) -> Server:
        servers = {server.name: server for server in self.servers()}
        if name not in servers:
            hint = did_you_mean(name, servers)
            raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"your settings name no server {shown(name)}{hint}")
        return servers[name]

    def _connected(self, server: Server, root: str, cancelled: Cancellation) -> Connection:
        """The server's connection, once it is there. Raises ``ToolFailure``."""
        if self._use is Use.NEVER:
            text = f"{server.name} is only asked where a process stays: upbeat mcp, codex-auto, upbeat prepare"
            raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, text)
        connection = self._connection(server, root)
        connection.start()
        share = SHARE_SECONDS if connection.age() < EARLY_SECONDS else 0.0
        connection.wait(cancelled, share if self._use is Use.SESSION else START_SECONDS)
        return connection

    def _connection(self, server: Server, root: str) -> Connection:
        """The one connection to a server, in a place where that matters; one that is started otherwise now is ended."""
        from .background import Background  # with all that it takes; who has no servers does without
        from .connection import Connection

        key = (server.name, root if server.in_repository or server.taken_from else "")
        started_as = (server.launch, server.taken_from, server.in_repository)
        with self._lock:
            if self._is_closed:
                raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"{server.name} has ended with its session")
            former_as, former = self._connections.get(key) or (None, None)
            if former is not None and former_as == started_as:
                return former
            if former is not None:
                former.end()
            self._background = self._background or Background()
            find = partial(program_of, server, root, self._environment, self._finders)
            made = Connection(server.name, find, self._background)
            self._connections[key] = (started_as, made)
            return made

    def _check(self, server: Server, declared: Declared, root: str) -> None:
        """Whether the tool may be asked here; the first sight is remembered. Raises ``ToolFailure`` (not approved)."""
        pin = self._pins.look(_pinned_as(server, root), declared.name, declared.digest)
        if pin is Pin.CHANGED:
            raise ToolFailure(ErrorCode.NOT_APPROVED, _changed(server, declared))
        if self._use is not Use.BY_HAND and not _may_run_alone(server, declared):
            raise ToolFailure(ErrorCode.NOT_APPROVED, _not_listed(server, declared))
        if pin is Pin.UNKNOWN:
            try:
                self._pins.pin(_pinned_as(server, root), {declared.name: declared.digest})
            except OSError as error:
                text = f"cannot be remembered as it is now ({error.strerror}), and so not be asked"
                raise ToolFailure(ErrorCode.NOT_APPROVED, text) from error

    def _shown(self, server: Server, root: str, cancelled: Cancellation) -> list[Shown]:
        try:
            declared = self._connected(server, root, cancelled).tools(cancelled)
        except ToolFailure as failure:
            return [Shown(server.name, UNREACHABLE, str(failure), server.timeout_ms)]
        rows = [self._state(server, one, root) for one in declared.values()]
        missing = [tool.name for tool in server.tools if tool.name not in declared]
        lacks = f"{server.name} has no such tool"
        rows += [Shown(tool_name(server.name, name), UNREACHABLE, lacks, server.timeout_ms) for name in missing]
        return sorted(rows, key=lambda row: row.name)

    def _state(self, server: Server, declared: Declared, root: str) -> Shown:
        state, detail = BY_REQUEST, ""
        if self._pins.look(_pinned_as(server, root), declared.name, declared.digest) is Pin.CHANGED:
            state, detail = CHANGED, _changed(server, declared)
        elif declared.name in {tool.name for tool in server.tools}:
            may_run = _may_run_alone(server, declared)
            state, detail = (AUTOMATIC, "") if may_run else (BY_REQUEST, _not_listed(server, declared))
        return Shown(tool_name(server.name, declared.name), state, detail, server.timeout_ms)


def _known(declared: Mapping[str, Declared], server: Server, tool: str) -> Declared:
    if tool not in declared:
        hint = did_you_mean(tool, declared)
        raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"{server.name} has no tool {shown(tool)}{hint}")
    return declared[tool]


def _pinned_as(server: Server, root: str) -> str:
    """What pins know the server by: servers of two projects have nothing to do with each other."""
    return f"{server.name} in {root}" if server.taken_from == "claude" else server.name


def _may_run_alone(server: Server, declared: Declared) -> bool:
    return declared.reads_only or declared.name in server.automatic


def _changed(server: Server, declared: Declared) -> str:
    return f"is not what you approved; upbeat tools approve {tool_name(server.name, declared.name)} shows it"


def _not_listed(server: Server, declared: Declared) -> str:
    place = f"[mcp.servers.{server.name}]"
    return f'does not say that it only reads; automatic = ["{declared.name}"] in {place} has it asked anyway'


def _output(tool: str, answer: Answer) -> ToolOutput:
    """What a tool said, as one finding. Raises ``ToolFailure`` for a mistake of the tool's own, and for too much."""
    if answer.is_error:
        raise ToolFailure(ErrorCode.UNKNOWN, f"answered with an error: {said(answer.text)}")
    if len(answer.text) > MAX_ANSWER:
        text = f"answered {len(answer.text)} characters; at most {MAX_ANSWER} are taken"
        raise ToolFailure(ErrorCode.PARSE, text)
    summary = f"{len(answer.text)} characters" + (f", {len(answer.left_out)} parts left out" if answer.left_out else "")
    data = {"text": answer.text, "left_out": list(answer.left_out)}
    server, name = split_name(tool)
    finding = Finding(
        path=f"mcp:{server}/{name}",
        title=f"answer of {tool}",
        kind=ANSWER,
        score=SCORE,
        why=f"what your server {server} says",
        text=answer.text,
    )
    return ToolOutput(summary, (finding,) if answer.text.strip() else (), data)
