"""A server of a user's own tools, from a project's ``.mcp.json`` by its name there. Law: only what its user trusts.

The file belongs to the repository, and names a command: until ``upbeat trust`` its content counts for nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.contract.codes import ErrorCode
from ...core.errors import ToolFailure
from ...core.layers import did_you_mean
from ...core.servers import Launch, is_command
from ..local.documents import read_content
from ..local.environment import Environment, variables_named
from ..local.git_root import find_root
from ..local.toml_file import MAX_BYTES, is_own_file
from ..local.trust import digest_of, is_trusted

FILE = ".mcp.json"

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def servers_file(root: str) -> Path | None:
    """The file of the project around ``root``, if it has one of its own."""
    top = find_root(root).worktree or root
    return Path(top, FILE) if is_own_file(top, FILE) else None


def server(name: str, root: str, environment: Environment) -> Launch:
    """How the project's file starts ``name``. Raises ``ToolFailure`` (unavailable, not approved) with the way out."""
    path = servers_file(root)
    if path is None:
        raise _unavailable(f"this project has no {FILE}")
    file = read_content(path, str(path.parent), MAX_BYTES)
    if file.problem:
        raise _unavailable(f"{FILE}: {file.problem}")
    if not is_trusted(path, digest_of(file.data), environment):
        raise ToolFailure(ErrorCode.NOT_APPROVED, f"{FILE} names a command; upbeat trust, once you have read it")
    return launch_in(file.data, name, str(path.parent))


def launch_in(data: bytes, name: str, folder: str) -> Launch:
    """How a file with the content ``data``, in ``folder``, starts ``name``, trusted or not. Raises as ``server``."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _unavailable(f"{FILE} is not JSON: {error}") from error
    known = found.get("mcpServers") if isinstance(found, Mapping) else None
    table = known.get(name) if isinstance(known, Mapping) else None
    if not isinstance(table, Mapping):
        hint = did_you_mean(name, known) if isinstance(known, Mapping) else ""
        raise _unavailable(f"{FILE} has no server {name}{hint}")
    if table.get("type", "stdio") != "stdio" or "command" not in table:
        raise _unavailable(f"{FILE}: {name} has no command; a server over HTTP is not asked")
    return _launch(table, name, folder)


def _launch(table: Mapping[str, Any], name: str, folder: str) -> Launch:
    args, given = table.get("args", []), table.get("env", {})
    are_lists = isinstance(args, list) and isinstance(given, Mapping)
    if not are_lists or not all(isinstance(text, str) for text in (table["command"], *args, *given.values())):
        raise _unavailable(f"{FILE}: {name}: command, args or env are not made of texts")
    command = _expanded(table["command"], name)
    if not is_command(command):
        raise _unavailable(f"{FILE}: {name}.command is neither a name on the search path nor an absolute path")
    variables = {variable: _expanded(value, name) for variable, value in given.items()}
    return Launch(command, tuple(_expanded(arg, name) for arg in args), variables, (), folder)


def _expanded(text: str, name: str) -> str:
    """``text`` with ``${NAME}`` and ``${NAME:-default}`` as Claude Code reads them."""

    def value(found: re.Match[str]) -> str:
        variable, default = found[1], found[2]
        known = variables_named([variable])
        if not known and default is None:
            raise _unavailable(f"{FILE}: {name} needs the variable {variable}, which is not set")
        return known.get(variable) or default or ""

    return _REFERENCE.sub(value, text)


def _unavailable(message: str) -> ToolFailure:
    return ToolFailure(ErrorCode.TOOL_UNAVAILABLE, message)
