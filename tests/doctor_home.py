"""A home with both clients in it, upbeat installed in each by its own installer, and a session of each in the journal.

The clients are fakes: one says its version, the other tells of its hooks as well. What the doctor looks at besides, the
files of the clients and the journal, is real.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from doctor_values import NOW, installation
from fakes import doctor_codex
from repositories import make_repository

from upbeat.adapters.clients.registry import CLIENT_BY_CLI_NAME
from upbeat.adapters.hook_entry.answer import answer_event
from upbeat.adapters.install.apply import apply_plan
from upbeat.adapters.install.plan import plan_install
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import build_application
from upbeat.core.doctor.diagnose import diagnose
from upbeat.core.doctor.findings import ClientSnapshot, HookPoint
from upbeat.core.messages.catalogue import load_messages


class DoctorHome:
    """The folders of one home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home, self.bin, self.project = (folder / name for name in ("home", "bin", "shop"))
        self.codex_home = self.home / ".codex"
        self.settings = self.home / ".claude/settings.json"
        self.plugin = self.home / ".local/share/upbeat/claude/plugins/upbeat"
        """Claude Code's plugin, which is used in place."""
        self.variables = {
            "HOME": str(self.home),
            "CODEX_HOME": str(self.codex_home),
            "PATH": f"{self.bin}:/usr/bin:/bin",
        }
        self.environment = read_environment(self.variables)
        self.kept: dict[Path, tuple[()] | tuple[bytes, int, int]] = {}

    @property
    def copy(self) -> Path:
        """Codex's copy."""
        [copy] = (self.codex_home / "plugins/cache/upbeat/upbeat").iterdir()
        return copy

    def change(self, path: Path, **more: Any) -> None:
        """Put ``more`` into the JSON object at ``path``."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fields = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(fields | more))

    def replace(self, path: Path, old: str, new: str) -> None:
        """Replace what must be there."""
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def review(self) -> None:
        """What a user does in Codex: trust every hook as it is now."""
        codex_program = [sys.executable, doctor_codex.__file__, "trust"]
        subprocess.run(codex_program, env={"CODEX_HOME": str(self.codex_home)}, check=True)

    def work(self) -> None:
        """A turn in each client, told to the core by its hooks."""
        for client in ("claude-code", "codex-cli"):
            application = build_application(self.environment)
            for event in turn(client, str(self.project)):
                answer_event(client, event, application)
            application.close()

    def forget(self) -> None:
        """No record is left."""
        shutil.rmtree(self.home / ".local/state")

    def keep(self) -> None:
        """Remember every file as it is now."""
        self.kept.update({path: _content(path) for path in self.folder.rglob("*")})

    def restore(self) -> None:
        """Give every file its kept content and time, and remove all others.

        The journal gets new files, because an earlier test may have it open.
        """
        for path in sorted(self.folder.rglob("*"), reverse=True):
            is_folder = path.is_dir() and not path.is_symlink()
            is_other = path not in self.kept or is_folder != (self.kept[path] == ())
            if is_other or (not is_folder and ".local/state" in str(path)):
                path.rmdir() if is_folder else path.unlink()
        for path, content in sorted(self.kept.items()):
            if not content:
                path.mkdir(exist_ok=True)
            elif not path.exists() or _content(path)[1:] != content[1:]:
                data, mode, changed_at = content
                path.write_bytes(data)
                path.chmod(mode)
                os.utime(path, ns=(changed_at, changed_at))


def _content(path: Path) -> tuple[()] | tuple[bytes, int, int]:
    """The bytes, the mode and the time of a file; nothing for a folder."""
    status = path.stat()
    return () if path.is_dir() else (path.read_bytes(), status.st_mode, status.st_mtime_ns)


def inactive_points(snapshot: ClientSnapshot) -> dict[HookPoint, set[str]]:
    """The hook points of a client that are inactive on a machine with nothing wrong, with the reasons."""
    [report] = diagnose(NOW, [snapshot], installation(), load_messages("doctor", "en")).clients
    return {
        point.hook_point: {str(reason.reason) for reason in point.reasons}
        for point in report.hook_points
        if not point.active
    }


def make_home(folder: Path) -> DoctorHome:
    """Both clients with upbeat, with trusted hooks, and a turn in each: everything is active."""
    home = DoctorHome(folder)
    for path in (home.home / ".claude", home.codex_home, home.bin, home.project):
        path.mkdir(parents=True)
    make_repository(home.project, {"a.py": "A = 1\n"})
    home.settings.write_text("{}")
    _program(home.bin / "claude", 'echo "2.1.329 (Claude Code)"')
    _program(home.bin / "codex", f'exec "{sys.executable}" "{doctor_codex.__file__}" "$@"')
    for name, client in CLIENT_BY_CLI_NAME.items():
        wanted = client.desired_installation(home.environment, "mcp")
        apply_plan(plan_install(name, wanted, home.environment, "mcp"), home.environment)
    home.review()
    home.work()
    return home


def _program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def turn(client: str, cwd: str) -> list[dict[str, Any]]:
    """The hooks of a short session."""
    common = {"session_id": f"{client}-{os.getpid()}-{time.time_ns()}", "cwd": cwd}
    call = {"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": "c-1"}
    done = {**call, "tool_response": {"stdout": "", "stderr": "", "interrupted": False}}
    agent = {"agent_id": "a-1", "agent_type": "upbeat:tester"}
    events: list[tuple[str, dict[str, Any]]] = [
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "thanks"}),
        ("PreToolUse", call),
        ("PostToolUse", done),
        ("SubagentStart", agent),
        ("SubagentStop", {**agent, "last_assistant_message": "done"}),
        ("Stop", {"last_assistant_message": "done"}),
    ]
    return [{**common, "hook_event_name": name, **fields} for name, fields in events]
