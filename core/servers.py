"""The servers of a user's own tools (MCP) as values, and how a settings file names them.

Law: only the user's own settings file says which servers there are. A tool runs by itself only where that file says
which of its arguments gets the words of the prompt; what a server says about itself adds nothing to that.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from .layers import MAX_PROBLEMS, Layer, did_you_mean, shown

TABLE = "mcp"
"""The table of the settings file that everything here stands in."""

CLIENTS = ("codex", "claude")
"""Whose configuration a server may be taken from, by its name there."""

DEFAULT_TIMEOUT_MS = 3000
LEAST_TIMEOUT_MS, MOST_TIMEOUT_MS = 100, 60000
MAX_SERVERS = 16


@dataclass(frozen=True, slots=True)
class Launch:
    """How a server is started.

    ``command`` is a name on the search path or an absolute path. ``variables`` are given as they are, ``names`` are
    passed on from our own environment. ``cwd`` is absolute, or empty for the user's home.
    """

    command: str
    args: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool that may run by itself: ``query`` is the argument that gets the prompt's words, ``args`` are fixed."""

    name: str
    query: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Server:
    """One server, as its user's file has it: with a ``launch``, or ``taken_from`` a client.

    ``automatic`` are the names of tools that may run by themselves although they do not say that they only read.
    """

    name: str
    launch: Launch | None = None
    taken_from: str = ""
    in_repository: bool = False
    automatic: tuple[str, ...] = ()
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    tools: tuple[ServerTool, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a server's or a tool's table: what it takes and what it is for."""

    name: str
    takes: str
    doc: str


SERVER_KEYS = (
    Key("command", "a name or an absolute path", "The program to start; it is never looked for in a repository."),
    Key("args", "texts", "Its arguments."),
    Key("env", "names", "Variables of your environment that it gets, beside PATH, HOME and LANG."),
    Key("from", " or ".join(f'"{client}"' for client in CLIENTS), "Instead of command: the server of that name there."),
    Key("in_repository", "true or false", "Start it in the repository instead of in your home."),
    Key("automatic", "names", "Tools that may run by themselves although they do not say that they only read."),
    Key("timeout_ms", f"{LEAST_TIMEOUT_MS} to {MOST_TIMEOUT_MS}", "Milliseconds that one of its tools may take."),
    Key("tools", "tables", "The tools that are asked before a turn, by name."),
)
TOOL_KEYS = (
    Key("query", "a name", "The argument that gets the words of the prompt."),
    Key("args", "a table", "Arguments that are always the same."),
)

_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Found:
    """The servers of a layer, and everything that is wrong with them; one with a fault is left out."""

    servers: tuple[Server, ...] = ()
    problems: tuple[str, ...] = ()


def tool_name(server: str, tool: str) -> str:
    """How a tool of a server is called here: ``server.tool``."""
    return f"{server}.{tool}"


def split_name(tool: str) -> tuple[str, str]:
    """The server and the tool in ``server.tool``; no server for a tool of ours."""
    server, dot, name = tool.partition(".")
    return (server, name) if dot else ("", tool)


def read(layer: Layer) -> Found:
    """The servers that ``layer`` names."""
    raw = layer.values.get(TABLE)
    if raw is None:
        return Found()
    problems = list(islice(_problems(raw, layer), MAX_PROBLEMS))
    if problems:
        return Found((), tuple(problems))
    return Found(tuple(_server(name, table) for name, table in raw.get("servers", {}).items()))


def _server(name: str, table: Mapping[str, Any]) -> Server:
    command, tools = table.get("command"), table.get("tools", {})
    launch = Launch(command, tuple(table.get("args", ())), {}, tuple(table.get("env", ()))) if command else None
    return Server(
        name=name,
        launch=launch,
        taken_from=table.get("from", ""),
        in_repository=table.get("in_repository", False),
        automatic=tuple(table.get("automatic", ())),
        timeout_ms=table.get("timeout_ms", DEFAULT_TIMEOUT_MS),
        tools=tuple(ServerTool(tool, one["query"], one.get("args", {})) for tool, one in tools.items()),
    )


def _problems(raw: Any, layer: Layer) -> Iterator[str]:
    if not isinstance(raw, Mapping):
        yield f"{layer.where(TABLE)}: {TABLE} takes a table; found {shown(raw)}"
        return
    yield from _strange(raw, ("servers",), TABLE, layer)
    servers, place = raw.get("servers", {}), f"{TABLE}.servers"
    if not isinstance(servers, Mapping):
        yield f"{layer.where(place)}: {place} takes tables; found {shown(servers)}"
        return
    if len(servers) > MAX_SERVERS:
        yield f"{layer.where(place)}: {place} has {len(servers)} servers; at most {MAX_SERVERS} are taken"
    for name, table in servers.items():
        here = f"{place}.{name}"
        if not _NAME.fullmatch(name):
            yield f"{layer.where(here)}: a server's name has letters, digits, - and _; found {shown(name)}"
        elif not isinstance(table, Mapping):
            yield f"{layer.where(here)}: {here} takes a table; found {shown(table)}"
        else:
            yield from _of_server(table, here, layer)


def _of_server(table: Mapping[str, Any], here: str, layer: Layer) -> Iterator[str]:
    yield from _strange(table, [key.name for key in SERVER_KEYS], here, layer)
    for name, problem in _wrong_values(table):
        yield f"{layer.where(f'{here}.{name}')}: {here}.{name} {problem}; found {shown(table[name])}"
    if ("command" in table) == ("from" in table):
        yield f"{layer.where(here)}: {here} needs command or from, and not both"
    if "from" in table:
        for name in sorted({"args", "env", "in_repository"} & set(table)):
            yield f"{layer.where(f'{here}.{name}')}: {here}.{name} comes from the client, as the command does"
    tools = table.get("tools", {})
    if not isinstance(tools, Mapping):
        yield f"{layer.where(f'{here}.tools')}: {here}.tools takes tables; found {shown(tools)}"
        return
    for name, tool in tools.items():
        yield from _of_tool(name, tool, f"{here}.tools.{name}", layer)


def _wrong_values(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys whose value is of another kind, and what they take."""
    takes = {
        "command": (is_command, "takes a name on the search path or an absolute path"),
        "args": (_are_texts, "takes a list of texts"),
        "env": (lambda raw: _are_texts(raw) and all(map(_VARIABLE.fullmatch, raw)), "takes names of variables"),
        "from": (lambda raw: raw in CLIENTS, f"takes {' or '.join(CLIENTS)}"),
        "in_repository": (lambda raw: isinstance(raw, bool), "takes true or false"),
        "automatic": (_are_texts, "takes a list of names"),
        "timeout_ms": (_is_timeout, f"takes a whole number from {LEAST_TIMEOUT_MS} to {MOST_TIMEOUT_MS}"),
    }
    return ((name, text) for name, (fits, text) in takes.items() if name in table and not fits(table[name]))


def _of_tool(name: str, tool: Any, here: str, layer: Layer) -> Iterator[str]:
    if not _TOOL_NAME.fullmatch(name):
        yield f"{layer.where(here)}: a tool's name has letters, digits, _, -, . and /; found {shown(name)}"
    if not isinstance(tool, Mapping):
        yield f"{layer.where(here)}: {here} takes a table; found {shown(tool)}"
        return
    yield from _strange(tool, [key.name for key in TOOL_KEYS], here, layer)
    query, args = tool.get("query"), tool.get("args", {})
    if not isinstance(query, str) or not query:
        yield f"{layer.where(f'{here}.query')}: {here}.query names the argument that gets the words of the prompt"
    if not isinstance(args, Mapping) or not _is_json(args):
        yield f"{layer.where(f'{here}.args')}: {here}.args takes a table of texts, numbers, lists and the like"
    elif _holds_secret(args):
        yield f"{layer.where(f'{here}.args')}: {here}.args holds a secret, which every report would show; use env"
    elif isinstance(query, str) and query in args:
        yield f"{layer.where(f'{here}.args')}: {here}.args gives {shown(query)}, which gets the words of the prompt"


def _strange(table: Mapping[str, Any], known: tuple[str, ...] | list[str], here: str, layer: Layer) -> Iterator[str]:
    for name in table:
        if name not in known:
            yield f"{layer.where(f'{here}.{name}')}: unknown key {shown(f'{here}.{name}')}{did_you_mean(name, known)}"


def _holds_secret(args: Mapping[str, Any]) -> bool:
    from .turn.redact import redact  # takes long to import, and few need it

    return bool(redact(json.dumps(args, ensure_ascii=False)).redactions)


def is_command(raw: object) -> bool:
    """Whether ``raw`` is a name for the search path or an absolute path: what a folder offers never counts."""
    return isinstance(raw, str) and bool(raw.strip()) and "\0" not in raw and (raw.startswith("/") or "/" not in raw)


def _are_texts(raw: object) -> bool:
    return isinstance(raw, list) and all(isinstance(text, str) and "\0" not in text for text in raw)


def _is_timeout(raw: object) -> bool:
    return isinstance(raw, int) and not isinstance(raw, bool) and LEAST_TIMEOUT_MS <= raw <= MOST_TIMEOUT_MS


def _is_json(raw: object, depth: int = 0) -> bool:
    """Whether TOML's ``raw`` is JSON, too: no dates, no infinity, not deep."""
    if depth > _DEEPEST:
        return False
    if isinstance(raw, Mapping):
        return all(_is_json(value, depth + 1) for value in raw.values())
    if isinstance(raw, list):
        return all(_is_json(value, depth + 1) for value in raw)
    return isinstance(raw, str | int) or (isinstance(raw, float) and math.isfinite(raw))
