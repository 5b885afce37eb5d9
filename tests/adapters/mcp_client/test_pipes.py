"""What a server process writes and how it ends is bounded and described."""

from __future__ import annotations

import sys
from functools import partial

import anyio
import pytest

from upbeat.adapters.mcp_client.pipes import StdioTransport
from upbeat.adapters.mcp_client.program import Program

VARIABLES = {"PATH": "/usr/bin:/bin"}


async def _ended(code: str) -> str:
    """Run a server with this code until it ends or exceeds a limit; return the description of its end."""
    transport = StdioTransport(Program(sys.executable, ("-I", "-S", "-c", code), VARIABLES, "/"))
    with anyio.fail_after(20):
        async with transport as (incoming, _outgoing), anyio.create_task_group() as tasks:
            tasks.start_soon(_drain, incoming)
            await transport.end_requested.wait()
            tasks.cancel_scope.cancel()
    return transport.describe_exit()


async def _drain(incoming: object) -> None:
    async for _message in incoming:  # type: ignore[attr-defined]
        pass


@pytest.mark.parametrize(
    ("code", "description"),
    [
        ("import sys; sys.stderr.write('first\\nlast words\\n'); sys.exit(3)", "it exited with code 3; last words"),
        ("print('no message\\n' * 200, flush=True); input()", "its output is not MCP messages"),
        ("print('x' * 5_000_000, flush=True); input()", "it wrote a line of more than 4194304 bytes"),
    ],
)
def test_the_end_is_described(code: str, description: str) -> None:
    """The exit code and the last line of stderr, or the limit that was exceeded."""
    assert description in anyio.run(partial(_ended, code))
