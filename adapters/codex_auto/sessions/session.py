"""A session: a Codex thread that codex-auto can resume."""

from __future__ import annotations

import re
from dataclasses import dataclass

from upbeat.adapters.codex.transport.base import TokenUsage

DEFAULT_SESSION = "default"

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAME = re.compile(r"[\w.-]{1,64}")


@dataclass(frozen=True, slots=True)
class Session:
    """One thread. Times are ISO 8601 in UTC; ``usage`` is the thread's total when its last turn ended."""

    thread_id: str
    created_at: str
    updated_at: str
    cwd: str
    usage: TokenUsage | None = None
    root: str = ""
    """The absolute path of its repository when it was last used."""
    title: str = ""
    """The first words of its first prompt, without secrets."""


def is_thread_id(text: str) -> bool:
    """Return whether ``text`` is a complete UUID. ``codex exec resume`` silently starts a new thread for others."""
    return _UUID.fullmatch(text) is not None


def is_session_name(text: str) -> bool:
    """Return whether ``text`` is a valid name: up to 64 letters, digits, dots, hyphens and underscores."""
    return _NAME.fullmatch(text) is not None
