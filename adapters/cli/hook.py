"""``upbeat hook CLIENT``: answer one hook event. The exit code is always 0."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from upbeat.adapters.clients.registry import CLIENT_BY_CLI_NAME, to_cli_name
from upbeat.adapters.hook_entry import shim


def run(arguments: Sequence[str]) -> int:
    match arguments:
        case [name] if client := CLIENT_BY_CLI_NAME.get(to_cli_name(name)):
            return int(shim.main(client.id))
        case _:
            print(f"usage: upbeat hook {'|'.join(CLIENT_BY_CLI_NAME)} < payload.json", file=sys.stderr)
            return 0
