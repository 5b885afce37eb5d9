"""What the doctor sees of this installation and of the settings in the current folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from fakes.context import repo_context

from upbeat import __version__
from upbeat.adapters.doctor import installation
from upbeat.adapters.doctor.installation import inspect_installation
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.doctor.findings import InstallationSnapshot
from upbeat.core.settings import Activation, ExecutionMode


@pytest.fixture(autouse=True)
def two_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation of two modules, of which one has no byte code."""
    monkeypatch.setattr(installation, "module_sources", lambda: iter((Path("a.py"), Path("b.py"))))
    monkeypatch.setattr(installation, "is_compiled_at_each_start", lambda path: path == Path("b.py"))


def inspect(tmp_path: Path, problems: tuple[str, ...] = (), **settings: object) -> InstallationSnapshot:
    """The state of the installation with these settings."""
    context = repo_context()
    changed = replace(context.settings, **settings)  # type: ignore[arg-type]
    journal = SqliteJournal(tmp_path / "state", FakeClock())
    return inspect_installation(journal, replace(context, settings=changed, problems=problems))


def test_modules_and_journal(tmp_path: Path) -> None:
    """Modules without byte code are counted, and the file system is that of the nearest folder that exists."""
    snapshot = inspect(tmp_path)

    assert (__version__, 2, 1) == (snapshot.version, snapshot.modules, snapshot.uncompiled_modules)
    assert (False, "", "", ()) == (
        snapshot.is_network_file_system,
        snapshot.disabled_by,
        snapshot.plan_mode_by,
        snapshot.settings_problems,
    )


def test_settings_that_keep_upbeat_from_working_are_named_with_their_place(tmp_path: Path) -> None:
    """A setting without a known place is named by its key."""
    snapshot = inspect(
        tmp_path,
        ("a.toml:1: unknown key",),
        enabled=Activation.OFF,
        mode=ExecutionMode.PLAN,
        policies_off=("announce-startup",),
        origins={"enabled": "auto-tools.toml:3"},
    )

    assert ("auto-tools.toml:3", "mode") == (snapshot.disabled_by, snapshot.plan_mode_by)
    assert (("a.toml:1: unknown key",), ("announce-startup",)) == (snapshot.settings_problems, snapshot.policies_off)
