"""The servers of the user's own tools (MCP) as values, and how a settings file configures them.

Invariant: only the user's own settings file says which servers there are. A tool runs by itself only where that file
says which of its arguments gets the words of the prompt; what a server says about itself adds nothing to that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.settings_layers import MAX_PROBLEMS, Layer, did_you_mean, format_value

SETTINGS_TABLE = "mcp"
"""The table of the settings file that everything here stands in."""

IMPORT_CLIENTS = ("codex", "claude")
"""Whose configuration a server may be taken from, by its name there."""

DEFAULT_TIMEOUT_MS = 3000
MIN_TIMEOUT_MS, MAX_TIMEOUT_MS = 100, 60000
MAX_SERVERS = 16


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """How a server is started.

    ``command`` is a name on the search path or an absolute path. ``env`` has variables with their values,
    ``inherited_env`` the names of those that are passed on. ``cwd`` is absolute, or empty for the user's home.
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    inherited_env: tuple[str, ...] = ()
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool that runs without being requested; ``query_argument`` is the argument that gets the prompt's words."""

    name: str
    query_argument: str
    fixed_args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server of the user's file: with ``launch``, or ``imported_from`` a client.

    ``automatic_tools`` run without being requested although they do not declare that they only read.
    """

    name: str
    launch: LaunchSpec | None = None
    imported_from: str = ""
    runs_in_repository: bool = False
    automatic_tools: tuple[str, ...] = ()
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    tools: tuple[ServerTool, ...] = ()


SERVER_KEYS = ("command", "args", "env", "import_from", "run_in_repository", "auto_run", "timeout_ms", "tools")
"""The keys of a server's table; ``docs/generate.py`` says what they are for."""
TOOL_KEYS = ("query_argument", "args")
"""The keys of a tool's table."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class ParsedServers:
    """The servers of a layer, and everything that is wrong with them; one with a fault is left out."""

    servers: tuple[ServerConfig, ...] = ()
    problems: tuple[str, ...] = ()


TOOL_SEPARATOR = "."
"""Between server and tool in the name of a user's own tool; no built-in tool has one."""


def qualified_tool_name(server: str, tool: str) -> str:
    """Return the name of a server's tool in plans and reports: ``server.tool``."""
    return f"{server}{TOOL_SEPARATOR}{tool}"


def split_tool_name(tool: str) -> tuple[str, str]:
    """Return the server and the tool of ``server.tool``; the server is empty for a built-in tool."""
    server, dot, name = tool.partition(TOOL_SEPARATOR)
    return (server, name) if dot else ("", tool)


def parse_servers(layer: Layer) -> ParsedServers:
    """Return the servers that ``layer`` configures."""
    raw = layer.values.get(SETTINGS_TABLE)
    if raw is None:
        return ParsedServers()
    problems = list(islice(_problems(raw, layer), MAX_PROBLEMS))
    if problems:
        return ParsedServers((), tuple(problems))
    return ParsedServers(tuple(_parse_server(name, table) for name, table in raw.get("servers", {}).items()))


def _parse_server(name: str, table: Mapping[str, Any]) -> ServerConfig:
    command, tools = table.get("command"), table.get("tools", {})
    launch = LaunchSpec(command, tuple(table.get("args", ())), {}, tuple(table.get("env", ()))) if command else None
    return ServerConfig(
        name=name,
        launch=launch,
        imported_from=table.get("import_from", ""),
        runs_in_repository=table.get("run_in_repository", False),
        automatic_tools=tuple(table.get("auto_run", ())),
        timeout_ms=table.get("timeout_ms", DEFAULT_TIMEOUT_MS),
        tools=tuple(ServerTool(tool, keys["query_argument"], keys.get("args", {})) for tool, keys in tools.items()),
    )


def _problems(raw: Any, layer: Layer) -> Iterator[str]:
    if not isinstance(raw, Mapping):
        yield f"{layer.location_of(SETTINGS_TABLE)}: {SETTINGS_TABLE} takes a table; found {format_value(raw)}"
        return
    yield from _unknown_keys(raw, ("servers",), SETTINGS_TABLE, layer)
    servers, place = raw.get("servers", {}), f"{SETTINGS_TABLE}.servers"
    if not isinstance(servers, Mapping):
        yield f"{layer.location_of(place)}: {place} takes tables; found {format_value(servers)}"
        return
    if len(servers) > MAX_SERVERS:
        yield f"{layer.location_of(place)}: {place} has {len(servers)} servers; at most {MAX_SERVERS} are taken"
    for name, table in servers.items():
        here = f"{place}.{name}"
        if not _NAME.fullmatch(name):
            yield f"{layer.location_of(here)}: a server's name has letters, digits, - and _; found {format_value(name)}"
        elif not isinstance(table, Mapping):
            yield f"{layer.location_of(here)}: {here} takes a table; found {format_value(table)}"
        else:
            yield from _server_problems(table, here, layer)


def _server_problems(table: Mapping[str, Any], path: str, layer: Layer) -> Iterator[str]:
    yield from _unknown_keys(table, SERVER_KEYS, path, layer)
    for name, problem in _type_problems(table):
        yield f"{layer.location_of(f'{path}.{name}')}: {path}.{name} {problem}; found {format_value(table[name])}"
    if ("command" in table) == ("import_from" in table):
        yield f"{layer.location_of(path)}: {path} needs command or import_from, and not both"
    if "import_from" in table:
        for name in sorted({"args", "env", "run_in_repository"} & set(table)):
            yield f"{layer.location_of(f'{path}.{name}')}: {path}.{name} comes from the client, as the command does"
    tools = table.get("tools", {})
    if not isinstance(tools, Mapping):
        yield f"{layer.location_of(f'{path}.tools')}: {path}.tools takes tables; found {format_value(tools)}"
        return
    for name, tool in tools.items():
        yield from _tool_problems(name, tool, f"{path}.tools.{name}", layer)


def _type_problems(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the keys whose value has another type, and what they take."""
    takes = {
        "command": (is_valid_command, "takes a name on the search path or an absolute path"),
        "args": (_is_string_list, "takes a list of texts"),
        "env": (lambda raw: _is_string_list(raw) and all(map(_VARIABLE.fullmatch, raw)), "takes names of variables"),
        "import_from": (lambda raw: raw in IMPORT_CLIENTS, f"takes {' or '.join(IMPORT_CLIENTS)}"),
        "run_in_repository": (lambda raw: isinstance(raw, bool), "takes true or false"),
        "auto_run": (_is_string_list, "takes a list of names"),
        "timeout_ms": (
            lambda raw: type(raw) is int and MIN_TIMEOUT_MS <= raw <= MAX_TIMEOUT_MS,
            f"takes a whole number from {MIN_TIMEOUT_MS} to {MAX_TIMEOUT_MS}",
        ),
    }
    return ((name, text) for name, (fits, text) in takes.items() if name in table and not fits(table[name]))


def _tool_problems(name: str, tool: Any, path: str, layer: Layer) -> Iterator[str]:
    if not _TOOL_NAME.fullmatch(name):
        yield f"{layer.location_of(path)}: a tool's name has letters, digits, _, -, . and /; found {format_value(name)}"
    if not isinstance(tool, Mapping):
        yield f"{layer.location_of(path)}: {path} takes a table; found {format_value(tool)}"
        return
    yield from _unknown_keys(tool, TOOL_KEYS, path, layer)
    query, args = tool.get("query_argument"), tool.get("args", {})
    if not isinstance(query, str) or not query:
        where = layer.location_of(f"{path}.query_argument")
        yield f"{where}: {path}.query_argument names the argument that gets the words of the prompt"
    if not isinstance(args, Mapping) or not _is_json(args):
        yield f"{layer.location_of(f'{path}.args')}: {path}.args takes a table of texts, numbers, lists and the like"
    elif _holds_secret(args):
        yield f"{layer.location_of(f'{path}.args')}: {path}.args holds a secret, which every report would show; use env"
    elif isinstance(query, str) and query in args:
        where = layer.location_of(f"{path}.args")
        yield f"{where}: {path}.args gives {format_value(query)}, which gets the words of the prompt"


def _unknown_keys(table: Mapping[str, Any], known: tuple[str, ...], path: str, layer: Layer) -> Iterator[str]:
    for name in table:
        if name not in known:
            where, key = layer.location_of(f"{path}.{name}"), format_value(f"{path}.{name}")
            yield f"{where}: unknown key {key}{did_you_mean(name, known)}"


def _holds_secret(args: Mapping[str, Any]) -> bool:
    from upbeat.core.sanitize.redact import redact  # takes long to import, and few need it

    return bool(redact(json.dumps(args, ensure_ascii=False)).redactions)


def is_valid_command(raw: object) -> bool:
    """Return whether ``raw`` is a name for the search path or an absolute path, never a path below a folder."""
    return isinstance(raw, str) and bool(raw.strip()) and "\0" not in raw and (raw.startswith("/") or "/" not in raw)


def _is_string_list(raw: object) -> bool:
    return isinstance(raw, list) and all(isinstance(text, str) and "\0" not in text for text in raw)


def _is_json(raw: object, depth: int = 0) -> bool:
    """Return whether ``raw`` from TOML is JSON, too: without dates and infinity, and not too deep."""
    if depth > _MAX_DEPTH:
        return False
    if isinstance(raw, Mapping):
        return all(_is_json(value, depth + 1) for value in raw.values())
    if isinstance(raw, list):
        return all(_is_json(value, depth + 1) for value in raw)
    return isinstance(raw, str | int) or (isinstance(raw, float) and math.isfinite(raw))
