"""What a file of a project may do once its user trusts it, in words. Law: it says what the present content would do.

Nothing is started, and nothing is remembered.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ...core.errors import ToolFailure
from ...core.servers import Server
from ...core.settings import KEYS
from ...core.turn.strip import strip
from ..claude.servers import launch_in
from ..local.environment import Environment
from ..local.settings import load_settings

RULE = "decides as a rule of your own does, and its text goes before you and the model"
GUIDANCE = "goes before the model where a file that it is about is touched"
PROMPT = "goes before the model where its name stands behind a slash"
WORKFLOWS = "has workflows and agents that count here as your own do"
NOTHING = "changes nothing here: what it asks for is so already"


@dataclass(frozen=True, slots=True)
class Asked:
    """A file that its user is asked to trust, its content as it is now, and what it would do, in sentences."""

    path: Path
    data: bytes
    powers: tuple[str, ...]


def of_settings(root: str, environment: Environment) -> tuple[str, ...]:
    """What the project's settings loosen."""
    now, then = (load_settings(root, environment, as_if_trusted=trusted).settings for trusted in (False, True))
    pairs = ((key.name, getattr(now, key.attribute), getattr(then, key.attribute)) for key in KEYS)
    changed = [
        f"sets {name} = {_shown(after)} (without: {_shown(before)})" for name, before, after in pairs if before != after
    ]
    return tuple(changed) or (NOTHING,)


def of_servers(data: bytes, folder: str, servers: tuple[Server, ...]) -> tuple[str, ...]:
    """What a ``.mcp.json`` has started on this machine for those of ``servers`` that are taken from it."""
    return tuple(_starts(data, folder, servers))


def _starts(data: bytes, folder: str, servers: tuple[Server, ...]) -> Iterator[str]:
    for server in servers:
        if server.taken_from != "claude":
            continue
        try:
            launch = launch_in(data, server.name, folder)
        except ToolFailure as failure:
            yield f"starts nothing for your server {server.name}: {failure}"
            continue
        yield f"starts, as you, for your server {server.name}: {strip(shlex.join((launch.command, *launch.args)))}"


def _shown(value: object) -> str:
    if isinstance(value, Enum):
        return strip(str(value.value))
    return strip(str(list(value) if isinstance(value, tuple) else value)).replace("\n", " ")
