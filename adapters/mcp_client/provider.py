"""Offer the tools of the user's servers through the port ``ToolProvider``.

Invariant: a server never delays a turn beyond its own time limit. A tool runs only with the declaration that was
approved: implicitly on first use if the tool is read-only or listed by its user. A change ends the approval.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from upbeat.adapters.mcp_client import ServerLifetime
from upbeat.adapters.mcp_client.declarations import (
    PinStatus,
    PinStore,
    ServerAnswer,
    ToolDeclaration,
    sanitize_server_text,
)
from upbeat.adapters.mcp_client.program import LaunchFinder, resolve_program
from upbeat.adapters.system.config.settings import load_user_settings
from upbeat.adapters.system.environment import Environment
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ANSWER_KIND, Finding, ToolOutput
from upbeat.core.engine.ports import Cancellation
from upbeat.core.errors import ToolFailure
from upbeat.core.settings_layers import did_you_mean, format_value
from upbeat.core.tool_servers import ServerConfig, qualified_tool_name, split_tool_name

if TYPE_CHECKING:
    from upbeat.adapters.mcp_client.connection import BackgroundLoop, ServerConnection

RECENT_START_WAIT_SECONDS = 0.2
"""How long a turn of a session waits for a server that was started within ``RECENT_START_SECONDS``."""
RECENT_START_SECONDS = 3.0
START_WAIT_SECONDS = 20.0
MAX_ANSWER_CHARS = 64 * 1024
"""Longer answers are refused, not truncated: redaction could not find a truncated secret."""
ANSWER_SCORE = 0.5
"""Ranks an answer after the best code, and before uncertain matches."""

AUTOMATIC, ON_REQUEST, CHANGED, UNREACHABLE = "automatic", "on_request", "changed", "unreachable"


@dataclass(frozen=True, slots=True)
class ServerToolStatus:
    """The state of a tool (one of the four above) or of an unreachable server, and the reason."""

    name: str
    state: str
    detail: str = ""
    timeout_ms: int = 0


class ServersProvider:
    """Implements ``core.engine.ports.ToolProvider`` for the servers in the user's own settings."""

    def __init__(self, environment: Environment, lifetime: ServerLifetime, finders: Mapping[str, LaunchFinder]) -> None:
        self._environment = environment
        self._lifetime = lifetime
        self._finders = finders
        self._pins = PinStore(environment.state_home)
        self._background: BackgroundLoop | None = None
        self._connections: dict[tuple[str, str], tuple[object, ServerConnection]] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def tools(self) -> Mapping[str, str]:
        """Return the tools that may run automatically, from the settings alone."""
        return {
            qualified_tool_name(server.name, tool.name): f"Calls the tool {tool.name} of your server {server.name}."
            for server in self.servers()
            for tool in server.tools
        }

    def servers(self) -> tuple[ServerConfig, ...]:
        """Return the servers in the user's settings."""
        return load_user_settings(self._environment).servers

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        """Call a tool. Raises ToolFailure: unavailable, not approved, invalid arguments, timeout, parse."""
        if cancelled.is_set():
            raise ToolFailure(ErrorCode.TIMEOUT, "not called: the turn was cancelled")
        server_name, name = split_tool_name(tool)
        server = self._find_server(server_name)
        connection = self._ready_connection(server, root, cancelled)
        declared = _find_declaration(connection.list_tools(cancelled), server, name)
        self._require_approval(server, declared, root)
        for given in args:
            if declared.arguments and given not in declared.arguments:
                hint = did_you_mean(given, declared.arguments)
                raise ToolFailure(ErrorCode.INVALID_ARGS, f"has no argument {format_value(given)}{hint}")
        return _tool_output(qualified_tool_name(server.name, name), connection.call(name, args, cancelled))

    def warm_up(self, root: str) -> None:
        """Start the servers that a turn at ``root`` may call, without waiting."""
        if self._lifetime is ServerLifetime.SESSION:
            for server in self.servers():
                if server.tools:
                    self._get_connection(server, root).start()

    def tool_statuses(self, root: str, cancelled: Cancellation) -> list[ServerToolStatus]:
        """Return the state of every tool of every server."""
        servers = self.servers()
        for server in servers:
            self._get_connection(server, root).start()
        return [status for server in servers for status in self._statuses_of_server(server, root, cancelled)]

    def approve(
        self,
        server_name: str,
        tool: str,
        root: str,
        cancelled: Cancellation,
        confirm: Callable[[Sequence[ToolDeclaration]], bool] = lambda _declarations: True,
    ) -> tuple[ToolDeclaration, ...]:
        """Approve ``tool`` (empty: all tools of the server) as declared now, unless ``confirm`` says no.

        Return the approved declarations.

        Raises:
            ToolFailure: The server or the tool is unavailable.
            OSError: The approval cannot be stored.
        """
        server = self._find_server(server_name)
        declared = self._ready_connection(server, root, cancelled).list_tools(cancelled)
        chosen = (_find_declaration(declared, server, tool),) if tool else tuple(declared.values())
        if not confirm(chosen):
            return ()
        self._pins.approve(_pin_key(server, root), {declaration.name: declaration.digest for declaration in chosen})
        return chosen

    def close(self) -> None:
        """End every server; later calls start none."""
        with self._lock:
            self._is_closed = True
            background, self._background = self._background, None
            self._connections.clear()
        if background:
            background.close()

    def _find_server(self, name: str) -> ServerConfig:
        servers = {server.name: server for server in self.servers()}
        if name not in servers:
            way_out = did_you_mean(name, servers) or "; add it there under [mcp.servers]"
            raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"no server {format_value(name)} in your settings{way_out}")
        return servers[name]

    def _ready_connection(self, server: ServerConfig, root: str, cancelled: Cancellation) -> ServerConnection:
        """Wait for the server's connection and return it. Raises ToolFailure."""
        if self._lifetime is ServerLifetime.NEVER:
            text = f"{server.name} is only called by upbeat mcp, codex-auto and upbeat prepare"
            raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, text)
        connection = self._get_connection(server, root)
        connection.start()
        seconds = START_WAIT_SECONDS
        if self._lifetime is ServerLifetime.SESSION:
            is_recent = time.monotonic() - connection.started_at < RECENT_START_SECONDS
            seconds = RECENT_START_WAIT_SECONDS if is_recent else 0.0
        connection.wait_until_ready(cancelled, seconds)
        return connection

    def _get_connection(self, server: ServerConfig, root: str) -> ServerConnection:
        """Return the connection to a server (per repository if it matters); replace one with an old configuration."""
        from upbeat.adapters.mcp_client.connection import BackgroundLoop, ServerConnection

        key = (server.name, root if server.runs_in_repository or server.imported_from else "")
        started_as = (server.launch, server.imported_from, server.runs_in_repository)
        with self._lock:
            if self._is_closed:
                raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"{server.name} ended with its session")
            former_as, former = self._connections.get(key) or (None, None)
            if former is not None and former_as == started_as:
                return former
            if former is not None:
                former.close()
            self._background = self._background or BackgroundLoop()
            find = partial(resolve_program, server, root, self._environment, self._finders)
            made = ServerConnection(server.name, find, self._background)
            self._connections[key] = (started_as, made)
            return made

    def _require_approval(self, server: ServerConfig, declaration: ToolDeclaration, root: str) -> None:
        """Check that the tool may run, and pin it on first use. Raises ToolFailure (not approved)."""
        pin = self._pins.status_of(_pin_key(server, root), declaration.name, declaration.digest)
        if pin is PinStatus.CHANGED:
            raise ToolFailure(ErrorCode.NOT_APPROVED, _changed_message(server, declaration))
        if self._lifetime is not ServerLifetime.MANUAL and not _is_automatic(server, declaration):
            raise ToolFailure(ErrorCode.NOT_APPROVED, _not_automatic_message(server, declaration))
        if pin is PinStatus.UNKNOWN:
            try:
                self._pins.approve(_pin_key(server, root), {declaration.name: declaration.digest})
            except OSError as error:
                text = f"not called: its approval cannot be stored ({error.strerror})"
                raise ToolFailure(ErrorCode.NOT_APPROVED, text) from error

    def _statuses_of_server(self, server: ServerConfig, root: str, cancelled: Cancellation) -> list[ServerToolStatus]:
        try:
            declared = self._ready_connection(server, root, cancelled).list_tools(cancelled)
        except ToolFailure as failure:
            return [ServerToolStatus(server.name, UNREACHABLE, str(failure), server.timeout_ms)]
        rows = [self._status_of_tool(server, declaration, root) for declaration in declared.values()]
        missing = [tool.name for tool in server.tools if tool.name not in declared]
        rows += [
            ServerToolStatus(
                qualified_tool_name(server.name, name),
                UNREACHABLE,
                f"{server.name} has no such tool",
                server.timeout_ms,
            )
            for name in missing
        ]
        return sorted(rows, key=lambda row: row.name)

    def _status_of_tool(self, server: ServerConfig, declaration: ToolDeclaration, root: str) -> ServerToolStatus:
        state, detail = ON_REQUEST, ""
        if self._pins.status_of(_pin_key(server, root), declaration.name, declaration.digest) is PinStatus.CHANGED:
            state, detail = CHANGED, _changed_message(server, declaration)
        elif declaration.name in {tool.name for tool in server.tools}:
            may_run = _is_automatic(server, declaration)
            state, detail = (AUTOMATIC, "") if may_run else (ON_REQUEST, _not_automatic_message(server, declaration))
        return ServerToolStatus(qualified_tool_name(server.name, declaration.name), state, detail, server.timeout_ms)


def _find_declaration(declarations: Mapping[str, ToolDeclaration], server: ServerConfig, tool: str) -> ToolDeclaration:
    if tool not in declarations:
        hint = did_you_mean(tool, declarations)
        raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"{server.name} has no tool {format_value(tool)}{hint}")
    return declarations[tool]


def _pin_key(server: ServerConfig, root: str) -> str:
    """Return the key of the server in the pins; an imported server is per project."""
    return f"{server.name} in {root}" if server.imported_from == "claude" else server.name


def _is_automatic(server: ServerConfig, declaration: ToolDeclaration) -> bool:
    return declaration.is_read_only or declaration.name in server.automatic_tools


def _changed_message(server: ServerConfig, declaration: ToolDeclaration) -> str:
    return (
        "has changed since you approved it; review it with "
        f"`upbeat tools approve {qualified_tool_name(server.name, declaration.name)}`"
    )


def _not_automatic_message(server: ServerConfig, declaration: ToolDeclaration) -> str:
    place = f"[mcp.servers.{server.name}]"
    return f'is not declared read-only; auto_run = ["{declaration.name}"] in {place} runs it anyway'


def _tool_output(tool: str, answer: ServerAnswer) -> ToolOutput:
    """Convert the answer to a finding. Raises ToolFailure for an error of the tool or too long an answer."""
    if answer.is_error:
        raise ToolFailure(ErrorCode.UNKNOWN, f"answered with an error: {sanitize_server_text(answer.text)}")
    if len(answer.text) > MAX_ANSWER_CHARS:
        text = f"answered {len(answer.text)} characters; the limit is {MAX_ANSWER_CHARS}"
        raise ToolFailure(ErrorCode.PARSE, text)
    summary = f"{len(answer.text)} characters" + (
        f", {len(answer.omitted_kinds)} parts omitted" if answer.omitted_kinds else ""
    )
    data = {"text": answer.text, "left_out": list(answer.omitted_kinds)}
    server, name = split_tool_name(tool)
    finding = Finding(
        path=f"mcp:{server}/{name}",
        title=f"answer of {tool}",
        kind=ANSWER_KIND,
        score=ANSWER_SCORE,
        why=f"answer of your server {server}",
        text=answer.text,
    )
    return ToolOutput(summary, (finding,) if answer.text.strip() else (), data)
