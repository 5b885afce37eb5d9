"""A client's plugin, and what is to stand where for the client to load it. Law: values only; nothing is written here.

What depends on where upbeat is installed (``.mcp.json``, ``hooks/hooks.json``) is rendered with absolute paths:
a client may copy the plugin anywhere, and Codex substitutes nothing. Nothing but an installation ever writes into a
written plugin: Codex's trust covers every file of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from . import shim
from .local.settings_edit import Part, Place

NAME = "upbeat"
Route = Literal["mcp", "command"]

PYTHON = sys.executable
SERVER = ("-I", "-m", "upbeat", "mcp", "--client")
"""Arguments of ``PYTHON`` that start the MCP server, before the client's name."""
HOOK = ("-I", "-S", str(Path(shim.__file__).resolve()))
"""Arguments of ``PYTHON`` that answer one command hook, before the client's name."""


@dataclass(frozen=True, slots=True)
class PluginLayout:
    """Where a client wants the parts of a marketplace. Paths are relative to the marketplace's folder."""

    source: Path
    """The plugin in the package."""
    manifest: str
    """The marketplace's manifest."""
    marketplace: Mapping[str, Any]
    """What stands in it."""
    rendered: Mapping[str, str]
    """Files of the plugin that depend on this installation, by their path in the plugin."""

    @property
    def plugin(self) -> str:
        return f"plugins/{NAME}"


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to stand in a settings file of the client: ``parts`` of a file in ``format`` (json, toml).

    ``traces`` are places whose last key is the beginning of keys that the client itself writes about our plugin.
    """

    path: Path
    format: str
    parts: tuple[Part, ...]
    traces: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to stand where once the plugin is installed.

    ``own`` are folders that are ours alone, each with all its files by their relative paths; the first one is in
    upbeat's data folder. ``files`` are files of ours among those of the user, ``edits`` parts of files of the user.
    """

    own: Mapping[Path, Mapping[str, bytes]]
    files: Mapping[Path, bytes]
    edits: tuple[Edit, ...]


def files(layout: PluginLayout) -> dict[str, bytes]:
    """Every file of the marketplace folder, by its relative path."""
    found = {
        f"{layout.plugin}/{path.relative_to(layout.source)}": path.read_bytes()
        for path in sorted(layout.source.rglob("*"))
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts
    }
    found |= {f"{layout.plugin}/{name}": text.encode() for name, text in layout.rendered.items()}
    found[layout.manifest] = as_json(layout.marketplace).encode()
    return found


def as_json(value: Mapping[str, Any]) -> str:
    """The text of a JSON file."""
    return json.dumps(value, indent=2) + "\n"
