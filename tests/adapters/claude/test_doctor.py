"""What the doctor sees of Claude Code: each fault disables the hook points that it concerns, and no others."""

from __future__ import annotations

import sys

import pytest
from doctor_home import DoctorHome

from upbeat import __version__
from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.claude.doctor import inspect_claude
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.wiring import build_journal
from upbeat.core.doctor.findings import ClientSnapshot, Reason


def inspect(home: DoctorHome, environment: Environment | None = None, folder: str = "") -> ClientSnapshot:
    """The snapshot of Claude Code as it would start in the project, or in a folder of it."""
    environment, project = environment or home.environment, str(home.project)
    return inspect_claude(ClaudeCode(), environment, project, f"{project}{folder}", build_journal(environment))


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
