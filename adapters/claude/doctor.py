"""Inspect what Claude Code's files and its program say about upbeat's hooks.

Invariant: nothing is written. Settings are merged as Claude Code merges them: the administrator's override the
project's local ones, those the project's shared ones, and those the user's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.claude.history import project_folder
from upbeat.adapters.claude.install import plugin_layout
from upbeat.adapters.clients.session_files import list_recordings
from upbeat.adapters.clients.snapshot import absent_snapshot, installed_snapshot
from upbeat.adapters.doctor import journal_evidence
from upbeat.adapters.doctor.handshake import server_faults
from upbeat.adapters.install import plugin_state
from upbeat.adapters.install.plugin import NAME
from upbeat.adapters.system.environment import Environment, child_variables
from upbeat.adapters.system.files.bounded_read import read_json_object
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.system.process.find_program import get_version
from upbeat.core.doctor.findings import ClientSnapshot, Fault, Reason, UnrecordedSession
from upbeat.core.json_fields import mapping_of, text_of, texts_of

MIN_VERSION = (2, 1, 197)
"""The oldest version tested with hooks over MCP."""
NEWEST_VERSION = (2, 1, 329)
"""The newest version that was tested."""
PLUGIN_ROOT = "${CLAUDE_PLUGIN_ROOT}"
_TURN_MARKERS = (b'"type":"user"', b'"type": "user"')
"""Present in a transcript line that records a prompt."""

MANAGED_SETTINGS_FOLDER = (
    Path("/Library/Application Support/ClaudeCode") if sys.platform == "darwin" else Path("/etc/claude-code")
)


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One settings file with its values."""

    path: Path
    values: Mapping[str, Any]
    is_managed: bool = False


def inspect_claude(
    client: ClaudeCode, environment: Environment, root: str, cwd: str, journal: SqliteJournal
) -> ClientSnapshot:
    """Inspect Claude Code as it would start at ``cwd``, in the repository at ``root`` (empty for none)."""
    own, home = environment.data_home / NAME / client.cli_name, client.home(environment)
    program = plugin_state.client_program(client.cli_name, root, environment)
    files = settings_files(home, root, cwd)
    is_known = any(map(plugin_state.is_our_plugin, _merged_entries(files, "enabledPlugins"))) or own.is_dir()
    if not program or not is_known:
        return absent_snapshot(client, program, has_plugin=is_known)
    state = plugin_state.inspect_plugin(_plugin_folder(home, files, own), plugin_layout, PLUGIN_ROOT)
    variables = child_variables({})
    faults = [
        *_settings_faults(files, home),
        *_disabled_server_faults(root, client.state_file(environment)),
        *state.faults,
        *server_faults(state.server_command, variables),
    ]
    version, unrecorded = get_version(program, variables), _unrecorded_sessions(home, cwd, journal)
    return installed_snapshot(
        client, program, version, (MIN_VERSION, NEWEST_VERSION), state, faults, journal, unrecorded
    )


def managed_settings() -> dict[str, Any]:
    """Return the administrator's settings, merged over all files."""
    merged: dict[str, Any] = {}
    for file in _managed_files():
        merged |= file.values
    return merged


def settings_files(claude_home: Path, root: str, cwd: str) -> tuple[SettingsFile, ...]:
    """Return the existing settings files; a later one overrides an earlier one.

    Claude Code reads both project files in the folder where it starts, and only the local one at the repository root
    (as of 2.1.329; 2.1.197 does not read that one either).
    """
    local = Path(".claude", "settings.local.json")
    paths = [claude_home / "settings.json", Path(cwd, ".claude", "settings.json")]
    paths += [folder / local for folder in map(Path, filter(None, (root, cwd)))]
    own = (SettingsFile(path, read_json_object(path)) for path in dict.fromkeys(paths))
    return (*(file for file in own if file.values), *_managed_files())


def _managed_files() -> Iterator[SettingsFile]:
    folder = MANAGED_SETTINGS_FOLDER
    for path in (folder / "managed-settings.json", *sorted(folder.glob("managed-settings.d/*.json"))):
        if values := read_json_object(path):
            yield SettingsFile(path, values, is_managed=True)


def _settings_faults(files: tuple[SettingsFile, ...], home: Path) -> Iterator[Fault]:
    """Yield the settings that keep upbeat's hooks from running."""
    deciding = next((file for file in reversed(files) if isinstance(file.values.get("disableAllHooks"), bool)), None)
    if deciding and deciding.values["disableAllHooks"]:
        yield Fault(Reason.HOOKS_DISABLED, f"disableAllHooks in {deciding.path}")
    for file in files:
        if file.is_managed and file.values.get("allowManagedHooksOnly") is True:
            yield Fault(Reason.MANAGED_HOOKS_ONLY, f"allowManagedHooksOnly in {file.path}")
    plugins = {
        name: (bool(value), file.path) for name, (value, file) in _merged_entries(files, "enabledPlugins").items()
    }
    commands = [
        (" ".join(plugin_state.command_line(handler)), str(file.path))
        for file in files
        for handler in plugin_state.hook_handlers(file.values.get("hooks"))
    ]
    yield from plugin_state.plugin_faults(
        plugins, home / "settings.json", [path for command, path in commands if plugin_state.is_our_hook(command)]
    )
    enabled = [name for name, (is_enabled, _path) in plugins.items() if is_enabled]
    yield from plugin_state.conflict_faults(enabled, commands)


def _disabled_server_faults(root: str, state_file: Path) -> Iterator[Fault]:
    """Yield a fault if ``/mcp disable`` turned upbeat's server off in this project."""
    project = mapping_of(mapping_of(read_json_object(state_file), "projects"), root)
    if f"plugin:{NAME}:{NAME}" in texts_of(project, "disabledMcpServers"):
        yield Fault(Reason.SERVER_DISABLED, f"disabledMcpServers in {state_file}")


def _plugin_folder(home: Path, files: tuple[SettingsFile, ...], own: Path) -> Path:
    """Return the folder that Claude Code loads the plugin from: a folder marketplace is used in place."""
    known = mapping_of(read_json_object(home / "plugins" / "known_marketplaces.json"), NAME)
    declared = {name: value for name, (value, _file) in _merged_entries(files, "extraKnownMarketplaces").items()}
    path = text_of(known, "installLocation") or text_of(mapping_of(mapping_of(declared, NAME), "source"), "path")
    return Path(path or own) / "plugins" / NAME


def _unrecorded_sessions(home: Path, cwd: str, journal: SqliteJournal) -> tuple[UnrecordedSession, ...]:
    """Return the sessions at ``cwd`` with a transcript but no record. Elsewhere the plugin may be disabled."""
    folder = home / "projects" / project_folder(cwd)
    files = list_recordings(str(folder), 1, lambda path: path.endswith(".jsonl"), 0)
    return journal_evidence.unrecorded_sessions(
        journal, [(Path(file.path).stem, file) for file in files], _TURN_MARKERS
    )


def _merged_entries(files: tuple[SettingsFile, ...], key: str) -> dict[str, tuple[Any, SettingsFile]]:
    """Return the merged entries of the object ``key``, each with the file that sets it."""
    entries: dict[str, tuple[Any, SettingsFile]] = {}
    for file in files:
        table = file.values.get(key)
        if isinstance(table, dict):
            entries |= {str(name): (value, file) for name, value in table.items()}
    return entries
