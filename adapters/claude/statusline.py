"""The setting of Claude Code's status line, and the payload that it passes.

Invariant: no import beyond the standard library; a missing value is None or empty.

Source: recorded stdin of 2.1.329.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any


def status_line_value() -> dict[str, str]:
    """Return the value of ``statusLine`` in settings.json.

    It names the launcher by its path: Claude Code runs it in the project, where PATH may lead to another ``upbeat``.
    """
    import shlex

    command = shlex.join([os.path.join(os.path.dirname(sys.executable), "upbeat"), "statusline"])
    return {"type": "command", "command": command}


def status_line_setting() -> str:
    """Return the entry for settings.json as text."""
    import json

    return f'"statusLine": {json.dumps(status_line_value(), ensure_ascii=False)}'


def parse_status_payload(payload: Mapping[str, Any]) -> tuple[str, float | None]:
    """Return the session id and the used share of the context window, in percent."""
    session_id = payload.get("session_id")
    window = payload.get("context_window")
    used = window.get("used_percentage") if isinstance(window, Mapping) else None
    is_share = isinstance(used, int | float) and not isinstance(used, bool) and 0 <= used <= 100
    return (session_id if isinstance(session_id, str) else "", used if is_share else None)
