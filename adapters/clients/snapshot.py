"""The part of a client's inspection that is the same for every client."""

from __future__ import annotations

from collections.abc import Iterable

from upbeat.adapters.clients.client import Client
from upbeat.adapters.doctor import journal_evidence
from upbeat.adapters.install.plugin_state import PluginState, version_faults
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.system.process.find_program import Version, format_version
from upbeat.core.doctor.findings import ClientSnapshot, Fault, InstallStatus, UnrecordedSession

_PROBE = "`upbeat doctor --probe` checks whether every hook still arrives"


def absent_snapshot(client: Client, program: str, *, has_plugin: bool) -> ClientSnapshot:
    """Return the snapshot of a client without upbeat, or, if ``program`` is empty, of one that is not on PATH."""
    status = InstallStatus.NOT_INSTALLED if program else InstallStatus.CLIENT_NOT_FOUND
    notes = ("upbeat's plugin is installed for it",) if has_plugin else ()
    return ClientSnapshot(client.id, client.title, client.cli_name, status, program=program, notes=notes)


def installed_snapshot(
    client: Client,
    program: str,
    version: Version | str,
    tested: tuple[Version, Version],
    state: PluginState,
    faults: Iterable[Fault],
    journal: SqliteJournal,
    unrecorded: tuple[UnrecordedSession, ...],
) -> ClientSnapshot:
    """Return the snapshot of a client with upbeat. A string as ``version`` says why the client reported none.

    ``tested`` are the oldest and the newest version that upbeat was tested with.
    """
    oldest, newest = tested
    is_newer = not isinstance(version, str) and version > newest
    untested = f"newer than the versions that upbeat was tested with, up to {format_version(newest)}; {_PROBE}"
    return ClientSnapshot(
        client.id,
        client.title,
        client.cli_name,
        InstallStatus.INSTALLED,
        version="" if isinstance(version, str) else format_version(version),
        program=program,
        faults=(*version_faults(version, oldest), *faults),
        sessions=journal_evidence.recent_sessions(journal, client.id, state.written_at),
        unrecorded_sessions=unrecorded,
        hooks_written_at=state.written_at,
        notes=(*state.notes, *([untested] if is_newer else ())),
    )
