"""A client's plugin, and the files and settings with which the client loads it, as values.

Invariant: nothing is written here. ``.mcp.json`` and ``hooks/hooks.json`` are rendered with absolute paths: a client
may copy the plugin anywhere, and Codex expands no variables. Only an installation writes into an installed plugin:
Codex's trust covers every file of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from upbeat.adapters.system.files.settings_edit import KeyPath, SettingsEntry

NAME = "upbeat"
Route = Literal["mcp", "command"]

PYTHON = sys.executable
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

    @property
    def plugin_path(self) -> str:
        return f"plugins/{NAME}"


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


def marketplace_files(layout: PluginLayout) -> dict[str, bytes]:
    """Return every file of the marketplace folder by its relative path; the launcher is for use in a checkout only."""
    files = {
        f"{layout.plugin_path}/{path.relative_to(layout.source)}": path.read_bytes()
        for path in sorted(layout.source.rglob("*"))
        if path.is_file() and path.parent.name not in ("bin", "__pycache__")
    }
    files |= {f"{layout.plugin_path}/{name}": text.encode() for name, text in layout.rendered_files.items()}
    files[layout.manifest_path] = to_json_text(layout.marketplace).encode()
    return files


def to_json_text(value: Mapping[str, Any]) -> str:
    """Return the text of a JSON file."""
    return json.dumps(value, indent=2) + "\n"
