"""A client's plugin, written to a folder of its own. Law: nothing outside that folder is touched.

What depends on where upbeat is installed (``.mcp.json``, ``hooks/hooks.json``) is rendered with absolute paths:
a client may copy the plugin anywhere, and Codex substitutes nothing. Nothing ever writes into a written plugin
but ``write``: Codex's trust covers every file of it.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from . import shim

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


def write(layout: PluginLayout, folder: Path) -> list[str]:
    """Make ``folder`` hold exactly the files of the layout; the relative paths that changed or went."""
    wanted = files(layout)
    strangers = [path for path in sorted(folder.rglob("*")) if not path.is_dir() or path.is_symlink()]
    strangers = [path for path in strangers if str(path.relative_to(folder)) not in wanted]
    for path in strangers:
        path.unlink()
    changed = [
        name for name, data in wanted.items() if not (folder / name).is_file() or (folder / name).read_bytes() != data
    ]
    for name in changed:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(path.name + ".new")
        draft.write_bytes(wanted[name])
        draft.replace(path)
    return [*changed, *(str(path.relative_to(folder)) for path in strangers)]


def remove(folder: Path) -> bool:
    """Take ``folder`` away; False when it was not there."""
    if not folder.is_dir():
        return False
    shutil.rmtree(folder)
    return True
