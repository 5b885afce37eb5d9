"""``upbeat install claude|codex``: write the client's plugin to upbeat's own data folder and say how to switch it on.

The client's configuration is not touched: its user runs the client's own commands, which are printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from .. import plugin
from ..claude import install as claude
from ..codex import install as codex
from ..local.byte_code import compile_missing
from ..local.environment import read_environment

CLIENTS: dict[str, ModuleType] = {"claude": claude, "codex": codex}


def run(arguments: Sequence[str]) -> int:
    parser = parser_for("install", __doc__ or "")
    parser.add_argument(
        "--route",
        choices=("mcp", "command"),
        default="mcp",
        help="mcp: hooks go to the session's server, no process each; command: for clients without mcp_tool hooks",
    )
    options = parser.parse_args(arguments)
    client, folder = CLIENTS[options.client], folder_of(options.client)
    layout = client.layout(options.route)
    if options.dry_run:
        print("\n".join(f"would write {folder / name}" for name in plugin.files(layout)))
        return 0
    changed = plugin.write(layout, folder)
    print(f"upbeat: {len(changed)} files written to {folder}" if changed else f"upbeat: {folder} is up to date")
    print(f"upbeat: {compile_missing().text}")
    print("\n".join(["switch it on with:", *(f"  {step}" for step in client.next_steps(folder))]))
    print("\n".join(client.further_steps(folder)))
    return 0


def folder_of(client: str) -> Path:
    """Where the plugin of ``client`` is written."""
    return read_environment().data_home / "upbeat" / client


def parser_for(command: str, description: str) -> argparse.ArgumentParser:
    """The options that install and uninstall share."""
    parser = argparse.ArgumentParser(prog=f"upbeat {command}", description=description)
    parser.add_argument("client", choices=sorted(CLIENTS))
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written or removed")
    return parser
