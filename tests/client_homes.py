"""A home with settings of both clients that have something of their own, and what can be seen in a folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import tomli

SETTINGS = {"claude": ".claude/settings.json", "codex": ".codex/config.toml"}
OWN_SETTINGS = {
    "claude": '{\r\n\t"hooks": {}, // mine\r\n\t"model": "opus"\r\n}\r\n',
    "codex": 'model = "gpt-5.5" # mine\r\n\r\n[hooks]\r\n',
}
EACH_CLIENT = pytest.mark.parametrize("client", sorted(SETTINGS))
TRUST = '\n[hooks.state]\n\n[hooks.state."upbeat@upbeat:hooks/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
"""What Codex writes when its user trusts a hook."""


def make_dotfiles(home: Path) -> None:
    """Write the settings of both clients to ``dotfiles`` below ``home``, and link to them."""
    for client, name in SETTINGS.items():
        target = home / "dotfiles" / client
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(OWN_SETTINGS[client].encode())
        (home / name).parent.mkdir()
        (home / name).symlink_to(os.path.relpath(target, (home / name).parent))


def listing(folder: Path, *, with_times: bool = True) -> dict[str, tuple[Any, ...]]:
    """Path -> where a link leads to, or mode, content and time."""
    paths: dict[str, tuple[Any, ...]] = {}
    for path in sorted(folder.rglob("*")):
        status, name = path.lstat(), str(path.relative_to(folder))
        if path.is_symlink():
            paths[name] = (os.readlink(path),)
        elif path.is_dir():
            paths[name] = (oct(status.st_mode),)
        else:
            paths[name] = (oct(status.st_mode), path.read_bytes(), status.st_mtime_ns if with_times else 0)
    return paths


def upbeat_settings(home: Path, client: str) -> dict[str, Any]:
    """The tables of the client's settings that upbeat writes into."""
    text = (home / SETTINGS[client]).read_text(encoding="utf-8")
    values = json.loads(text.replace("// mine", "")) if client == "claude" else tomli.loads(text)
    names = ("enabledPlugins", "extraKnownMarketplaces", "plugins", "marketplaces")
    return {name: values[name] for name in names if name in values}
