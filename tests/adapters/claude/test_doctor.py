"""What the doctor sees of Claude Code: each fault disables the hook points that it concerns, and no others."""

from __future__ import annotations

import sys

import pytest
from doctor_home import DoctorHome, inactive_points
from reliability.doctor_faults import CLAUDE, FAULTS

from upbeat import __version__
from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.claude.doctor import inspect_claude
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.wiring import build_journal
from upbeat.core.doctor.findings import ClientSnapshot, Reason

DAILY = (
    *("hooks switched off in the project", "only the administrator's hooks", "interpreter gone", "a hook taken out"),
    *("the server switched off", "installed from two marketplaces", "another hook of the kind", "no end arrives"),
    "a session that left nothing",
)
"""Faults that the default suite plants; the others are among the promises."""


def inspect(home: DoctorHome, environment: Environment | None = None, folder: str = "") -> ClientSnapshot:
    """The snapshot of Claude Code as it would start in the project, or in a folder of it."""
    environment, project = environment or home.environment, str(home.project)
    return inspect_claude(ClaudeCode(), environment, project, f"{project}{folder}", build_journal(environment))


def test_everything_is_active_after_an_installation_and_a_turn(doctor_home: DoctorHome) -> None:
    """Without a fault, and with a turn in the journal, every hook point is active."""
    assert {} == inactive_points(inspect(doctor_home))


@pytest.mark.parametrize(
    "name",
    [
        name if name in DAILY else pytest.param(name, marks=pytest.mark.reliability)
        for name, fault in FAULTS.items()
        if fault.client == CLAUDE and fault.reason != "server_not_connected"
    ],
)
def test_a_fault_disables_the_hook_points_that_it_concerns(doctor_home: DoctorHome, name: str) -> None:
    """These hook points are inactive for the fault's reason; others are at most unproven."""
    planted = FAULTS[name]
    planted.plant(doctor_home)
    inactive = inactive_points(inspect(doctor_home))

    assert planted.hook_points == {point for point, reasons in inactive.items() if planted.reason in reasons}
    assert all(reasons == {"unproven"} for point, reasons in inactive.items() if point not in planted.hook_points)


@pytest.mark.parametrize(("is_set", "place"), [(True, ".claude.json"), (False, ".claude/.claude.json")])
def test_the_state_of_another_claude_code_is_not_read(doctor_home: DoctorHome, is_set: bool, place: str) -> None:
    """A server that is disabled in the state file of another ``CLAUDE_CONFIG_DIR`` is enabled here."""
    servers = {"disabledMcpServers": ["plugin:upbeat:upbeat"]}
    doctor_home.change(doctor_home.home / place, projects={str(doctor_home.project): servers})
    folder = {"CLAUDE_CONFIG_DIR": str(doctor_home.home / ".claude")} if is_set else {}

    assert () == inspect(doctor_home, read_environment(doctor_home.variables | folder)).faults


@pytest.mark.parametrize(
    ("folder", "name", "counts"),
    [
        ("sub", "settings.json", True),
        ("sub", "settings.local.json", True),
        ("", "settings.json", False),
        ("", "settings.local.json", True),
    ],
)
def test_in_a_subfolder_only_local_settings_of_the_repository_count(
    doctor_home: DoctorHome, folder: str, name: str, counts: bool
) -> None:
    """Started in a subfolder, Claude Code reads the settings there, and of the repository's only the local ones."""
    doctor_home.change(doctor_home.project / folder / ".claude" / name, disableAllHooks=True)
    reasons = {fault.reason for fault in inspect(doctor_home, folder="/sub").faults}

    assert counts is (Reason.HOOKS_DISABLED in reasons)


def test_a_plugin_of_another_installation_is_a_note(doctor_home: DoctorHome) -> None:
    """A plugin of another version or interpreter, or with changed texts, works; the differences are notes."""
    plugin = doctor_home.plugin
    doctor_home.replace(plugin / ".claude-plugin/plugin.json", f'"version": "{__version__}"', '"version": "0.0.1"')
    doctor_home.replace(plugin / ".mcp.json", f'"{sys.executable}"', '"/usr/bin/env"')
    (plugin / "commands/why.md").unlink()
    snapshot = inspect(doctor_home)

    assert () == snapshot.faults
    assert [
        f"the plugin was written by upbeat 0.0.1, this is {__version__}",
        f"the plugin starts /usr/bin/env, this upbeat runs on {sys.executable}",
        "files of the plugin differ from those of this version: .claude-plugin/plugin.json, commands/why.md",
    ] == list(snapshot.notes)
