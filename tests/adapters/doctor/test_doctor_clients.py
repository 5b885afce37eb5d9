"""What the doctor sees of each client: every fault of the table is seen, in just the hook points that it concerns."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from types import ModuleType
from unittest import mock

import pytest
from doctor_home import DoctorHome
from doctor_values import installation
from reliability.doctor_faults import CLAUDE, CODEX, FAULTS, armed_home

from upbeat import __version__
from upbeat.adapters.claude import doctor as claude
from upbeat.adapters.claude import install as claude_install
from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.codex import doctor as codex
from upbeat.adapters.codex import install as codex_install
from upbeat.adapters.codex.client import Codex
from upbeat.adapters.doctor import handshake
from upbeat.adapters.install.plugin import HOOK_POINT_BY_EVENT
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import build_journal
from upbeat.core.doctor.diagnose import diagnose
from upbeat.core.doctor.findings import HookPoint, Reason
from upbeat.core.messages.catalogue import load_messages

MESSAGES = load_messages("doctor", "en")

INSTALLATION = installation()
OF_THE_SERVER = "server_not_connected"


@pytest.fixture(scope="module")
def active() -> Iterator[DoctorHome]:
    """A home in which everything is active; its servers are taken to start, which is tried elsewhere."""
    with armed_home() as home, mock.patch.object(handshake, "handshake_problem", return_value=""):
        yield home


@pytest.fixture
def home(active: DoctorHome) -> DoctorHome:
    """As it was at first."""
    active.restore()
    return active


def inactive_points(home: DoctorHome, client: str) -> dict[HookPoint, set[str]]:
    """The hook points of ``client`` that are inactive, with the reasons."""
    project, found = str(home.project), build_journal(home.environment)
    if client == CLAUDE:
        seen = claude.inspect_claude(ClaudeCode(), home.environment, project, project, found)
    else:
        seen = codex.inspect_codex(Codex(), home.environment, project, found)
    [report] = diagnose("2026-11-22T09:30:00.000Z", [seen], INSTALLATION, MESSAGES).clients
    return {
        one.hook_point: {str(reason.reason) for reason in one.reasons} for one in report.hook_points if not one.active
    }


@pytest.mark.parametrize("client", [CLAUDE, CODEX])
def test_active(home: DoctorHome, client: str) -> None:
    """Where nothing is in the way and a turn was seen, everything is active."""
    assert {} == inactive_points(home, client)


@pytest.mark.parametrize(("is_set", "place"), [(True, ".claude.json"), (False, ".claude/.claude.json")])
def test_the_state_of_another_claude_code_is_not_read(home: DoctorHome, is_set: bool, place: str) -> None:
    """With a folder that was set, and without, a server that is switched off in the other place is on here."""
    servers = {"disabledMcpServers": ["plugin:upbeat:upbeat"]}
    home.change(home.home / place, projects={str(home.project): servers})
    folder = {"CLAUDE_CONFIG_DIR": str(home.home / ".claude")} if is_set else {}
    environment = read_environment(home.variables | folder)
    seen = claude.inspect_claude(
        ClaudeCode(), environment, str(home.project), str(home.project), build_journal(environment)
    )

    assert () == seen.faults


@pytest.mark.parametrize(
    ("folder", "name", "counts"),
    [
        ("sub", "settings.json", True),
        ("sub", "settings.local.json", True),
        ("", "settings.json", False),
        ("", "settings.local.json", True),
    ],
)
def test_a_projects_settings_count_where_the_client_is_started(
    home: DoctorHome, folder: str, name: str, counts: bool
) -> None:
    """Started in a subfolder, Claude Code reads the settings there, and of the repository's only the local ones."""
    home.change(home.project / folder / ".claude" / name, disableAllHooks=True)
    seen = claude.inspect_claude(
        ClaudeCode(), home.environment, str(home.project), str(home.project / "sub"), build_journal(home.environment)
    )

    assert counts is (Reason.HOOKS_DISABLED in {fault.reason for fault in seen.faults})


DAILY = {
    *("hooks switched off in the project", "only the administrator's hooks", "interpreter gone", "a hook taken out"),
    *("the server switched off", "installed from two marketplaces", "another hook of the kind", "no end arrives"),
    *("a session that left nothing", "one hook without trust", "a hook edited after the review", "an old Codex"),
}
"""Faults that the default suite looks at; the others are among the promises."""


@pytest.mark.parametrize(
    "name",
    [
        name if name in DAILY else pytest.param(name, marks=pytest.mark.reliability)
        for name, fault in FAULTS.items()
        if fault.client and fault.reason != OF_THE_SERVER
    ],
)
def test_inactive(home: DoctorHome, name: str) -> None:
    """Each fault makes the hook points that it concerns inactive for its reason, and no others except unproven ones."""
    planted = FAULTS[name]
    planted.plant(home)
    found = inactive_points(home, planted.client)

    assert planted.hook_points == {hook_point for hook_point, reasons in found.items() if planted.reason in reasons}
    assert all(
        reasons == {"unproven"} for hook_point, reasons in found.items() if hook_point not in planted.hook_points
    )


@pytest.mark.parametrize(
    "data", [None, 5, {}, [], [5], [{}], *([{"hooks": hooks}] for hooks in (None, 5, {}, [5], "hooks"))], ids=repr
)
def test_hooks_told_in_another_form(home: DoctorHome, data: object) -> None:
    """An answer that cannot be read is told as one, and as nothing else."""
    home.change(home.codex_home / "fake.json", listed={"data": data})

    assert {hook_point: {"client_broken"} for hook_point in HookPoint} == inactive_points(home, CODEX)


@pytest.mark.parametrize("install", [claude_install, codex_install])
@pytest.mark.parametrize("route", ["mcp", "command"])
def test_every_hook_has_a_hook_point(install: ModuleType, route: str) -> None:
    """Whatever a plugin registers, by either route, it is known what is inactive without it."""
    registered = json.loads(install.plugin_layout(route).rendered_files["hooks/hooks.json"])["hooks"]

    assert set(HookPoint) == {HOOK_POINT_BY_EVENT[event] for event in registered}


def test_another_installations_plugin_is_a_note(home: DoctorHome) -> None:
    """A plugin of another version, of another interpreter, or with changed texts works: it is told, no more."""
    home.replace(home.plugin / ".claude-plugin/plugin.json", f'"version": "{__version__}"', '"version": "0.0.1"')
    home.replace(home.plugin / ".mcp.json", f'"{sys.executable}"', '"/usr/bin/env"')
    (home.plugin / "commands/why.md").unlink()
    seen = claude.inspect_claude(
        ClaudeCode(), home.environment, str(home.project), str(home.project), build_journal(home.environment)
    )

    assert () == seen.faults
    assert [
        f"the plugin was written by upbeat 0.0.1, this is {__version__}",
        f"the plugin starts /usr/bin/env, this upbeat runs on {sys.executable}",
        "files of the plugin differ from those of this version: .claude-plugin/plugin.json, commands/why.md",
    ] == list(seen.notes)
