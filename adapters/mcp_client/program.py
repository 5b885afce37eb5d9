"""Find the program to start for a server. Invariant: a program of a repository runs only if the user names its path.

Other programs are found on PATH. The environment is PATH without folders of the repository, HOME, LANG and the
configured variables. The server starts in the user's home, so that no program of a repository can replace it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from upbeat.adapters.system.environment import SERVER_VARIABLES, Environment, variables_named
from upbeat.adapters.system.git.root import outermost_repository
from upbeat.adapters.system.process.find_program import find_program, is_only_in_repository, search_path
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure
from upbeat.core.settings_layers import format_value
from upbeat.core.tool_servers import LaunchSpec, ServerConfig

LaunchFinder = Callable[[str, str, Environment], LaunchSpec]
"""(name, repository, environment) -> how a client starts its server of that name. Raises ToolFailure."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to start: its absolute path, arguments, whole environment and working directory."""

    path: str
    args: tuple[str, ...]
    variables: Mapping[str, str]
    cwd: str


def resolve_program(
    server: ServerConfig, root: str, environment: Environment, finders: Mapping[str, LaunchFinder]
) -> Program:
    """Return the program of ``server`` for a session at ``root``. Raises ToolFailure if there is none."""
    launch = server.launch or finders[server.imported_from](server.name, root, environment)
    outer = outermost_repository(root)
    path = find_program(launch.command, outer)
    if not path and is_only_in_repository(launch.command, outer):
        text = f"{server.name} not started: {format_value(launch.command)} exists only in this repository; use its path"
        raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, text)
    if not path:
        text = f"{server.name} unavailable: no program {format_value(launch.command)} on PATH"
        raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, text)
    named = variables_named([*SERVER_VARIABLES, *launch.inherited_env]) | {"PATH": os.pathsep.join(search_path(outer))}
    variables = named | dict(launch.env)
    home = variables.get("HOME", "/")
    cwd = launch.cwd or (root if server.runs_in_repository else home if os.path.isdir(home) else "/")
    return Program(path, launch.args, variables, cwd)
