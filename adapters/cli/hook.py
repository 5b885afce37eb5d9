"""``upbeat hook claude|codex``: one hook event. Always exits 0, whatever came in."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .. import shim

CLIENTS = {"claude": "claude-code", "codex": "codex-cli"}


def run(arguments: Sequence[str]) -> int:
    match arguments:
        case [name] if name in CLIENTS:
            return int(shim.main(CLIENTS[name]))
        case _:
            print(f"usage: upbeat hook {'|'.join(CLIENTS)} < payload.json", file=sys.stderr)
            return 0
