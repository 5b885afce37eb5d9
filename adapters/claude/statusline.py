"""Parse the payload that Claude Code passes to a status line.

Invariant: no import beyond the standard library; a missing value is None or empty.

Source: recorded stdin of 2.1.329.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def parse_status_payload(payload: Mapping[str, Any]) -> tuple[str, float | None]:
    """Return the session id and the used share of the context window, in percent."""
    session_id = payload.get("session_id")
    window = payload.get("context_window")
    used = window.get("used_percentage") if isinstance(window, Mapping) else None
    is_share = isinstance(used, int | float) and not isinstance(used, bool) and 0 <= used <= 100
    return (session_id if isinstance(session_id, str) else "", used if is_share else None)
