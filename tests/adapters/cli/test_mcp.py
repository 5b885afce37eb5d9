"""``upbeat mcp`` serves the clients that are registered."""

from __future__ import annotations

import subprocess

from processes import UPBEAT


def test_an_unknown_client_is_an_error_that_names_the_known_ones() -> None:
    """An unregistered client is rejected with the known names."""
    with subprocess.Popen(
        [UPBEAT, "mcp", "--client", "gemini-cli"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        message = server.stderr.readline()
        server.wait(10)

    assert (2, "upbeat mcp: unknown client 'gemini-cli'; known clients: claude-code, codex-cli\n") == (
        server.returncode,
        message,
    )
