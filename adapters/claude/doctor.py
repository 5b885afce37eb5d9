"""What Claude Code's own files and its program tell of our hooks. Law: they are read, and nothing is written.

Settings are looked at as Claude Code merges them: of two files that say something, the administrator's wins over the
project's local one, that over the project's own, and that over the user's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.doctor.findings import ClientSeen, Fault, Guard, Presence, Reason, Unseen
from .. import plugin_state
from ..local import journal_evidence
from ..local.environment import Environment, child_variables
from ..local.handshake import trouble_with
from ..local.journal import SqliteJournal
from ..local.json_file import json_file
from ..local.program import ask_version, dotted
from ..local.recordings import recordings
from ..plugin import NAME
from ..plugin_state import PluginState, client_program, is_our_hook, is_ours, is_rival, of_version
from .history import project_folder
from .install import CLIENT as CLIENT
from .install import GUARDS, layout

TITLE, WORD, PROGRAM = "Claude Code", "claude", "claude"
OLDEST = (2, 1, 197)
"""The oldest version that was tried with hooks over MCP."""
PLUGIN_ROOT = "${CLAUDE_PLUGIN_ROOT}"
_OF_A_TURN = (b'"type":"user"', b'"type": "user"')
"""In the lines of a transcript that tell of a prompt."""

MANAGED = Path("/Library/Application Support/ClaudeCode") if sys.platform == "darwin" else Path("/etc/claude-code")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One settings file, as far as it is one."""

    path: Path
    values: Mapping[str, Any]
    is_managed: bool = False


def look(
    environment: Environment, root: str, cwd: str, journal: SqliteJournal, managed: Path | None = None
) -> ClientSeen:
    """Claude Code as it is when it is started at ``cwd``, in the repository at ``root``, if there is one."""
    own = environment.data_home / NAME / WORD
    program = client_program(PROGRAM, root, environment)
    files = settings_files(environment.claude_home, root, cwd, managed or MANAGED)
    entries = {key: value for key, value in _merged(files, "enabledPlugins").items() if is_ours(key)}
    is_known = bool(entries) or own.is_dir()
    if not program or not is_known:
        presence = Presence.NOT_INSTALLED if program else Presence.NOT_HERE
        return ClientSeen(CLIENT, TITLE, WORD, presence, program=program)
    asked = ask_version(program, child_variables({}))
    state = plugin_state.look(_folder(environment, files, own), layout, GUARDS, PLUGIN_ROOT)
    faults = [*of_version(asked, OLDEST), *_of_settings(files, root, environment), *state.faults, *_of_server(state)]
    return ClientSeen(
        CLIENT,
        TITLE,
        WORD,
        Presence.INSTALLED,
        version="" if isinstance(asked, str) else dotted(asked),
        program=program,
        faults=tuple(faults),
        sessions=journal_evidence.sessions_seen(journal, CLIENT, state.written_at),
        kept=_kept(environment, cwd, journal),
        written_at=state.written_at,
        notes=state.notes,
    )


def managed_settings() -> dict[str, Any]:
    """What the administrator has set, of all files together."""
    merged: dict[str, Any] = {}
    for file in _managed(MANAGED):
        merged |= file.values
    return merged


def settings_files(claude_home: Path, root: str, cwd: str, managed: Path) -> tuple[SettingsFile, ...]:
    """The settings files that are there, the one that wins last.

    A project's are read where Claude Code is started, and of its repository the local ones only (seen with 2.1.329;
    2.1.197 passes over those, too).
    """
    local = Path(".claude", "settings.local.json")
    paths = [claude_home / "settings.json", Path(cwd, ".claude", "settings.json")]
    paths += [folder / local for folder in map(Path, filter(None, (root, cwd)))]
    own = (SettingsFile(path, json_file(path)) for path in dict.fromkeys(paths))
    return (*(file for file in own if file.values), *_managed(managed))


def _managed(folder: Path) -> Iterator[SettingsFile]:
    for path in (folder / "managed-settings.json", *sorted(folder.glob("managed-settings.d/*.json"))):
        if values := json_file(path):
            yield SettingsFile(path, values, is_managed=True)


def _of_settings(files: tuple[SettingsFile, ...], root: str, environment: Environment) -> Iterator[Fault]:
    """What the settings in force say against our hooks."""
    deciding = next((file for file in reversed(files) if isinstance(file.values.get("disableAllHooks"), bool)), None)
    if deciding and deciding.values["disableAllHooks"]:
        yield Fault(Reason.HOOKS_DISABLED, f"disableAllHooks in {deciding.path}")
    for file in files:
        if file.is_managed and file.values.get("allowManagedHooksOnly") is True:
            yield Fault(Reason.MANAGED_HOOKS_ONLY, f"allowManagedHooksOnly in {file.path}")
    enabled = _merged(files, "enabledPlugins")
    ours = {name: file for name, (value, file) in enabled.items() if is_ours(name) and value}
    off = {name: file for name, (value, file) in enabled.items() if is_ours(name) and not value}
    if not ours and off:
        yield Fault(Reason.PLUGIN_DISABLED, ", ".join(f"{name} in {file.path}" for name, file in off.items()))
    elif not ours:
        yield Fault(Reason.NOT_SWITCHED_ON, f"no {NAME}@{NAME} in {environment.claude_home / 'settings.json'}")
    twice = [*ours] if len(ours) > 1 else []
    twice += [str(file.path) for file in files if ours and any(map(is_our_hook, _commands(file.values.get("hooks"))))]
    if twice:
        yield Fault(Reason.TWICE, ", ".join(twice))
    rivals = [name for name, (value, _file) in enabled.items() if value and is_rival(name)]
    rivals += [str(file.path) for file in files if any(map(is_rival, _commands(file.values.get("hooks"))))]
    if rivals:
        yield Fault(Reason.IN_THE_WAY, ", ".join(dict.fromkeys(rivals)), frozenset({Guard.TURNS, Guard.END}))
    yield from _of_servers_switched_off(root, environment)


def _of_servers_switched_off(root: str, environment: Environment) -> Iterator[Fault]:
    """What ``/mcp disable`` leaves behind for the project."""
    projects = json_file(environment.claude_state).get("projects")
    project = projects.get(root) if isinstance(projects, dict) else None
    off = project.get("disabledMcpServers") if isinstance(project, dict) else None
    if isinstance(off, list) and f"plugin:{NAME}:{NAME}" in off:
        yield Fault(Reason.SERVER_OFF, f"disabledMcpServers in {environment.claude_state}")


def _of_server(state: PluginState) -> Iterator[Fault]:
    """Start the server as the client would."""
    if state.server and (trouble := trouble_with(state.server, child_variables({}))):
        yield Fault(Reason.SERVER_NOT_CONNECTED, trouble)


def _folder(environment: Environment, files: tuple[SettingsFile, ...], own: Path) -> Path:
    """Where Claude Code reads the plugin: a marketplace that is a folder is used where it lies."""
    known = json_file(environment.claude_home / "plugins" / "known_marketplaces.json").get(NAME)
    place = known.get("installLocation") if isinstance(known, dict) else None
    if not isinstance(place, str):
        value, _file = _merged(files, "extraKnownMarketplaces").get(NAME, ({}, None))
        source = value.get("source") if isinstance(value, dict) else None
        place = source.get("path") if isinstance(source, dict) else None
    return Path(place if isinstance(place, str) else own) / "plugins" / NAME


def _kept(environment: Environment, cwd: str, journal: SqliteJournal) -> tuple[Unseen, ...]:
    """Sessions at ``cwd`` that have a transcript and no record. Elsewhere the plugin may be switched off."""
    folder = environment.claude_home / "projects" / project_folder(cwd)
    files = recordings(str(folder), 1, lambda path: path.endswith(".jsonl"), 0)
    return journal_evidence.unknown(journal, [(Path(file.path).stem, file) for file in files], _OF_A_TURN)


def _merged(files: tuple[SettingsFile, ...], key: str) -> dict[str, tuple[Any, SettingsFile]]:
    """The entries of the object ``key`` over all files, each with the file that decides it."""
    found: dict[str, tuple[Any, SettingsFile]] = {}
    for file in files:
        table = file.values.get(key)
        if isinstance(table, dict):
            found |= {str(name): (value, file) for name, value in table.items()}
    return found


def _commands(hooks: Any) -> Iterator[str]:
    """The command lines of hooks that stand in settings."""
    tables = hooks.values() if isinstance(hooks, dict) else ()
    for group in (group for listed in tables if isinstance(listed, list) for group in listed):
        inner = group.get("hooks") if isinstance(group, dict) else None
        for one in inner if isinstance(inner, list) else ():
            if isinstance(one, dict) and isinstance(one.get("command"), str):
                words = one.get("args")
                yield " ".join([one["command"], *map(str, words if isinstance(words, list) else ())])
