"""Check that an MCP server over stdio starts and answers ``initialize``; it is stopped afterwards."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from upbeat.adapters.system.process.run import run_program
from upbeat.core.doctor.findings import Fault, Reason

HANDSHAKE_TIMEOUT_SECONDS = 15.0
"""The time limit; the first start after an installation compiles byte code."""
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "upbeat-doctor", "version": "1"},
    },
}


def server_faults(command: Sequence[str], variables: Mapping[str, str]) -> Iterator[Fault]:
    """Yield a fault if the server that ``command`` starts (empty for none) does not answer."""
    if command and (problem := handshake_problem(command, variables)):
        yield Fault(Reason.SERVER_NOT_CONNECTED, problem)


def handshake_problem(command: Sequence[str], variables: Mapping[str, str]) -> str:
    """Return why the server that ``command`` starts does not answer; empty if it does."""
    hello = json.dumps(_INITIALIZE).encode() + b"\n"
    with tempfile.TemporaryDirectory(prefix="upbeat-doctor-") as folder:
        try:
            ended = run_program(
                command,
                variables=variables,
                cwd=folder,
                timeout_seconds=HANDSHAKE_TIMEOUT_SECONDS,
                stdin_data=hello,
                stop_marker=b"\n",
            )
        except OSError as error:
            return f"{command[0]}: {error.strerror}"
    if b'"serverInfo"' in ended.output:
        return ""
    message = ended.last_error_line or ended.output[:200].decode("utf-8", "replace").strip()
    return f"{command[0]}: {message or 'no output'}"
