"""What a client has of our plugin, against what upbeat writes. Law: it is looked at, and never mended.

A plugin that another version or another installation has written may work as well: that is worth a note. What
disarms are hooks that differ, and programs that are not there.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.doctor.findings import Fault, Guard, Reason
from ..core.turn.report import timestamp
from . import plugin
from .local.environment import Environment
from .local.json_file import first_bytes, json_file
from .local.program import Version, dotted, find_program
from .plugin import PluginLayout, Route

HOOKS, SERVERS = "hooks/hooks.json", ".mcp.json"
MAX_NAMED = 3
RIVALS = (
    *("overtone", "auto-tool", "context-inject-global", "augment-context-global", "oh-my-opencode", "oh-my-openagent"),
    *("oh-my-claude", "oh-my-codex", "omo-codex", "lazycodex"),
)
"""Parts of the names of plugins and hooks that prepare or continue turns themselves: what upbeat replaces, and kin."""


@dataclass(frozen=True, slots=True)
class PluginState:
    """What was found. ``server`` is the command line of our MCP server; empty when it is not known."""

    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    server: tuple[str, ...] = ()
    written_at: str = ""
    """When the hooks were last written, UTC, ISO 8601."""


def look(
    folder: Path, layout_of: Callable[[Route], PluginLayout], carried: Mapping[str, Guard], variable: str = ""
) -> PluginState:
    """The plugin in ``folder``. ``carried`` maps hook events to guards; ``variable`` is what stands for the folder."""
    if not folder.is_dir():
        return PluginState((Fault(Reason.PLUGIN_GONE, str(folder)),))
    hooks, servers = json_file(folder / HOOKS), json_file(folder / SERVERS)
    handlers = dict(_handlers(hooks))
    route: Route = "mcp" if any(one.get("type") == "mcp_tool" for one in _each(handlers)) else "command"
    layout = layout_of(route)
    wanted = dict(_handlers(json.loads(layout.rendered[HOOKS])))
    faults = [*_changed(handlers, wanted, carried)]
    server = _server(servers)
    command_lines = [server, *(_command_line(one) for one in _each(handlers))]
    whole = [tuple(word.replace(variable, str(folder)) if variable else word for word in one) for one in command_lines]
    gone = dict.fromkeys(path for line in whole for path in _programs(line) if not os.path.exists(path))
    faults += [Fault(Reason.PROGRAM_GONE, path) for path in gone]
    if not server:
        faults.append(Fault(Reason.SERVER_NOT_CONNECTED, f"{folder / SERVERS}"))
    return PluginState(
        tuple(faults),
        tuple(_notes(folder, layout, whole[0])),
        () if gone else whole[0],
        _time(folder / HOOKS),
    )


def of_version(asked: Version | str, oldest: Version) -> Iterator[Fault]:
    """What speaks against a client of the version ``asked``, or against one that could not be asked."""
    if isinstance(asked, str):
        yield Fault(Reason.CLIENT_BROKEN, asked, can_be_disproved=True)
    elif asked < oldest:
        yield Fault(Reason.CLIENT_TOO_OLD, f"{dotted(asked)}, tried from {dotted(oldest)} on", can_be_disproved=True)


def client_program(name: str, root: str, environment: Environment) -> str:
    """The client's program on the search path, or empty; none of the repository at ``root``.

    A folder with the user's own home in it is no such repository, even if it is one: their programs are there.
    """
    is_own = not root or environment.data_home.is_relative_to(root)
    return find_program(name, "" if is_own else root)


def is_ours(plugin_id: str) -> bool:
    """Whether a client calls our plugin so, whichever marketplace it is from."""
    return plugin_id.startswith(f"{plugin.NAME}@")


def is_our_hook(command: str) -> bool:
    """Whether a command line that stands in somebody's settings answers hooks with upbeat."""
    return "upbeat" in command and ("shim.py" in command or " hook" in command)


def is_rival(name: str) -> bool:
    """Whether a plugin, or the command of a hook, does what upbeat does. Overtone's plugin is called ``ot``."""
    return name.startswith("ot@") or any(rival in name.lower() for rival in RIVALS)


def _changed(found: Mapping[str, Any], wanted: Mapping[str, Any], carried: Mapping[str, Guard]) -> Iterator[Fault]:
    """Events whose handlers are other than upbeat writes them, but for the path of the program."""
    differing = [event for event in wanted if _shape(found.get(event)) != _shape(wanted[event])]
    for guard in Guard:
        events = [event for event in differing if carried.get(event) is guard]
        if events:
            yield Fault(Reason.HOOKS_CHANGED, f"{HOOKS}: {', '.join(events)}", frozenset({guard}))


def _notes(folder: Path, layout: PluginLayout, server: tuple[str, ...]) -> Iterator[str]:
    manifest = next((name for name in plugin.files(layout) if name.endswith("plugin.json")), "")
    version = json_file(folder / Path(manifest).relative_to(layout.plugin)).get("version") if manifest else None
    if version and version != __version__:
        yield f"the plugin was written by upbeat {version}, this is {__version__}"
    program = server[0] if server else ""
    if program and os.path.isabs(program) and program not in (plugin.PYTHON, "/bin/sh"):
        yield f"the plugin starts {program}, this upbeat runs on {plugin.PYTHON}"
    own = f"{layout.plugin}/"
    ours = {name.removeprefix(own): data for name, data in plugin.files(layout).items() if name.startswith(own)}
    texts = [name for name in ours if name not in (HOOKS, SERVERS)]
    differing = [name for name in texts if first_bytes(folder / name) != ours[name]]
    if differing:
        named = ", ".join(differing[:MAX_NAMED])
        more = f" and {len(differing) - MAX_NAMED} more" if len(differing) > MAX_NAMED else ""
        yield f"files of the plugin are not as this upbeat writes them: {named}{more}"


def _handlers(document: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Each event with its groups of handlers, as far as they are such."""
    hooks = document.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        if isinstance(groups, list):
            yield str(event), groups


def _each(handlers: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for groups in handlers.values():
        for group in groups:
            inner = group.get("hooks") if isinstance(group, dict) else None
            yield from (one for one in inner if isinstance(one, dict)) if isinstance(inner, list) else ()


def _shape(groups: Any) -> Any:
    """Groups of handlers without the paths of programs."""
    if isinstance(groups, dict):
        kept = {name: value for name, value in groups.items() if name not in ("command", "args")}
        return {name: _shape(value) for name, value in kept.items()}
    return [_shape(one) for one in groups] if isinstance(groups, list) else groups


def _server(document: Mapping[str, Any]) -> tuple[str, ...]:
    servers = document.get("mcpServers")
    return _command_line(servers.get(plugin.NAME)) if isinstance(servers, dict) else ()


def _command_line(handler: Any) -> tuple[str, ...]:
    """The words that start a program; nothing for a handler that starts none."""
    if not isinstance(handler, dict) or not isinstance(handler.get("command"), str):
        return ()
    if not isinstance(handler.get("args"), list):
        try:
            return tuple(shlex.split(handler["command"]))
        except ValueError:
            return (handler["command"],)
    return (handler["command"], *(word for word in handler["args"] if isinstance(word, str)))


def _programs(words: tuple[str, ...]) -> list[str]:
    """Files without which a command line comes to nothing: its program, and a script that it names."""
    return [word for number, word in enumerate(words) if word.startswith("/") and (number == 0 or word.endswith(".py"))]


def _time(path: Path) -> str:
    """When the file was last written."""
    try:
        return timestamp(datetime.fromtimestamp(path.stat().st_mtime, UTC))
    except OSError:
        return ""
