"""Real hook processes, as a client starts them where no server answers, and what the journal then has of them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from processes import SHIM, environment, read_log

from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.journal.store import SqliteJournal

HOOK = [sys.executable, "-I", "-S", str(SHIM), "claude-code"]
"""The command hook as it is installed: it gives up after nine seconds, and says so."""
_UNHURRIED = """
import runpy, site, sys
site.main()
from upbeat.adapters.system.journal import store as journal
journal.BUSY_TIMEOUT_SECONDS = 600
shim = runpy.run_path(sys.argv[1])
shim["answer_in_process"](sys.argv[2], shim["read_stdin"]())
"""
UNHURRIED = [sys.executable, "-I", "-S", "-c", _UNHURRIED, str(SHIM), "claude-code"]
"""What it does where no server answers, without giving up, nor on the journal: so that a slow machine is no loss."""
GAVE_UP = b"upbeat: hook not answered in "
STATE = ".local/state"
COUNTED = {"PYTHONDONTWRITEBYTECODE": "1"}
"""For a process whose calls are counted: it writes nothing but what it is to write."""
PATIENCE = 300.0

Event = tuple[str, int]
"""A session, and a number that tells the event from all others of the session."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a process left. For a hook code 0 and no or JSON output is good."""

    code: int
    stdout: bytes
    stderr: bytes
    milliseconds: float = 0.0
    """From its start to its end."""

    @property
    def gave_up(self) -> bool:
        """Whether it ended before it had an answer: its event is not acknowledged."""
        return self.stderr.startswith(GAVE_UP)

    @property
    def is_good(self) -> bool:
        try:
            return self.code == 0 and (not self.stdout or isinstance(json.loads(self.stdout), dict))
        except ValueError:
            return False


def payload(event: Event, folder: Path) -> bytes:
    """Return one event, whose call's id is its number."""
    session, number = event
    fields = {
        "hook_event_name": "PostToolUse",
        "session_id": session,
        "cwd": str(folder),
        "transcript_path": "",
        "tool_name": "Bash",
        "tool_use_id": f"call-{number}",
        "tool_input": {"command": "make test"},
        "tool_response": {"stdout": "some words " * 30, "stderr": ""},
    }
    return json.dumps(fields).encode()


def hook(home: Path | None, event: Event, folder: Path, command: list[str] | None = None, **extra: str) -> Answer:
    """Run one hook to its end; without a ``home`` HOME is not set. One that does not end is killed, with code -9."""
    env = environment(home or Path("/"), extra)
    if home is None:
        del env["HOME"]
    began = time.perf_counter()
    try:
        done = subprocess.run(
            command or UNHURRIED,
            cwd=folder,
            env=env,
            input=payload(event, folder),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(-9, b"", b"", PATIENCE * 1000)
    return Answer(done.returncode, done.stdout, done.stderr, (time.perf_counter() - began) * 1000)


def faults(home: Path, wanted: Iterable[Event], *, can_be_written: bool = True) -> Counter[str]:
    """Return what is wrong with the journal below ``home``, which is to have these events."""
    calls = Counter((body["session_id"], body["event_fields"].get("call_id", "")) for body in read_log(home))
    names = {(session, f"call-{number}") for session, number in wanted}
    journal = SqliteJournal(home / STATE, SystemClock())
    health = journal.health()
    return Counter(
        lost=len(names - set(calls)),
        duplicated=sum(count > 1 for (_, call), count in calls.items() if call),
        unreadable=int(not journal.verify().is_intact or bool(health.problem) is can_be_written),
        set_aside=len(health.damaged_files),
    )
