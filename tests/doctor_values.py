"""Observations of a machine on which every hook point is active, to be spoilt one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from upbeat.core.doctor.findings import ClientSnapshot, HookPoint, InstallationSnapshot, InstallStatus, SessionActivity
from upbeat.core.journal.record import JournalHealth

NOW = "2026-11-22T09:30:00.000Z"
WRITTEN = "2026-11-22T09:00:00.000Z"
SEEN = "2026-11-22T09:27:00.000Z"
BEFORE = "2026-11-22T08:00:00.000Z"


def session(
    *hook_points: HookPoint, at: str = SEEN, session_id: str = "5e551000", times: int = 1, **more: Any
) -> SessionActivity:
    """A session in which each of ``guards`` (default: all) was reached ``times`` times."""
    seen = hook_points or tuple(HookPoint)
    return SessionActivity(session_id, at, dict.fromkeys(seen, times), dict.fromkeys(seen, at), **more)


def client(**more: Any) -> ClientSnapshot:
    """Claude Code, with a session three minutes ago that reached every hook point."""
    active = ClientSnapshot(
        "claude-code",
        "Claude Code",
        "claude",
        InstallStatus.INSTALLED,
        version="2.1.329",
        program="/bin/claude",
        sessions=(session(),),
        hooks_written_at=WRITTEN,
    )
    return replace(active, **more)


def installation(**more: Any) -> InstallationSnapshot:
    """An installation with nothing wrong."""
    health = JournalHealth("/home/dev/.local/state/upbeat/journal.db", exists=True, records=1234)
    sound = InstallationSnapshot("0.1.0", "/opt/python", 500, 0, "3.54.1", True, False, health, period_days=7)
    return replace(sound, **more)
