"""Compare a client's copy of the plugin with what upbeat writes.

Invariant: nothing is written. A plugin of another version or installation may work as well, so it is only noted. Faults
are hooks that differ, and programs that do not exist.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from upbeat import __version__
from upbeat.adapters.install import plugin
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.bounded_read import read_json_object, read_settings_bytes
from upbeat.adapters.system.process.find_program import Version, find_program, format_version
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.doctor.findings import Fault, HookPoint, Reason
from upbeat.core.json_fields import mappings_of

MAX_NAMED = 3
CONFLICTING_NAMES = (
    *("overtone", "auto-tool", "context-inject-global", "augment-context-global", "oh-my-opencode", "oh-my-openagent"),
    *("oh-my-claude", "oh-my-codex", "omo-codex", "lazycodex"),
)
"""Parts of the names of plugins and hooks that prepare or continue turns themselves: what upbeat replaces, and kin."""


@dataclass(frozen=True, slots=True)
class PluginState:
    """The faults and notes of a plugin. ``server_command`` starts upbeat's MCP server; empty if unknown."""

    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    server_command: tuple[str, ...] = ()
    written_at: str = ""
    """When the hooks were last written, UTC, ISO 8601."""


def inspect_plugin(
    folder: Path, make_layout: Callable[[plugin.Route], plugin.PluginLayout], folder_placeholder: str = ""
) -> PluginState:
    """Return the state of the plugin in ``folder``. ``folder_placeholder`` is the text that stands for the folder."""
    if not folder.is_dir():
        return PluginState((Fault(Reason.PLUGIN_MISSING, str(folder)),))
    hooks, servers = (
        read_json_object(folder / file).get(key)
        for file, key in ((plugin.HOOKS_FILE, "hooks"), (plugin.SERVERS_FILE, "mcpServers"))
    )
    handlers = list(hook_handlers(hooks))
    route: plugin.Route = "mcp" if any(handler.get("type") == "mcp_tool" for handler in handlers) else "command"
    layout = make_layout(route)
    own_hooks = json.loads(layout.rendered_files[plugin.HOOKS_FILE])["hooks"]
    faults = [*_changed_hook_faults(hooks if isinstance(hooks, dict) else {}, own_hooks)]
    server, *hook_lines = (
        tuple(word.replace(folder_placeholder, str(folder)) if folder_placeholder else word for word in words)
        for words in map(command_line, (servers.get(plugin.NAME) if isinstance(servers, dict) else None, *handlers))
    )
    required = (
        word
        for words in (server, *hook_lines)
        for number, word in enumerate(words)
        if word.startswith("/") and (number == 0 or word.endswith(".py"))  # a program, or a script that it runs
    )
    gone = dict.fromkeys(path for path in required if not os.path.exists(path))
    faults += [Fault(Reason.PROGRAM_MISSING, path) for path in gone]
    if not server:
        faults.append(Fault(Reason.SERVER_NOT_CONNECTED, f"{folder / plugin.SERVERS_FILE}"))
    try:
        written_at = format_timestamp(datetime.fromtimestamp((folder / plugin.HOOKS_FILE).stat().st_mtime, UTC))
    except OSError:
        written_at = ""
    return PluginState(tuple(faults), tuple(_notes(folder, layout, server)), () if gone else server, written_at)


def plugin_faults(
    plugins: Mapping[str, tuple[bool, Path]], settings: Path, hook_files: Iterable[str] = ()
) -> Iterator[Fault]:
    """Yield a fault if upbeat's plugin is not enabled exactly once.

    Args:
        plugins: Each plugin's id with whether it is enabled, and the file that says so.
        settings: The file in which an install enables the plugin.
        hook_files: The settings files with hooks of upbeat's own, which count beside an enabled plugin.
    """
    ours = {name: entry for name, entry in plugins.items() if is_our_plugin(name)}
    enabled = [name for name, (is_enabled, _file) in ours.items() if is_enabled]
    if not ours:
        yield Fault(Reason.PLUGIN_NOT_ENABLED, f"no {plugin.PLUGIN_ID} in {settings}")
    elif not enabled:
        places = (f"{name} in {file}" for name, (_is_enabled, file) in ours.items())
        yield Fault(Reason.PLUGIN_DISABLED, ", ".join(places))
    elif twice := [*(enabled if len(enabled) > 1 else ()), *hook_files]:
        yield Fault(Reason.DUPLICATE_HOOKS, ", ".join(dict.fromkeys(twice)))


def conflict_faults(plugins: Iterable[str], hook_commands: Iterable[tuple[str, str]] = ()) -> Iterator[Fault]:
    """Yield a fault for the enabled plugins and the hooks (command and file) that do what upbeat does."""
    rivals = [name for name in plugins if is_conflicting(name)]
    rivals += [file for command, file in hook_commands if is_conflicting(command)]
    if rivals:
        points = frozenset({HookPoint.TURNS, HookPoint.END})
        yield Fault(Reason.CONFLICTING_PLUGIN, ", ".join(dict.fromkeys(rivals)), points)


def version_faults(version: Version | str, oldest: Version) -> Iterator[Fault]:
    """Yield a fault if the client is too old, or if ``version`` is the reason why it did not report one."""
    if isinstance(version, str):
        yield Fault(Reason.CLIENT_BROKEN, version, can_be_disproved=True)
    elif version < oldest:
        yield Fault(
            Reason.CLIENT_TOO_OLD,
            f"{format_version(version)}, tested from {format_version(oldest)} on",
            can_be_disproved=True,
        )


def client_program(name: str, root: str, environment: Environment) -> str:
    """Return the client's program on PATH; empty if there is none outside the repository at ``root``.

    A repository that contains the user's home folder does not count: the user's programs are there.
    """
    is_own = not root or environment.data_home.is_relative_to(root)
    return find_program(name, "" if is_own else root)


def is_our_plugin(plugin_id: str) -> bool:
    """Return whether a plugin id is upbeat's, whichever marketplace it is from."""
    return plugin_id.startswith(f"{plugin.NAME}@")


def is_our_hook(command: str) -> bool:
    """Return whether a command line in a settings file answers hooks with upbeat."""
    return "upbeat" in command and ("shim.py" in command or " hook" in command)


def is_conflicting(name: str) -> bool:
    """Return whether a plugin, or the command of a hook, does what upbeat does. Overtone's plugin is ``ot``."""
    return name.startswith("ot@") or any(rival in name.lower() for rival in CONFLICTING_NAMES)


def hook_handlers(hooks: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the handlers in the ``hooks`` of a plugin or a settings file, whatever form these have."""
    for event in hooks if isinstance(hooks, dict) else ():
        for group in mappings_of(hooks, event):
            yield from mappings_of(group, "hooks")


def command_line(handler: Any) -> tuple[str, ...]:
    """Return the words that start a program; nothing for a handler that starts none."""
    if not isinstance(handler, dict) or not isinstance(handler.get("command"), str):
        return ()
    if not isinstance(handler.get("args"), list):
        try:
            return tuple(shlex.split(handler["command"]))
        except ValueError:
            return (handler["command"],)
    return (handler["command"], *(word for word in handler["args"] if isinstance(word, str)))


def _changed_hook_faults(found: Mapping[str, Any], own_hooks: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the events whose handlers differ from upbeat's in more than the program's path."""
    differing = [
        event for event, groups in own_hooks.items() if _without_programs(found.get(event)) != _without_programs(groups)
    ]
    for hook_point in HookPoint:
        if events := [event for event in differing if plugin.HOOK_POINT_BY_EVENT[event] is hook_point]:
            yield Fault(Reason.HOOKS_CHANGED, f"{plugin.HOOKS_FILE}: {', '.join(events)}", frozenset({hook_point}))


def _notes(folder: Path, layout: plugin.PluginLayout, server: tuple[str, ...]) -> Iterator[str]:
    own = layout.plugin_files()
    version = next(
        (read_json_object(folder / name).get("version") for name in own if name.endswith("plugin.json")), None
    )
    if version and version != __version__:
        yield f"the plugin was written by upbeat {version}, this is {__version__}"
    program = server[0] if server else ""
    if program and os.path.isabs(program) and program not in (plugin.PYTHON, "/bin/sh"):
        yield f"the plugin starts {program}, this upbeat runs on {plugin.PYTHON}"
    texts = [name for name in own if name not in (plugin.HOOKS_FILE, plugin.SERVERS_FILE)]
    differing = [name for name in texts if read_settings_bytes(folder / name) != own[name]]
    if differing:
        named = ", ".join(differing[:MAX_NAMED])
        more = f" and {len(differing) - MAX_NAMED} more" if len(differing) > MAX_NAMED else ""
        yield f"files of the plugin differ from those of this version: {named}{more}"


def _without_programs(groups: Any) -> Any:
    """Return groups of handlers without the paths of programs."""
    if isinstance(groups, dict):
        kept = {name: value for name, value in groups.items() if name not in ("command", "args")}
        return {name: _without_programs(value) for name, value in kept.items()}
    return [_without_programs(group) for group in groups] if isinstance(groups, list) else groups
