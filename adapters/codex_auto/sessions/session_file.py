"""Read ``<repository>/.upbeat/codex-session.json``, where earlier versions kept the sessions of a repository."""

from __future__ import annotations

import json
from typing import Any

from upbeat.adapters.codex.transport.base import TokenUsage
from upbeat.adapters.codex_auto.sessions.session import Session, is_thread_id
from upbeat.adapters.system.files.safe_open import NotRegularError, read_file

SESSION_FILE = ".upbeat/codex-session.json"
MAX_FILE_BYTES = 1 << 20


def read_session_file(root: str) -> tuple[tuple[str, Session], ...]:
    """Return the names and sessions in the file of the repository at ``root``; the name is empty for old threads.

    Raises:
        ValueError: The file exists but cannot be understood.
    """
    try:
        data = read_file(SESSION_FILE, MAX_FILE_BYTES + 1, root)
    except NotRegularError as error:
        raise ValueError(error.strerror) from None
    except OSError:
        return ()
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"more than {MAX_FILE_BYTES} bytes")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    named = document.get("sessions") if isinstance(document, dict) else None
    if not isinstance(named, dict):
        raise ValueError("no 'sessions' in it")
    former = document.get("former")
    entries = [*named.items(), *(("", fields) for fields in (former if isinstance(former, list) else ()))]
    return tuple((name, session) for name, fields in entries if (session := _parse_session(fields)))


def _parse_session(fields: Any) -> Session | None:
    if not isinstance(fields, dict) or not is_thread_id(str(fields.get("thread_id"))):
        return None
    texts = {
        name: str(fields.get(name, "")) for name in ("thread_id", "created_at", "updated_at", "cwd", "root", "title")
    }
    counts = fields.get("usage")
    usage = None
    if isinstance(counts, dict):
        known = {name: value for name, value in counts.items() if name in TokenUsage.__slots__}
        usage = TokenUsage(**known) if all(isinstance(value, int) for value in known.values()) else None
    return Session(**texts, usage=usage)
