"""Whether an MCP server over stdio starts and says hello. Law: it is asked nothing else, and is gone afterwards."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence

from . import child

SECONDS = 15.0
"""How long it may take; the first start after an installation compiles."""
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "upbeat-doctor", "version": "1"},
    },
}


def trouble_with(command: Sequence[str], variables: Mapping[str, str], seconds: float = SECONDS) -> str:
    """Why the server that ``command`` starts says no hello; empty when it does."""
    hello = json.dumps(_HELLO).encode() + b"\n"
    with tempfile.TemporaryDirectory(prefix="upbeat-doctor-") as folder:
        try:
            ended = child.run(command, variables=variables, cwd=folder, seconds=seconds, words=hello, until=b"\n")
        except OSError as error:
            return f"{command[0]}: {error.strerror}"
    if b'"serverInfo"' in ended.output:
        return ""
    said = ended.complaint or ended.output[:200].decode("utf-8", "replace").strip()
    return f"{command[0]}: {said or 'it said nothing'}"
