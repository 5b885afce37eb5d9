"""Inspect this installation of upbeat; nothing is written."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from upbeat import __version__
from upbeat.adapters.doctor.journal_evidence import summarize_failures
from upbeat.adapters.install.byte_code import is_compiled_at_each_start, module_sources
from upbeat.adapters.system.journal.database import is_on_network, is_safe_version, sqlite_version
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.doctor.findings import InstallationSnapshot
from upbeat.core.engine.ports import RepoContext
from upbeat.core.settings import Activation, ExecutionMode, Settings

FAILURE_DAYS = 7
"""The period for which failed events are counted."""


def inspect_installation(journal: SqliteJournal, repo_context: RepoContext) -> InstallationSnapshot:
    """Return the state of this installation with the settings of the current folder."""
    settings = repo_context.settings
    modules = list(module_sources())
    health = journal.health()
    since = format_timestamp(datetime.now(UTC) - timedelta(days=FAILURE_DAYS))
    failed_events, last_failed_event = summarize_failures(journal, since)
    version = sqlite_version()
    database = Path(health.path)
    folder = next((folder for folder in (database, *database.parents) if folder.exists()), database)
    return InstallationSnapshot(
        version=__version__,
        python=sys.executable,
        modules=len(modules),
        uncompiled_modules=sum(map(is_compiled_at_each_start, modules)),
        sqlite=version,
        is_sqlite_sound=is_safe_version(version),
        is_network_file_system=is_on_network(folder),
        journal=health,
        period_days=FAILURE_DAYS,
        failed_events=failed_events,
        last_failed_event=last_failed_event,
        disabled_by=_origin(settings, "enabled") if settings.enabled is Activation.OFF else "",
        plan_mode_by=_origin(settings, "mode") if settings.mode is ExecutionMode.PLAN else "",
        settings_problems=repo_context.problems,
        policies_off=settings.policies_off,
    )


def _origin(settings: Settings, name: str) -> str:
    return settings.origins.get(name, name)
