"""Find a user's MCP server by its name in Codex's configuration.

Invariant: only ``[mcp_servers.NAME]`` of ``config.toml`` in Codex's own folder is read, never a project's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from upbeat.adapters.system.files.toml_file import read_toml
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure
from upbeat.core.settings_layers import did_you_mean
from upbeat.core.tool_servers import LaunchSpec, is_valid_command


def find_launch(name: str, codex_home: Path) -> LaunchSpec:
    """Return how Codex starts the server ``name``.

    Raises:
        ToolFailure: The server is unavailable; the message names the setting to fix.
    """
    path = codex_home / "config.toml"
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
        raise _unavailable(f"{where} is disabled")
    if "command" not in table:
        raise _unavailable(f"{where} has no command; servers over HTTP are not supported")
    return _to_launch(table, where)


def _to_launch(table: Mapping[str, Any], where: str) -> LaunchSpec:
    command, args = table["command"], table.get("args", [])
    given, names, cwd = table.get("env", {}), table.get("env_vars", []), table.get("cwd", "")
    if not is_valid_command(command):
        raise _unavailable(f"{where}.command must be a program name or an absolute path")
    if not (_are_texts(args) and _are_texts(names) and isinstance(given, Mapping) and _are_texts([*given.values()])):
        raise _unavailable(f"{where}: args, env and env_vars must be strings")
    if not isinstance(cwd, str) or (cwd and not cwd.startswith("/")):
        raise _unavailable(f"{where}.cwd must be an absolute path")
    return LaunchSpec(command, tuple(args), dict(given), tuple(names), cwd)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _unavailable(message: str) -> ToolFailure:
    return ToolFailure(ErrorCode.TOOL_UNAVAILABLE, message)
