"""What ``upbeat doctor`` sees of this installation. Law: everything is looked at, nothing is changed."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ... import __version__
from ...core.doctor.findings import InstallationSeen
from ...core.settings import Mode, Settings, Switch
from ...core.turn.report import timestamp
from .byte_code import compiles_at_each_start, sources
from .journal import SqliteJournal
from .journal_database import is_network, is_sound, sqlite_version
from .journal_evidence import failed

DAYS = 7
"""How far back events count that upbeat failed at."""


def look(journal: SqliteJournal, settings: Settings) -> InstallationSeen:
    """This installation, with the settings in force where we are."""
    modules = list(sources())
    health = journal.health()
    since = timestamp(datetime.now(UTC) - timedelta(days=DAYS))
    unanswered = failed(journal, since)
    version = sqlite_version()
    return InstallationSeen(
        version=__version__,
        python=sys.executable,
        modules=len(modules),
        uncompiled=sum(map(compiles_at_each_start, modules)),
        sqlite=version,
        is_sqlite_sound=is_sound(version),
        is_network=is_network(_there(Path(health.path))),
        journal=health,
        days=DAYS,
        unanswered=unanswered.count,
        last_unanswered=unanswered.last,
        off_by=_origin(settings, "enabled") if settings.enabled is Switch.OFF else "",
        plan_by=_origin(settings, "mode") if settings.mode is Mode.PLAN else "",
        policies_off=settings.policies_off,
    )


def _origin(settings: Settings, name: str) -> str:
    return settings.origins.get(name, name)


def _there(path: Path) -> Path:
    """The nearest folder above ``path``, or itself, that is there."""
    return next((one for one in (path, *path.parents) if one.exists()), path)
