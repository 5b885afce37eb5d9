"""What the doctor sees of each client: every fault of the table is seen, in just the guards that it concerns."""

from __future__ import annotations

import contextlib
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
from upbeat.adapters.codex import doctor as codex
from upbeat.adapters.codex import install as codex_install
from upbeat.adapters.local.environment import read_environment
from upbeat.adapters.wiring import journal
from upbeat.core.doctor.findings import Guard, Reason
from upbeat.core.doctor.judge import judge
from upbeat.core.doctor.texts import EN

INSTALLATION = installation()
OF_THE_SERVER = "server_not_connected"


@pytest.fixture(scope="module")
def armed() -> Iterator[DoctorHome]:
    """A home in which everything is armed; its servers are taken to start, which is tried elsewhere."""
    with armed_home() as home, contextlib.ExitStack() as stack:
        for module in (claude, codex):
            stack.enter_context(mock.patch.object(module, "trouble_with", return_value=""))
        yield home


@pytest.fixture
def home(armed: DoctorHome) -> DoctorHome:
    """As it was at first."""
    armed.restore()
    return armed


def unarmed(home: DoctorHome, client: str) -> dict[Guard, set[str]]:
    """The guards of ``client`` that are not armed, with the reasons."""
    project, found = str(home.project), journal(home.environment)
    if client == CLAUDE:
        seen = claude.look(home.environment, project, project, found)
    else:
        seen = codex.look(home.environment, project, found)
    [report] = judge("2026-11-22T09:30:00.000Z", [seen], INSTALLATION, EN).clients
    return {one.guard: {str(because.reason) for because in one.reasons} for one in report.guards if not one.armed}


@pytest.mark.parametrize("client", [CLAUDE, CODEX])
def test_armed(home: DoctorHome, client: str) -> None:
    """Where nothing is in the way and a turn was seen, everything is armed."""
    assert {} == unarmed(home, client)


@pytest.mark.parametrize(("is_set", "place"), [(True, ".claude.json"), (False, ".claude/.claude.json")])
def test_the_state_of_another_claude_code_is_not_read(home: DoctorHome, is_set: bool, place: str) -> None:
    """With a folder that was set, and without, a server that is switched off in the other place is on here."""
    servers = {"disabledMcpServers": ["plugin:upbeat:upbeat"]}
    home.change(home.home / place, projects={str(home.project): servers})
    folder = {"CLAUDE_CONFIG_DIR": str(home.home / ".claude")} if is_set else {}
    environment = read_environment(home.variables | folder)
    seen = claude.look(environment, str(home.project), str(home.project), journal(environment))

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
    seen = claude.look(home.environment, str(home.project), str(home.project / "sub"), journal(home.environment))

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
def test_not_armed(home: DoctorHome, name: str) -> None:
    """Each fault disarms the guards that it concerns, for its reason, and nothing else but what is unproven by it."""
    planted = FAULTS[name]
    planted.plant(home)
    found = unarmed(home, planted.client)

    assert planted.guards == {guard for guard, reasons in found.items() if planted.reason in reasons}
    assert all(reasons == {"unproven"} for guard, reasons in found.items() if guard not in planted.guards)


@pytest.mark.parametrize(
    "data", [None, 5, {}, [], [5], [{}], *([{"hooks": hooks}] for hooks in (None, 5, {}, [5], "hooks"))], ids=repr
)
def test_hooks_told_in_another_form(home: DoctorHome, data: object) -> None:
    """An answer that cannot be read is told as one, and as nothing else."""
    home.change(home.codex_home / "fake.json", listed={"data": data})

    assert {guard: {"client_broken"} for guard in Guard} == unarmed(home, CODEX)


@pytest.mark.parametrize("install", [claude_install, codex_install])
@pytest.mark.parametrize("route", ["mcp", "command"])
def test_every_hook_carries_a_guard(install: ModuleType, route: str) -> None:
    """Whatever a plugin registers, by either route, it is known what is not armed without it."""
    registered = json.loads(install.layout(route).rendered["hooks/hooks.json"])["hooks"]

    assert set(registered) <= set(install.GUARDS)
    assert set(Guard) == {install.GUARDS[event] for event in registered}
    assert route == "command" or set(registered) == set(install.GUARDS)


def test_another_installations_plugin_is_a_note(home: DoctorHome) -> None:
    """A plugin of another version, of another interpreter, or with changed texts works: it is told, no more."""
    home.replace(home.plugin / ".claude-plugin/plugin.json", f'"version": "{__version__}"', '"version": "0.0.1"')
    home.replace(home.plugin / ".mcp.json", f'"{sys.executable}"', '"/usr/bin/env"')
    (home.plugin / "commands/why.md").unlink()
    seen = claude.look(home.environment, str(home.project), str(home.project), journal(home.environment))

    assert () == seen.faults
    assert [
        f"the plugin was written by upbeat 0.0.1, this is {__version__}",
        f"the plugin starts /usr/bin/env, this upbeat runs on {sys.executable}",
        "files of the plugin are not as this upbeat writes them: .claude-plugin/plugin.json, commands/why.md",
    ] == list(seen.notes)
