"""A client's plugin, and the files and settings with which the client loads it, as values.

Invariant: nothing is written here. ``.mcp.json`` and ``hooks/hooks.json`` are rendered with absolute paths: a client
may copy the plugin anywhere, and Codex expands no variables. Only an installation writes into an installed plugin:
Codex's trust covers every file of it.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from upbeat.adapters.system.files.settings_edit import KeyPath, SettingsEntry
from upbeat.core.doctor.findings import HookPoint

NAME = "upbeat"
PLUGIN_ID = f"{NAME}@{NAME}"
"""The plugin and the marketplace that it is from."""
Route = Literal["mcp", "command"]
HOOKS_FILE, SERVERS_FILE = "hooks/hooks.json", ".mcp.json"
HOOK_TIMEOUT_SECONDS = 10

HOOK_POINT_BY_EVENT = {
    "SessionStart": HookPoint.START,
    "UserPromptSubmit": HookPoint.TURNS,
    "PreToolUse": HookPoint.CALLS,
    "PostToolUse": HookPoint.RESULTS,
    "PostToolUseFailure": HookPoint.RESULTS,
    "PostToolBatch": HookPoint.RESULTS,
    "SubagentStart": HookPoint.AGENTS,
    "SubagentStop": HookPoint.AGENTS,
    "Stop": HookPoint.END,
    "StopFailure": HookPoint.END,
    "Interrupt": HookPoint.END,
    "SessionEnd": HookPoint.END,
}
"""Event of any client -> the hook point that is inactive if its hooks do not fire."""


def _find_python() -> str:
    """Return this Python under the name that does not depend on who started it: Codex trusts hooks by their text."""
    python = os.path.join(os.path.dirname(sys.executable), "python")
    return python if os.path.exists(python) and os.path.samefile(python, sys.executable) else sys.executable


PYTHON = _find_python()
SERVER_ARGUMENTS = ("-I", "-m", "upbeat", "mcp", "--client")
"""Arguments of ``PYTHON`` that start the MCP server, before the client's name."""
SHIM = Path(__file__).resolve().parents[1] / "hook_entry" / "shim.py"
HOOK_ARGUMENTS = ("-I", "-S", str(SHIM))
"""Arguments of ``PYTHON`` that answer one command hook, before the client's name."""


@dataclass(frozen=True, slots=True)
class PluginLayout:
    """The parts of a marketplace. Paths are relative to the marketplace's folder."""

    source: Path
    """The plugin in the package."""
    manifest_path: str
    """The marketplace's manifest."""
    marketplace: Mapping[str, Any]
    """The manifest's content."""
    rendered_files: Mapping[str, str]
    """Files of the plugin that depend on this installation, by their path in the plugin."""

    def plugin_files(self) -> dict[str, bytes]:
        """Return every file of the plugin by its path in it; the launcher is for use in a checkout only."""
        files = {
            str(path.relative_to(self.source)): path.read_bytes()
            for path in sorted(self.source.rglob("*"))
            if path.is_file() and path.parent.name not in ("bin", "__pycache__")
        }
        return files | {name: text.encode() for name, text in self.rendered_files.items()}

    def marketplace_files(self) -> dict[str, bytes]:
        """Return every file of the marketplace's folder by its path in it."""
        plugin = {f"plugins/{NAME}/{name}": data for name, data in self.plugin_files().items()}
        return plugin | {self.manifest_path: to_json_text(self.marketplace).encode()}


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """The entries for a settings file of the client in ``format`` (json, toml).

    ``client_key_prefixes`` are key paths whose last key is the prefix of keys that the client itself writes about the
    plugin.
    """

    path: Path
    format: str
    entries: tuple[SettingsEntry, ...]
    client_key_prefixes: tuple[KeyPath, ...] = ()


@dataclass(frozen=True, slots=True)
class DesiredInstallation:
    """Every file and setting of an installed plugin.

    ``own_folders`` are folders that only upbeat writes to, each with its files by relative path; the first one is in
    upbeat's data folder. ``files`` are upbeat's files in folders of the user, ``edits`` entries in files of the user.
    """

    own_folders: Mapping[Path, Mapping[str, bytes]]
    files: Mapping[Path, bytes]
    edits: tuple[SettingsEdit, ...]


def mcp_hook(server: str, event: str, fields: Iterable[str]) -> dict[str, Any]:
    """Return the handler of ``event`` that calls the ``hook`` tool of ``server`` with ``fields`` of the event."""
    passed = {"hook_event_name": event} | {name: "${" + name + "}" for name in fields}
    return {"type": "mcp_tool", "server": server, "tool": "hook", "input": passed}


def command_hook(words: Iterable[str]) -> dict[str, Any]:
    """Return the handler that runs ``words`` as one line of a shell; a client expands ``${...}`` in it.

    Never a program with a list of arguments: another client that reads the plugin may ignore the list, and so start
    the program alone, with the payload as its input.
    """
    line = " ".join(f'"{word}"' if word.startswith("${") else shlex.quote(word) for word in words)
    return {"type": "command", "command": line}


def rendered_files(server: Mapping[str, Any], hooks: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that start ``server`` and register ``hooks``, by their path in the plugin."""
    return {
        SERVERS_FILE: to_json_text({"mcpServers": {NAME: server}}),
        HOOKS_FILE: to_json_text({"description": "upbeat prepares, guards and continues turns", "hooks": hooks}),
    }


def to_json_text(value: Mapping[str, Any]) -> str:
    """Return the text of a JSON file."""
    return json.dumps(value, indent=2) + "\n"
