"""The user's own tools: MCP servers that the user's configuration names, called through the official SDK."""

from __future__ import annotations

from enum import Enum


class Use(Enum):
    """What a process may do with the servers; a server lives no longer than the process that started it."""

    NEVER = "never"
    """Start none: the process answers one hook, and a start would cost more than the answer is worth."""
    SESSION = "session"
    """Keep them warm while the session lasts. A turn does not wait for one that is not there yet."""
    ONCE = "once"
    """Start them for this turn, and wait inside the tool's own limit."""
    BY_HAND = "by hand"
    """As once, and the person at the keyboard names the tool: it need not be one that runs by itself."""
