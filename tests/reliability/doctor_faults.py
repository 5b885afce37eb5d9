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
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import apsw
import tomli
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


@dataclass(frozen=True)
class Planted:
    """A fault: what ``plant`` does to a home disables ``hook_points`` of ``client`` (empty: both), for ``reason``."""

    client: str
    reason: str
    hook_points: frozenset[HookPoint]
    edit: Mapping[str, Any]

    def plant(self, home: DoctorHome) -> None:
        """Do what ``doctor_faults.toml`` says to ``home``."""
        for verb, what in self.edit.items():
            path = home.folder / self.edit.get("file", str(what))
            match verb:
                case "change":
                    home.change(path, **what)
                case "replace":
                    [match] = home.folder.glob(self.edit["file"])
                    home.replace(match, *what)
                case "append":
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with path.open("a") as file:
                        file.write(what)
                case "empty":
                    path.write_text("")
                case "remove":
                    path.rename(home.folder / "removed")
                case "untrust":
                    untrust(home, what)
                case "without":
                    go_on_without(home, what)
                case "plant":
                    globals()[what](home)


def untrust(home: DoctorHome, events: Collection[str]) -> None:
    """Take the trust in the hooks of these events away, or in all."""
    path = home.codex_home / "fake.json"
    trusted = json.loads(path.read_text())["trusted"]
    kept = {key: digest for key, digest in trusted.items() if events and key.split(":")[2] not in events}
    home.change(path, trusted=kept)


def go_on_without(home: DoctorHome, name: str) -> None:
    """Go on with a session without the events called ``name``, three times."""
    application = build_application(home.environment)
    for event in turn(CLAUDE, str(home.project)) * 3:
        if event["hook_event_name"] != name:
            answer_event(CLAUDE, event, application)
    application.close()


def rewrite_hooks(home: DoctorHome) -> None:
    """Let a session go on with a prompt after its hooks were written anew."""
    prompt = next(event for event in turn(CLAUDE, str(home.project)) if event["hook_event_name"] == "UserPromptSubmit")
    latest = build_journal(home.environment).sessions(last=2)
    [session_id] = [session.session_id for session in latest if session.client == CLAUDE]
    os.utime(home.plugin / "hooks/hooks.json")
    time.sleep(0.01)
    application = build_application(home.environment)
    answer_event(CLAUDE, prompt | {"session_id": session_id}, application)
    application.close()


def spoil_times(home: DoctorHome) -> None:
    """Let records say that they are of a time that is none, or far off."""
    database = apsw.Connection(str(home.home / ".local/state/upbeat/journal.db"))
    with contextlib.closing(database), database:
        for event, at in (("TurnEnding", "9999-12-31T23:59:59.000Z"), ("PromptSubmitted", "yesterday")):
            database.execute("UPDATE records SET body = json_set(body, '$.at', ?) WHERE event = ?", (at, event))


def add_unseen_transcript(home: DoctorHome) -> None:
    """Add the transcript of a session of which the journal has nothing."""
    folder = home.home / ".claude/projects" / str(home.project).replace("/", "-").replace(".", "-").replace("_", "-")
    folder.mkdir(parents=True)
    at = time.strftime("%Y-%m-%dT%H:%M:%S.999Z", time.gmtime(time.time() + 2))
    (folder / "0ddba11.jsonl").write_text(json.dumps({"type": "user", "timestamp": at}) + "\n")


def break_server(home: DoctorHome) -> None:
    """Let the server end at its start."""
    path = home.plugin / ".mcp.json"
    servers = json.loads(path.read_text())["mcpServers"]
    servers["upbeat"]["args"] = ["-c", "raise SystemExit('no server here')"]
    home.change(path, mcpServers=servers)


def switch_server_off(home: DoctorHome) -> None:
    """Switch the server off in the project."""
    disabled = {"disabledMcpServers": ["plugin:upbeat:upbeat"]}
    home.change(home.home / ".claude.json", projects={str(home.project): disabled})


def replace_journal(home: DoctorHome) -> None:
    """Put a folder where the journal was."""
    for path in (home.home / ".local/state/upbeat").glob("journal.db*"):
        path.unlink()
    (home.home / ".local/state/upbeat/journal.db").mkdir()


def forget(home: DoctorHome) -> None:
    """Let no record be left."""
    home.forget()


def _read_faults() -> dict[str, Planted]:
    faults = tomli.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        name: Planted(
            fault.pop("client", ""),
            fault.pop("reason"),
            frozenset(map(HookPoint, fault.pop("hook_points", HookPoint))),
            fault,
        )
        for name, fault in faults.items()
    }


FAULTS = _read_faults()

OF_THE_MACHINE: Mapping[str, tuple[str, object, frozenset[HookPoint]]] = {
    "affected_sqlite": ("sqlite_version", lambda: "3.40.1", STATEFUL_HOOK_POINTS),
    "network_file_system": ("is_on_network", lambda _path: True, STATEFUL_HOOK_POINTS),
    "no_byte_code": ("is_compiled_at_each_start", lambda _module: True, ALL_HOOK_POINTS),
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
