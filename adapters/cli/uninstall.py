"""``upbeat uninstall claude|codex``: take away the plugin that ``upbeat install`` wrote."""

from __future__ import annotations

from collections.abc import Sequence

from .. import plugin
from .install import CLIENTS, folder_of, parser_for


def run(arguments: Sequence[str]) -> int:
    options = parser_for("uninstall", __doc__ or "").parse_args(arguments)
    folder = folder_of(options.client)
    if options.dry_run:
        print(f"would remove {folder}" if folder.is_dir() else f"nothing at {folder}")
        return 0
    removed = plugin.remove(folder)
    print(f"upbeat: {folder} removed" if removed else f"upbeat: nothing at {folder}; nothing to remove")
    if removed:
        print("\n".join(["if the client still has it:", *(f"  {s}" for s in CLIENTS[options.client].last_steps())]))
    return 0
