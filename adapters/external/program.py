"""What is started for a server. Law: nothing that a repository holds, unless its user wants the server there.

A program is found on the search path or by its absolute path, and only by the latter where it lies in the repository.
Its environment is PATH without what leads there, HOME, LANG and what the configuration names; it starts in the user's
home, so that no program of a repository can take its place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...core.contract.codes import ErrorCode
from ...core.errors import ToolFailure
from ...core.layers import shown
from ...core.servers import Launch, Server
from ..local.environment import SERVER_VARIABLES, Environment, variables_named
from ..local.git_root import outermost
from ..local.program import find_program, is_only_inside, search_path

Finder = Callable[[str, str, Environment], Launch]
"""(name, repository, environment) -> how a client starts its server of that name; raises ``ToolFailure``."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to start: an absolute path, all of its environment, and the folder that it starts in."""

    path: str
    args: tuple[str, ...]
    variables: Mapping[str, str]
    cwd: str


def program_of(server: Server, root: str, environment: Environment, finders: Mapping[str, Finder]) -> Program:
    """What to start for ``server`` in a session at ``root``. Raises ``ToolFailure`` where there is nothing."""
    launch = server.launch or finders[server.taken_from](server.name, root, environment)
    outer = outermost(root)
    path = find_program(launch.command, outer)
    if not path and is_only_inside(launch.command, outer):
        text = f"{server.name} is not started: {shown(launch.command)} is only in this repository; name it by its path"
        raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, text)
    if not path:
        text = f"{server.name} cannot be reached: there is no program {shown(launch.command)} on the search path"
        raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, text)
    named = variables_named([*SERVER_VARIABLES, *launch.names]) | {"PATH": os.pathsep.join(search_path(outer))}
    variables = named | dict(launch.variables)
    home = variables.get("HOME", "/")
    cwd = launch.cwd or (root if server.in_repository else home if os.path.isdir(home) else "/")
    return Program(path, launch.args, variables, cwd)
