"""Starts the real commands, in an environment of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs

from upbeat.adapters.local.clock import SystemClock
from upbeat.adapters.local.journal import SqliteJournal

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
UPBEAT = str(BIN / "upbeat")
SHIM = ROOT / "adapters" / "shim.py"
REPORT_SCHEMA = jsonschema_rs.validator_for(
    json.loads((ROOT / "config/schema/v1/turn-report.schema.json").read_text(encoding="utf-8"))
)


@dataclass(frozen=True)
class Finished:
    """What a process left: its exit code, and both streams."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        """The one valid v1 object on stdout."""
        found: dict[str, Any] = json.loads(self.stdout)
        REPORT_SCHEMA.validate(found)
        return found

    @property
    def limits(self) -> list[str]:
        return [limit["code"] for limit in self.report["limits"]]


def environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """A whole environment: a home of its own, nothing of the caller's."""
    return {"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"} | dict(extra or {})


def run(
    command: list[str],
    cwd: Path,
    stdin: bytes | int | None = None,
    home: Path | None = None,
    timeout: float = 30,
    **extra: str,
) -> Finished:
    """Run ``command`` to its end. ``stdin`` is what it reads, or a file descriptor; nothing by default."""
    given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin or subprocess.DEVNULL}
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment(home or cwd, extra),
        capture_output=True,
        timeout=timeout,
        check=False,
        **given,
    )
    return Finished(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def upbeat(
    *arguments: str, cwd: Path, stdin: bytes | int | None = None, home: Path | None = None, **extra: str
) -> Finished:
    """Run ``upbeat ARGUMENTS``."""
    return run([UPBEAT, *arguments], cwd, stdin, home, **extra)


def read_log(home: Path) -> list[dict[str, Any]]:
    """The records in the journal below ``home``, the oldest first."""
    journal = SqliteJournal(home / ".local/state", SystemClock())
    return [dict(entry.body) for entry in journal.records(last=10**6)]
