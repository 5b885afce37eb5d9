"""Whether the doctor sees what disables upbeat: each fault is planted in a home where everything is active.

The clients are fakes that say their version and tell of their hooks; files, journal, server and installer are real.
``tests/e2e/test_doctor.py`` plants the weightiest ones in the real clients.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
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

from .promise import Seen

PART = "Doctor"

CLAUDE, CODEX = "claude-code", "codex-cli"
EVERY = ALL_HOOK_POINTS
STOPS = frozenset({HookPoint.END})
CONTINUES = frozenset({HookPoint.TURNS, HookPoint.END})
PLUGIN = "upbeat@upbeat"


@dataclass(frozen=True)
class Planted:
    """A fault: what ``plant`` does to the home disables ``guards`` of ``client`` (empty: of both), for ``reason``."""

    client: str
    reason: str
    hook_points: frozenset[HookPoint]
    plant: Callable[[DoctorHome], object]


def _hook(command: str) -> dict[str, object]:
    return {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]}


def _without(name: str) -> Callable[[DoctorHome], None]:
    """A session that went on without the events called ``name``, three times."""

    def plant(home: DoctorHome) -> None:
        application = build_application(home.environment)
        events = turn(CLAUDE, str(home.project))
        for event in [*events, *events, *events]:
            if event["hook_event_name"] != name:
                answer_event(CLAUDE, event, application)
        application.close()

    return plant


def _rewritten(home: DoctorHome) -> None:
    """A session that goes on with a prompt after its hooks were written anew."""
    prompt = next(event for event in turn(CLAUDE, str(home.project)) if event["hook_event_name"] == "UserPromptSubmit")
    latest = build_journal(home.environment).sessions(last=2)
    [session_id] = [one.session_id for one in latest if one.client == CLAUDE]
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


def _spoil_server(home: DoctorHome) -> None:
    path = home.plugin / ".mcp.json"
    found = json.loads(path.read_text())
    found["mcpServers"]["upbeat"]["args"] = ["-c", "raise SystemExit('no server here')"]
    path.write_text(json.dumps(found))


def _add_to_config(home: DoctorHome, text: str) -> None:
    path = home.codex_home / "config.toml"
    path.write_text(path.read_text() + text)


def _untrust(home: DoctorHome, *events: str) -> None:
    path = home.codex_home / "fake.json"
    found = json.loads(path.read_text())
    kept = {key: one for key, one in found["trusted"].items() if events and key.split(":")[2] not in events}
    path.write_text(json.dumps(found | {"trusted": kept}))


def _trust_again(home: DoctorHome, old: str, new: str) -> None:
    """Edit the hooks in Codex's copy."""
    home.replace(home.copy / "hooks/hooks.json", old, new)


def _other_state(home: DoctorHome) -> None:
    (home.home / ".local/state/upbeat/journal.db").unlink()
    for suffix in ("-wal", "-shm"):
        (home.home / f".local/state/upbeat/journal.db{suffix}").unlink(missing_ok=True)
    (home.home / ".local/state/upbeat/journal.db").mkdir()


def _settings_of_upbeat(home: DoctorHome, text: str) -> None:
    path = home.home / ".config/upbeat/auto-tools.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)


FAULTS: Mapping[str, Planted] = {
    "hooks switched off by the user": Planted(
        CLAUDE, "hooks_disabled", EVERY, lambda home: home.change(home.settings, disableAllHooks=True)
    ),
    "hooks switched off in the project": Planted(
        CLAUDE,
        "hooks_disabled",
        EVERY,
        lambda home: home.change(home.project / ".claude/settings.local.json", disableAllHooks=True),
    ),
    "only the administrator's hooks": Planted(
        CLAUDE,
        "managed_hooks_only",
        EVERY,
        lambda home: home.change(home.folder / "managed/managed-settings.json", allowManagedHooksOnly=True),
    ),
    "plugin switched off": Planted(
        CLAUDE, "plugin_disabled", EVERY, lambda home: home.change(home.settings, enabledPlugins={PLUGIN: False})
    ),
    "plugin switched off in the project": Planted(
        CLAUDE,
        "plugin_disabled",
        EVERY,
        lambda home: home.change(home.project / ".claude/settings.json", enabledPlugins={PLUGIN: False}),
    ),
    "plugin not switched on": Planted(
        CLAUDE, "plugin_not_enabled", EVERY, lambda home: home.change(home.settings, enabledPlugins={})
    ),
    "plugin moved": Planted(
        CLAUDE, "plugin_missing", EVERY, lambda home: home.plugin.rename(home.plugin.with_name("moved"))
    ),
    "interpreter gone": Planted(
        CLAUDE,
        "program_missing",
        EVERY,
        lambda home: home.replace(home.plugin / "hooks/hooks.json", '/bin/python"', '/bin/python-gone"'),
    ),
    "a hook taken out": Planted(
        CLAUDE,
        "hooks_changed",
        STOPS,
        lambda home: home.replace(home.plugin / "hooks/hooks.json", '"Stop": [', '"Stopp": ['),
    ),
    "a server that does not start": Planted(CLAUDE, "server_not_connected", EVERY, _spoil_server),
    "the server switched off": Planted(
        CLAUDE,
        "server_disabled",
        EVERY,
        lambda home: home.change(
            home.home / ".claude.json",
            projects={str(home.project): {"disabledMcpServers": ["plugin:upbeat:upbeat"]}},
        ),
    ),
    "hooks in the settings as well": Planted(
        CLAUDE, "duplicate_hooks", EVERY, lambda home: home.change(home.settings, hooks=_hook("upbeat hook claude"))
    ),
    "installed from two marketplaces": Planted(
        CLAUDE,
        "duplicate_hooks",
        EVERY,
        lambda home: home.change(home.settings, enabledPlugins={PLUGIN: True, "upbeat@mine": True}),
    ),
    "another plugin of the kind": Planted(
        CLAUDE,
        "conflicting_plugin",
        CONTINUES,
        lambda home: home.change(home.settings, enabledPlugins={PLUGIN: True, "ot@overtone": True}),
    ),
    "another hook of the kind": Planted(
        CLAUDE,
        "conflicting_plugin",
        CONTINUES,
        lambda home: home.change(home.settings, hooks=_hook("~/.claude/hooks/context-inject-global.sh")),
    ),
    "an old Claude Code": Planted(
        CLAUDE, "client_too_old", EVERY, lambda home: home.replace(home.bin / "claude", "2.1.329", "2.0.1")
    ),
    "a Claude Code without its interpreter": Planted(
        CLAUDE, "client_broken", EVERY, lambda home: home.replace(home.bin / "claude", "#!/bin/sh", "#!/gone/node")
    ),
    "a Claude Code that crashes": Planted(
        CLAUDE, "client_broken", EVERY, lambda home: home.replace(home.bin / "claude", 'echo "', 'exit 139 "')
    ),
    "no prompt arrives": Planted(
        CLAUDE, "not_seen_in_session", frozenset({HookPoint.TURNS}), _without("UserPromptSubmit")
    ),
    "no end arrives": Planted(CLAUDE, "not_seen_in_session", STOPS, _without("Stop")),
    "no call arrives": Planted(CLAUDE, "not_seen_in_session", frozenset({HookPoint.CALLS}), _without("PreToolUse")),
    "hooks written anew": Planted(CLAUDE, "unproven", EVERY - {HookPoint.TURNS}, _rewritten),
    "a session that left nothing": Planted(CLAUDE, "unrecorded_session", EVERY, _unseen),
    "no trust": Planted(CODEX, "untrusted", EVERY, _untrust),
    "one hook without trust": Planted(
        CODEX, "untrusted", frozenset({HookPoint.CALLS}), lambda home: _untrust(home, "pre_tool_use")
    ),
    "a hook edited after the review": Planted(
        CODEX, "trust_changed", STOPS, lambda home: _trust_again(home, '"timeout": 3', '"timeout": 2')
    ),
    "a hook switched off": Planted(
        CODEX,
        "hook_disabled",
        frozenset({HookPoint.CALLS}),
        lambda home: home.change(home.codex_home / "fake.json", off=["PreToolUse"]),
    ),
    "hooks switched off in Codex": Planted(
        CODEX, "hooks_disabled", EVERY, lambda home: _add_to_config(home, "\n[features]\nhooks = false\n")
    ),
    "plugin switched off in Codex": Planted(
        CODEX,
        "plugin_disabled",
        EVERY,
        lambda home: home.replace(home.codex_home / "config.toml", "enabled = true", "enabled = false"),
    ),
    "plugin unknown to Codex": Planted(
        CODEX, "plugin_not_enabled", EVERY, lambda home: (home.codex_home / "config.toml").write_text("")
    ),
    "copy of the plugin gone": Planted(
        CODEX, "plugin_missing", EVERY, lambda home: shutil.rmtree(home.codex_home / "plugins")
    ),
    "interpreter of Codex's hooks gone": Planted(
        CODEX,
        "program_missing",
        EVERY,
        lambda home: home.replace(home.copy / ".mcp.json", '/bin/python"', '/bin/python-gone"'),
    ),
    "another plugin of the kind in Codex": Planted(
        CODEX,
        "conflicting_plugin",
        CONTINUES,
        lambda home: _add_to_config(home, '\n[plugins."omo-codex@omo"]\nenabled = true\n'),
    ),
    "hooks in hooks.json as well": Planted(
        CODEX,
        "duplicate_hooks",
        EVERY,
        lambda home: home.change(home.codex_home / "hooks.json", hooks=_hook("upbeat hook codex")),
    ),
    "the server switched off in Codex": Planted(
        CODEX, "server_disabled", EVERY, lambda home: home.change(home.codex_home / "fake.json", without_server=True)
    ),
    "an old Codex": Planted(
        CODEX, "client_too_old", EVERY, lambda home: home.change(home.codex_home / "fake.json", version="0.149.0")
    ),
    "a Codex that does not start": Planted(
        CODEX, "client_broken", EVERY, lambda home: home.change(home.codex_home / "fake.json", broken=True)
    ),
    "records of no time": Planted("", "unproven", CONTINUES, _timeless),
    "hooks told in another form": Planted(
        CODEX,
        "client_broken",
        EVERY,
        lambda home: home.change(home.codex_home / "fake.json", listed={"data": [{"hooks": 5}]}),
    ),
    "nothing seen yet": Planted("", "unproven", EVERY, DoctorHome.forget),
    "upbeat switched off": Planted(
        "", "upbeat_disabled", EVERY, lambda home: _settings_of_upbeat(home, 'enabled = "off"\n')
    ),
    "plan mode": Planted(
        "", "plan_mode", frozenset({HookPoint.TURNS}), lambda home: _settings_of_upbeat(home, 'mode = "plan"\n')
    ),
    "a journal that cannot be used": Planted("", "journal_unusable", STATEFUL_HOOK_POINTS, _other_state),
}

OF_THE_MACHINE: Mapping[str, tuple[str, object, frozenset[HookPoint]]] = {
    "affected_sqlite": ("sqlite_version", lambda: "3.40.1", STATEFUL_HOOK_POINTS),
    "network_file_system": ("is_on_network", lambda _path: True, STATEFUL_HOOK_POINTS),
    "no_byte_code": ("is_compiled_at_each_start", lambda _module: True, EVERY),
}
"""Reason -> what this machine is made to say. The machine is not one of these, so they are not planted in it."""

IN_A_SAMPLE = ("hooks switched off by the user", "a hook taken out", "no trust", "a hook edited after the review")


@contextlib.contextmanager
def armed_home() -> Iterator[DoctorHome]:
    """A home in which everything is active, and from which programs are found."""
    with tempfile.TemporaryDirectory() as folder:
        home = make_home(Path(folder).resolve() / "h")
        home.keep()
        kept, cwd = os.environ.copy(), os.getcwd()
        os.environ.update(home.variables)
        os.chdir(home.project)
        try:
            with mock.patch.object(claude_doctor, "MANAGED_SETTINGS_FOLDER", home.folder / "managed"):
                yield home
        finally:
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(kept)


def ask(home: DoctorHome) -> DoctorReport:
    """What the doctor says of the home."""
    return look_with_all(home.environment, ("claude", "codex"), load_messages("doctor", "en"), probe=False)


def inactive_points(report: DoctorReport, client: str) -> dict[HookPoint, set[str]]:
    """The hook points of ``client`` that are inactive, with the reasons."""
    hook_points = [hook_point for one in report.clients if one.client == client for hook_point in one.hook_points]
    return {
        hook_point.hook_point: {str(reason.reason) for reason in hook_point.reasons}
        for hook_point in hook_points
        if not hook_point.active
    }


def is_seen(report: DoctorReport, planted: Planted) -> bool:
    """Whether the hook points that the fault concerns are inactive, for its reason, and the other client's are.

    Other hook points of the same client are active, or at most unproven, because hooks that were just written
    have not run yet.
    """
    clients = [planted.client] if planted.client else [CLAUDE, CODEX]
    found = {client: inactive_points(report, client) for client in (CLAUDE, CODEX)}
    told = all(
        planted.reason in found[client].get(hook_point, ()) for client in clients for hook_point in planted.hook_points
    )
    spared = not any(found[client] for client in (CLAUDE, CODEX) if client not in clients)
    others = [
        found[client][hook_point]
        for client in clients
        for hook_point in found[client]
        if hook_point not in planted.hook_points
    ]
    return told and spared and all(reasons == {"unproven"} for reasons in others) and not report.active


def try_all(home: DoctorHome, names: Iterator[str]) -> tuple[int, list[str]]:
    """Plant each fault; how many, and which were not seen."""
    missed: list[str] = []
    count = 0
    for name in names:
        home.restore()
        os.chdir(home.project)
        FAULTS[name].plant(home)
        count += 1
        if not is_seen(ask(home), FAULTS[name]):
            missed.append(name)
    return count, missed


def look(full: bool) -> Iterator[Seen]:
    """Everything active; then each fault; then what this machine is made to say of itself."""
    with armed_home() as home:
        report = ask(home)
        hook_points = [hook_point for client in report.clients for hook_point in client.hook_points]
        active = sum(hook_point.active for hook_point in hook_points)
        proven = sum(hook_point.proof is not None for hook_point in hook_points)
        yield Seen(
            "After the installation, the review and a turn, every hook point of every client is active, each with a"
            " proof.",
            "all active",
            f"{active} of {len(hook_points)} hook points active, {proven} with a proof",
            report.active and active == len(hook_points) and all(hook_point.proof for hook_point in hook_points),
        )
        count, missed = try_all(home, iter(FAULTS if full else IN_A_SAMPLE))
        yield Seen(
            "Each thing that keeps hooks from upbeat is seen: just the hook points that it concerns are INACTIVE, with"
            " its reason, and the exit code is not 0.",
            "0 missed",
            f"{len(missed)} missed of {count} faults" + "".join(f"; {name}" for name in missed),
            not missed,
        )
        home.restore()
        os.chdir(home.project)
        wrong = []
        for reason, (name, says, guards_of) in OF_THE_MACHINE.items():
            with mock.patch.object(installation, name, says):
                found = inactive_points(ask(home), CLAUDE)
            if {hook_point for hook_point, reasons in found.items() if reason in reasons} != guards_of:
                wrong.append(reason)
        yield Seen(
            "An SQLite with the WAL-reset bug, a network file system and missing byte code disable what they concern.",
            "0 missed",
            f"{len(wrong)} missed of {len(OF_THE_MACHINE)}" + "".join(f"; {name}" for name in wrong),
            not wrong,
        )
