"""The part of a client's snapshot that is the same for every client."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.clock import FakeClock

from upbeat.adapters.clients.registry import find_client
from upbeat.adapters.clients.snapshot import absent_snapshot, installed_snapshot
from upbeat.adapters.install.plugin_state import PluginState
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.system.process.find_program import Version
from upbeat.core.doctor.findings import Fault, InstallStatus, Reason

CODEX = find_client("codex-cli")


@pytest.mark.parametrize(
    ("program", "has_plugin", "status", "notes"),
    [
        ("/bin/codex", False, InstallStatus.NOT_INSTALLED, ()),
        ("", False, InstallStatus.CLIENT_NOT_FOUND, ()),
        ("", True, InstallStatus.CLIENT_NOT_FOUND, ("upbeat's plugin is installed for it",)),
    ],
)
def test_a_client_without_upbeat(program: str, has_plugin: bool, status: InstallStatus, notes: tuple[str, ...]) -> None:
    """A client that is not on PATH is told apart from one without upbeat; its plugin is noted."""
    snapshot = absent_snapshot(CODEX, program, has_plugin=has_plugin)

    assert ("codex-cli", status, program, notes) == (
        snapshot.client,
        snapshot.install_status,
        snapshot.program,
        snapshot.notes,
    )


@pytest.mark.parametrize(
    ("version", "shown", "reasons"),
    [
        ((0, 170, 0), "0.170.0", [Reason.UNTRUSTED]),
        ((0, 150, 0), "0.150.0", [Reason.CLIENT_TOO_OLD, Reason.UNTRUSTED]),
        ("it crashed", "", [Reason.CLIENT_BROKEN, Reason.UNTRUSTED]),
    ],
)
def test_a_client_with_upbeat(version: Version | str, shown: str, reasons: list[Reason], tmp_path: Path) -> None:
    """The faults of its version come before the others; the plugin's notes are the client's."""
    snapshot = installed_snapshot(
        CODEX,
        "/bin/codex",
        version,
        ((0, 160, 0), (0, 170, 0)),
        PluginState(notes=("a note",), written_at="2026"),
        [Fault(Reason.UNTRUSTED)],
        SqliteJournal(tmp_path, FakeClock()),
        (),
    )

    assert (shown, reasons) == (snapshot.version, [fault.reason for fault in snapshot.faults])
    assert (("a note",), "2026", ()) == (snapshot.notes, snapshot.hooks_written_at, snapshot.sessions)


@pytest.mark.parametrize(("version", "is_noted"), [((0, 169, 0), False), ((0, 169, 1), True), ("it crashed", False)])
def test_an_untested_version_is_noted(version: Version | str, is_noted: bool, tmp_path: Path) -> None:
    """A version newer than any that was tested is no fault, and the note says how to check it."""
    journal = SqliteJournal(tmp_path, FakeClock())
    tested = ((0, 160, 0), (0, 169, 0))
    notes = installed_snapshot(CODEX, "/bin/codex", version, tested, PluginState(), [], journal, ()).notes

    assert is_noted is any(
        "newer than the versions that upbeat was tested with, up to 0.169.0" in note for note in notes
    )
