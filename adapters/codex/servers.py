"""A server of a user's own tools, from Codex's configuration by its name there. Law: read, never written.

``[mcp_servers.NAME]`` of ``config.toml`` in Codex's own folder; what a project brings is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.contract.codes import ErrorCode
from ...core.errors import ToolFailure
from ...core.layers import did_you_mean
from ...core.servers import Launch, is_command
from ..local.environment import Environment
from ..local.toml_file import read_toml


def server(name: str, _root: str, environment: Environment) -> Launch:
    """How Codex starts the server ``name``. Raises ``ToolFailure`` (unavailable), with where to mend it."""
    path = environment.codex_home / "config.toml"
    file = read_toml(path)
    if file.problem:
        raise _unavailable(file.problem)
    known = file.values.get("mcp_servers")
    table = known.get(name) if isinstance(known, Mapping) else None
    if not isinstance(table, Mapping):
        hint = did_you_mean(name, known) if isinstance(known, Mapping) else ""
        raise _unavailable(f"{path} has no [mcp_servers.{name}]{hint}")
    where = f"{path}: mcp_servers.{name}"
    if table.get("enabled") is False:
        raise _unavailable(f"{where} is switched off there")
    if "command" not in table:
        raise _unavailable(f"{where} has no command; a server over HTTP is not asked")
    return _launch(table, where)


def _launch(table: Mapping[str, Any], where: str) -> Launch:
    command, args = table["command"], table.get("args", [])
    given, names, cwd = table.get("env", {}), table.get("env_vars", []), table.get("cwd", "")
    if not is_command(command):
        raise _unavailable(f"{where}.command is neither a name on the search path nor an absolute path")
    if not (_are_texts(args) and _are_texts(names) and isinstance(given, Mapping) and _are_texts([*given.values()])):
        raise _unavailable(f"{where}: args, env or env_vars are not made of texts")
    if not isinstance(cwd, str) or (cwd and not cwd.startswith("/")):
        raise _unavailable(f"{where}.cwd is not an absolute path")
    return Launch(command, tuple(args), dict(given), tuple(names), cwd)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _unavailable(message: str) -> ToolFailure:
    return ToolFailure(ErrorCode.TOOL_UNAVAILABLE, message)
