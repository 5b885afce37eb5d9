"""Observations of a machine on which every guard is armed, to be spoilt one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from upbeat.core.doctor.findings import ClientSeen, Guard, InstallationSeen, Presence, SessionSeen
from upbeat.core.journal.entry import Health

NOW = "2026-11-22T09:30:00.000Z"
WRITTEN = "2026-11-22T09:00:00.000Z"
SEEN = "2026-11-22T09:27:00.000Z"
BEFORE = "2026-11-22T08:00:00.000Z"


def session(*guards: Guard, at: str = SEEN, session_id: str = "5e551000", times: int = 1, **more: Any) -> SessionSeen:
    """A session in which each of ``guards`` (default: all) was reached ``times`` times."""
    seen = guards or tuple(Guard)
    return SessionSeen(session_id, at, dict.fromkeys(seen, times), dict.fromkeys(seen, at), **more)


def client(**more: Any) -> ClientSeen:
    """Claude Code, with a session three minutes ago that reached every guard."""
    armed = ClientSeen(
        "claude-code",
        "Claude Code",
        "claude",
        Presence.INSTALLED,
        version="2.1.329",
        program="/bin/claude",
        sessions=(session(),),
        written_at=WRITTEN,
    )
    return replace(armed, **more)


def installation(**more: Any) -> InstallationSeen:
    """An installation with nothing wrong."""
    health = Health("/home/dev/.local/state/upbeat/journal.db", exists=True, records=1234)
    sound = InstallationSeen("0.1.0", "/opt/python", 500, 0, "3.54.1", True, False, health, days=7)
    return replace(sound, **more)
