"""``upbeat mcp --client NAME``: serve a client over stdio until it closes stdin."""

from __future__ import annotations

from collections.abc import Sequence

from upbeat.adapters.system.option_parser import OptionParser


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = OptionParser(prog="upbeat mcp", description=(__doc__ or "").replace("``", "`"))
    parser.add_argument("--client", default="claude-code", help="the client whose hooks it answers: claude or codex")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Serve until stdin ends; the server checks the client's name after it has answered ``initialize``."""
    options = build_parser().parse_args(arguments)
    from upbeat.adapters.mcp_server.server import main
    from upbeat.core.contract.event import ClientName

    client: str = options.client
    if client not in set(ClientName):  # the plugins pass an id, which needs no registry
        from upbeat.adapters.clients.registry import to_client_id

        client = to_client_id(client)
    main(client)
