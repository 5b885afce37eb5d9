"""``upbeat mcp --client NAME``: serve a client over stdio until it closes stdin."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def run(arguments: Sequence[str]) -> int:
    """Serve until stdin ends; the server checks the client's name after it has answered ``initialize``."""
    parser = argparse.ArgumentParser(prog="upbeat mcp", description=(__doc__ or "").replace("``", "`"))
    parser.add_argument("--client", default="claude-code", help="id of the client whose hooks it answers")
    options = parser.parse_args(arguments)
    from upbeat.adapters.mcp_server.server import main

    main(options.client)
