"""Call the tools of the MCP servers in the user's configuration, through the official SDK."""

from __future__ import annotations

from enum import Enum


class ServerLifetime(Enum):
    """How long a process keeps servers running; a server never outlives the process that started it."""

    NEVER = "never"
    """Start none: the process answers one hook, and a start would take too long."""
    SESSION = "session"
    """Keep servers running for the session. A turn does not wait for a server that is still starting."""
    ONCE = "once"
    """Start servers for this turn, and wait within the tool's time limit."""
    MANUAL = "by hand"
    """Like ONCE, for a tool that the user names, which may be one that does not run automatically."""
