"""What Claude Code tells a status line. Law: reading it costs no import; what is missing is None or empty.

Source: recorded stdin of 2.1.329.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def decode(payload: Mapping[str, Any]) -> tuple[str, float | None]:
    """The session's id, and how much of the model's context is used, in percent."""
    session_id = payload.get("session_id")
    window = payload.get("context_window")
    used = window.get("used_percentage") if isinstance(window, Mapping) else None
    is_share = isinstance(used, int | float) and not isinstance(used, bool) and 0 <= used <= 100
    return (session_id if isinstance(session_id, str) else "", used if is_share else None)
