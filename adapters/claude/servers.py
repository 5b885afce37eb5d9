"""Find a user's MCP server by its name in a project's ``.mcp.json``.

Invariant: the file belongs to the repository and names a command, so it is ignored until the user trusts it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from upbeat.adapters.system.config.trust import digest_of, is_trusted
from upbeat.adapters.system.environment import Environment, variables_named
from upbeat.adapters.system.files.bounded_read import read_content
from upbeat.adapters.system.files.toml_file import MAX_BYTES, is_own_file
from upbeat.adapters.system.git.root import find_root
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure
from upbeat.core.settings_layers import did_you_mean
from upbeat.core.tool_servers import LaunchSpec, is_valid_command

SERVERS_FILE = ".mcp.json"

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def servers_file(root: str) -> Path | None:
    """Return the file of the project around ``root``; None if there is none in the project itself."""
    top = find_root(root).worktree or root
    return Path(top, SERVERS_FILE) if is_own_file(top, SERVERS_FILE) else None


def find_launch(name: str, root: str, environment: Environment) -> LaunchSpec:
    """Return how the project's file starts ``name``.

    Raises:
        ToolFailure: The server is unavailable, or the file is not trusted; the message says how to fix it.
    """
    path = servers_file(root)
    if path is None:
        raise _unavailable(f"this project has no {SERVERS_FILE}")
    file = read_content(path, str(path.parent), MAX_BYTES)
    if file.problem:
        raise _unavailable(f"{SERVERS_FILE}: {file.problem}")
    if not is_trusted(path, digest_of(file.data), environment):
        raise ToolFailure(ErrorCode.NOT_APPROVED, f"{SERVERS_FILE} is not trusted; read it, then run upbeat trust")
    return parse_launch(file.data, name, str(path.parent))


def parse_launch(data: bytes, name: str, folder: str) -> LaunchSpec:
    """Return how a file with the content ``data`` in ``folder`` starts ``name``, trusted or not.

    Raises:
        ToolFailure: The file has no such server, or its entry is invalid.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _unavailable(f"{SERVERS_FILE} is not JSON: {error}") from error
    known = document.get("mcpServers") if isinstance(document, Mapping) else None
    table = known.get(name) if isinstance(known, Mapping) else None
    if not isinstance(table, Mapping):
        hint = did_you_mean(name, known) if isinstance(known, Mapping) else ""
        raise _unavailable(f"{SERVERS_FILE} has no server {name}{hint}")
    if table.get("type", "stdio") != "stdio" or "command" not in table:
        raise _unavailable(f"{SERVERS_FILE}: {name} has no command; servers over HTTP are not supported")
    return _to_launch(table, name, folder)


def _to_launch(table: Mapping[str, Any], name: str, folder: str) -> LaunchSpec:
    args, given = table.get("args", []), table.get("env", {})
    are_lists = isinstance(args, list) and isinstance(given, Mapping)
    if not are_lists or not all(isinstance(text, str) for text in (table["command"], *args, *given.values())):
        raise _unavailable(f"{SERVERS_FILE}: {name}: command, args and env must be strings")
    command = _expand_variables(table["command"], name)
    if not is_valid_command(command):
        raise _unavailable(f"{SERVERS_FILE}: {name}.command must be a program name or an absolute path")
    variables = {variable: _expand_variables(value, name) for variable, value in given.items()}
    return LaunchSpec(command, tuple(_expand_variables(arg, name) for arg in args), variables, (), folder)


def _expand_variables(text: str, name: str) -> str:
    """Expand ``${NAME}`` and ``${NAME:-default}`` as Claude Code does."""

    def value(match: re.Match[str]) -> str:
        variable, default = match[1], match[2]
        known = variables_named([variable])
        if not known and default is None:
            raise _unavailable(f"{SERVERS_FILE}: {name} needs the variable {variable}, which is not set")
        return known.get(variable) or default or ""

    return _REFERENCE.sub(value, text)


def _unavailable(message: str) -> ToolFailure:
    return ToolFailure(ErrorCode.TOOL_UNAVAILABLE, message)
