"""``upbeat mcp --client NAME``: serve a client over stdio until it closes stdin."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..wiring import CLIENTS


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat mcp", description=__doc__)
    parser.add_argument("--client", choices=CLIENTS, default=CLIENTS[0], help="whose hooks it answers")
    options = parser.parse_args(arguments)
    from ..mcp.server import main

    main(options.client)
