"""Whether the doctor sees what disables upbeat: each fault is planted in a home where everything is active.

The clients are fakes that say their version and tell of their hooks; files, journal, server and installer are real.
``tests/e2e/test_doctor.py`` plants the weightiest ones in the real clients.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import apsw
from doctor_home import DoctorHome, make_home, turn

from upbeat.adapters.claude import doctor as claude_doctor
from upbeat.adapters.cli.doctor import build_doctor_report as look_with_all
from upbeat.adapters.doctor import installation
from upbeat.adapters.hook_entry.answer import answer_event
from upbeat.adapters.wiring import build_application, build_journal
from upbeat.core.doctor.findings import ALL_HOOK_POINTS, STATEFUL_HOOK_POINTS, DoctorReport, HookPoint
from upbeat.core.messages.catalogue import load_messages

from .promise import Scenario, Seen, none_of

PART = "Doctor"

CLAUDE, CODEX = "claude-code", "codex-cli"
EVERY = ALL_HOOK_POINTS
TURNS, CALLS, STOPS = (frozenset({point}) for point in (HookPoint.TURNS, HookPoint.CALLS, HookPoint.END))
CONTINUES = TURNS | STOPS
PLUGIN = "upbeat@upbeat"

# Files below the folder of a home
SETTINGS, PROJECT_SETTINGS = "home/.claude/settings.json", "shop/.claude/settings.json"
PLUGIN_HOOKS = "home/.local/share/upbeat/claude/plugins/upbeat/hooks/hooks.json"
CONFIG, FAKE_CODEX = "home/.codex/config.toml", "home/.codex/fake.json"
COPIES = "home/.codex/plugins/cache/upbeat/upbeat/*"
"""Codex's copy of the plugin."""

Plant = Callable[[DoctorHome], object]


@dataclass(frozen=True)
class Planted:
    """A fault: what ``plant`` does to a home disables ``hook_points`` of ``client`` (empty: both), for ``reason``."""

    client: str
    reason: str
    hook_points: frozenset[HookPoint]
    plant: Plant


def change(name: str, **more: Any) -> Plant:
    """Put ``more`` into the JSON object in a file."""
    return lambda home: home.change(home.folder / name, **more)


def replace(name: str, old: str, new: str) -> Plant:
    """Replace what must be there in a file."""
    return lambda home: [home.replace(path, old, new) for path in home.folder.glob(name)]


def append(name: str, text: str) -> Plant:
    """Append to a file, which may not be there."""

    def plant(home: DoctorHome) -> None:
        path = home.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(text)

    return plant


def remove(name: str) -> Plant:
    """Move a file or folder elsewhere."""
    return lambda home: (home.folder / name).rename(home.folder / "moved")


def hooks_with(command: str) -> dict[str, object]:
    return {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]}


def untrust(*events: str) -> Plant:
    """Take the trust in the hooks of these events away, or in all."""

    def plant(home: DoctorHome) -> None:
        trusted = json.loads((home.folder / FAKE_CODEX).read_text())["trusted"]
        kept = {key: digest for key, digest in trusted.items() if events and key.split(":")[2] not in events}
        home.change(home.folder / FAKE_CODEX, trusted=kept)

    return plant


def without(name: str) -> Plant:
    """Go on with a session without the events called ``name``, three times."""

    def plant(home: DoctorHome) -> None:
        application = build_application(home.environment)
        for event in turn(CLAUDE, str(home.project)) * 3:
            if event["hook_event_name"] != name:
                answer_event(CLAUDE, event, application)
        application.close()

    return plant


def _rewritten(home: DoctorHome) -> None:
    """A session that goes on with a prompt after its hooks were written anew."""
    prompt = next(event for event in turn(CLAUDE, str(home.project)) if event["hook_event_name"] == "UserPromptSubmit")
    latest = build_journal(home.environment).sessions(last=2)
    [session_id] = [session.session_id for session in latest if session.client == CLAUDE]
    os.utime(home.plugin / "hooks/hooks.json")
    time.sleep(0.01)
    application = build_application(home.environment)
    answer_event(CLAUDE, prompt | {"session_id": session_id}, application)
    application.close()


def _timeless(home: DoctorHome) -> None:
    """Records that are said to be of a time that is none, or far off."""
    database = apsw.Connection(str(home.home / ".local/state/upbeat/journal.db"))
    with contextlib.closing(database), database:
        for event, at in (("TurnEnding", "9999-12-31T23:59:59.000Z"), ("PromptSubmitted", "yesterday")):
            database.execute("UPDATE records SET body = json_set(body, '$.at', ?) WHERE event = ?", (at, event))


def _unseen(home: DoctorHome) -> None:
    """A transcript of a session of which the journal has nothing."""
    folder = home.home / ".claude/projects" / str(home.project).replace("/", "-").replace(".", "-").replace("_", "-")
    folder.mkdir(parents=True)
    at = time.strftime("%Y-%m-%dT%H:%M:%S.999Z", time.gmtime(time.time() + 2))
    (folder / "0ddba11.jsonl").write_text(json.dumps({"type": "user", "timestamp": at}) + "\n")


def _break_server(home: DoctorHome) -> None:
    path = home.plugin / ".mcp.json"
    servers = json.loads(path.read_text())["mcpServers"]
    servers["upbeat"]["args"] = ["-c", "raise SystemExit('no server here')"]
    home.change(path, mcpServers=servers)


def _replace_journal(home: DoctorHome) -> None:
    """A folder where the journal was."""
    for path in (home.home / ".local/state/upbeat").glob("journal.db*"):
        path.unlink()
    (home.home / ".local/state/upbeat/journal.db").mkdir()


ONLY_UPBEAT, NO_SERVER = {PLUGIN: True}, {"disabledMcpServers": ["plugin:upbeat:upbeat"]}
OWN_SETTINGS = "home/.config/upbeat/auto-tools.toml"
FAULTS: Mapping[str, Planted] = {
    name: Planted(*fault)
    for name, *fault in (
        ("hooks switched off by the user", CLAUDE, "hooks_disabled", EVERY, change(SETTINGS, disableAllHooks=True)),
        (
            *("hooks switched off in the project", CLAUDE, "hooks_disabled", EVERY),
            change("shop/.claude/settings.local.json", disableAllHooks=True),
        ),
        (
            *("only the administrator's hooks", CLAUDE, "managed_hooks_only", EVERY),
            change("managed/managed-settings.json", allowManagedHooksOnly=True),
        ),
        ("plugin switched off", CLAUDE, "plugin_disabled", EVERY, change(SETTINGS, enabledPlugins={PLUGIN: False})),
        (
            *("plugin switched off in the project", CLAUDE, "plugin_disabled", EVERY),
            change(PROJECT_SETTINGS, enabledPlugins={PLUGIN: False}),
        ),
        ("plugin not switched on", CLAUDE, "plugin_not_enabled", EVERY, change(SETTINGS, enabledPlugins={})),
        ("plugin moved", CLAUDE, "plugin_missing", EVERY, remove("home/.local/share/upbeat/claude/plugins/upbeat")),
        (
            *("interpreter gone", CLAUDE, "program_missing", EVERY),
            replace(PLUGIN_HOOKS, '/bin/python"', '/bin/python-gone"'),
        ),
        ("a hook taken out", CLAUDE, "hooks_changed", STOPS, replace(PLUGIN_HOOKS, '"Stop": [', '"Stopp": [')),
        ("a server that does not start", CLAUDE, "server_not_connected", EVERY, _break_server),
        (
            *("the server switched off", CLAUDE, "server_disabled", EVERY),
            lambda home: home.change(home.home / ".claude.json", projects={str(home.project): NO_SERVER}),
        ),
        (
            *("hooks in the settings as well", CLAUDE, "duplicate_hooks", EVERY),
            change(SETTINGS, hooks=hooks_with("upbeat hook claude")),
        ),
        (
            *("installed from two marketplaces", CLAUDE, "duplicate_hooks", EVERY),
            change(SETTINGS, enabledPlugins=ONLY_UPBEAT | {"upbeat@mine": True}),
        ),
        (
            *("another plugin of the kind", CLAUDE, "conflicting_plugin", CONTINUES),
            change(SETTINGS, enabledPlugins=ONLY_UPBEAT | {"ot@overtone": True}),
        ),
        (
            *("another hook of the kind", CLAUDE, "conflicting_plugin", CONTINUES),
            change(SETTINGS, hooks=hooks_with("~/.claude/hooks/context-inject-global.sh")),
        ),
        ("an old Claude Code", CLAUDE, "client_too_old", EVERY, replace("bin/claude", "2.1.329", "2.0.1")),
        (
            *("a Claude Code without its interpreter", CLAUDE, "client_broken", EVERY),
            replace("bin/claude", "#!/bin/sh", "#!/gone/node"),
        ),
        ("a Claude Code that crashes", CLAUDE, "client_broken", EVERY, replace("bin/claude", 'echo "', 'exit 139 "')),
        ("no prompt arrives", CLAUDE, "not_seen_in_session", TURNS, without("UserPromptSubmit")),
        ("no end arrives", CLAUDE, "not_seen_in_session", STOPS, without("Stop")),
        ("no call arrives", CLAUDE, "not_seen_in_session", CALLS, without("PreToolUse")),
        ("hooks written anew", CLAUDE, "unproven", EVERY - TURNS, _rewritten),
        ("a session that left nothing", CLAUDE, "unrecorded_session", EVERY, _unseen),
        ("no trust", CODEX, "untrusted", EVERY, untrust()),
        ("one hook without trust", CODEX, "untrusted", CALLS, untrust("pre_tool_use")),
        (
            *("a hook edited after the review", CODEX, "trust_changed", STOPS),
            replace(f"{COPIES}/hooks/hooks.json", '"timeout": 3', '"timeout": 2'),
        ),
        ("a hook switched off", CODEX, "hook_disabled", CALLS, change(FAKE_CODEX, off=["PreToolUse"])),
        (
            *("hooks switched off in Codex", CODEX, "hooks_disabled", EVERY),
            append(CONFIG, "\n[features]\nhooks = false\n"),
        ),
        (
            *("plugin switched off in Codex", CODEX, "plugin_disabled", EVERY),
            replace(CONFIG, "enabled = true", "enabled = false"),
        ),
        (
            *("plugin unknown to Codex", CODEX, "plugin_not_enabled", EVERY),
            lambda home: (home.folder / CONFIG).write_text(""),
        ),
        ("copy of the plugin gone", CODEX, "plugin_missing", EVERY, remove("home/.codex/plugins")),
        (
            *("interpreter of Codex's hooks gone", CODEX, "program_missing", EVERY),
            replace(f"{COPIES}/.mcp.json", '/bin/python"', '/bin/python-gone"'),
        ),
        (
            *("another plugin of the kind in Codex", CODEX, "conflicting_plugin", CONTINUES),
            append(CONFIG, '\n[plugins."omo-codex@omo"]\nenabled = true\n'),
        ),
        (
            *("hooks in hooks.json as well", CODEX, "duplicate_hooks", EVERY),
            change("home/.codex/hooks.json", hooks=hooks_with("upbeat hook codex")),
        ),
        ("the server switched off in Codex", CODEX, "server_disabled", EVERY, change(FAKE_CODEX, without_server=True)),
        ("an old Codex", CODEX, "client_too_old", EVERY, change(FAKE_CODEX, version="0.149.0")),
        ("a Codex that does not start", CODEX, "client_broken", EVERY, change(FAKE_CODEX, broken=True)),
        (
            *("hooks told in another form", CODEX, "client_broken", EVERY),
            change(FAKE_CODEX, listed={"data": [{"hooks": 5}]}),
        ),
        ("records of no time", "", "unproven", CONTINUES, _timeless),
        ("nothing seen yet", "", "unproven", EVERY, DoctorHome.forget),
        ("upbeat switched off", "", "upbeat_disabled", EVERY, append(OWN_SETTINGS, 'enabled = "off"\n')),
        ("plan mode", "", "plan_mode", TURNS, append(OWN_SETTINGS, 'mode = "plan"\n')),
        ("a journal that cannot be used", "", "journal_unusable", STATEFUL_HOOK_POINTS, _replace_journal),
    )
}

OF_THE_MACHINE: Mapping[str, tuple[str, object, frozenset[HookPoint]]] = {
    "affected_sqlite": ("sqlite_version", lambda: "3.40.1", STATEFUL_HOOK_POINTS),
    "network_file_system": ("is_on_network", lambda _path: True, STATEFUL_HOOK_POINTS),
    "no_byte_code": ("is_compiled_at_each_start", lambda _module: True, EVERY),
}
"""Reason -> what this machine is made to say. The machine is not one of these, so they are not planted in it."""

SAMPLE = ("hooks switched off by the user", "a hook taken out", "no trust", "a hook edited after the review")


@contextlib.contextmanager
def armed_home() -> Iterator[DoctorHome]:
    """A home in which everything is active, and from which programs are found."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ):
        home = make_home(Path(folder).resolve() / "h")
        home.keep()
        os.environ.update(home.variables)
        managed = mock.patch.object(claude_doctor, "MANAGED_SETTINGS_FOLDER", home.folder / "managed")
        with contextlib.chdir(home.project), managed:
            yield home


def ask(home: DoctorHome) -> DoctorReport:
    """Return what the doctor says of the home."""
    return look_with_all(home.environment, ("claude", "codex"), load_messages("doctor", "en"), probe=False)


def inactive_points(report: DoctorReport, client: str) -> dict[HookPoint, set[str]]:
    """Return the hook points of ``client`` that are inactive, with the reasons."""
    hook_points = [point for status in report.clients if status.client == client for point in status.hook_points]
    return {
        point.hook_point: {str(reason.reason) for reason in point.reasons} for point in hook_points if not point.active
    }


def is_seen(report: DoctorReport, planted: Planted) -> bool:
    """Whether the hook points that the fault concerns are inactive, for its reason, and the other client's are not.

    Other hook points of the same client are active, or at most unproven, because hooks that were just written
    have not run yet.
    """
    if report.active:
        return False
    for client in (CLAUDE, CODEX):
        inactive = inactive_points(report, client)
        if planted.client not in ("", client):
            if inactive:
                return False
            continue
        concerned = {point: inactive.pop(point, set()) for point in planted.hook_points}
        if not all(planted.reason in reasons for reasons in concerned.values()):
            return False
        if any(reasons != {"unproven"} for reasons in inactive.values()):
            return False
    return True


def plant_faults(_folder: Path, names: Collection[str]) -> Iterator[Seen]:
    """Ask of a home where everything is active; plant each fault; change what this machine says of itself."""
    with armed_home() as home:
        report = ask(home)
        hook_points = [point for client in report.clients for point in client.hook_points]
        active, proven = sum(point.active for point in hook_points), sum(bool(point.proof) for point in hook_points)
        yield Seen(
            "After the installation, the review and a turn, every hook of every client is ACTIVE, each with a proof.",
            "all active",
            f"{active} of {len(hook_points)} hooks ACTIVE, {proven} with a proof",
            report.active and active == proven == len(hook_points),
        )
        missed = []
        for name in names:
            _restore(home)
            FAULTS[name].plant(home)
            missed += [] if is_seen(ask(home), FAULTS[name]) else [name]
        yield none_of(
            "Each thing that keeps hooks from upbeat is found: exactly the hooks that it concerns are INACTIVE, with"
            " its reason, and the exit code is not 0.",
            "0 missed",
            missed,
            f"missed of {len(names)} faults",
        )
        _restore(home)
        missed = []
        for reason, (name, says, hook_points_of) in OF_THE_MACHINE.items():
            with mock.patch.object(installation, name, says):
                inactive = inactive_points(ask(home), CLAUDE)
            if {point for point, reasons in inactive.items() if reason in reasons} != hook_points_of:
                missed.append(reason)
        yield none_of(
            "An SQLite with the WAL-reset bug, a network file system and missing byte code disable what they concern.",
            "0 missed",
            missed,
            f"missed of {len(OF_THE_MACHINE)}",
        )


def _restore(home: DoctorHome) -> None:
    home.restore()
    os.chdir(home.project)


SCENARIOS = (Scenario(plant_faults, SAMPLE, tuple(FAULTS)),)
