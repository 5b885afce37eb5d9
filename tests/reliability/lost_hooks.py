"""Real hook processes, as a client starts them where no server answers, and what the journal then has of them."""

from __future__ import annotations

import json
import os
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
shim["write_stdout"](shim["answer_in_process"](sys.argv[2], shim["read_stdin"]()))
"""
UNHURRIED = [sys.executable, "-I", "-S", "-c", _UNHURRIED, str(SHIM), "claude-code"]
"""What it does where no server answers, without giving up, nor on the journal: so that a slow machine is no loss."""
GAVE_UP = b"upbeat: hook not answered in "
STATE = ".local/state"
COUNTED = {"PYTHONDONTWRITEBYTECODE": "1"}
"""For a process whose calls are counted: it writes nothing but what it is to write."""
PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a hook process left. ``milliseconds`` is from its start to its end; code 0 and no or JSON output is good."""

    code: int
    stdout: bytes
    stderr: bytes
    milliseconds: float

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


def payload(session: str, number: int, folder: Path) -> bytes:
    """One event, which its call's id tells from all others of the session."""
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


def begin(
    home: Path | None, given: bytes, folder: Path, command: list[str] | None = None, **extra: str
) -> subprocess.Popen[bytes]:
    """A hook that has been started with ``given`` on its stdin; without a ``home`` HOME is not set."""
    env = environment(home or Path("/"), extra)
    if home is None:
        del env["HOME"]
    reading, telling = os.pipe()
    os.write(telling, given)
    os.close(telling)
    process = subprocess.Popen(
        command or UNHURRIED,
        cwd=folder,
        env=env,
        stdin=reading,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(reading)
    return process


def hook(home: Path | None, given: bytes, folder: Path, command: list[str] | None = None, **extra: str) -> Answer:
    """The answer of one hook; one that does not end is killed, and its code says so."""
    began = time.perf_counter()
    process = begin(home, given, folder, command, **extra)
    try:
        stdout, stderr = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        stdout, stderr = process.communicate()
    return Answer(process.returncode, stdout, stderr, (time.perf_counter() - began) * 1000)


def recorded(home: Path) -> Counter[tuple[str, str]]:
    """Session and call of every event in the journal below ``home``, with how often it is there."""
    return Counter((body["session_id"], body["event_fields"].get("call_id", "")) for body in read_log(home))


def faults(home: Path, wanted: Iterable[tuple[str, int]], *, can_be_written: bool = True) -> Counter[str]:
    """What is wrong with the journal below ``home``, which is to have these events, by session and number."""
    found = recorded(home)
    names = {(session, f"call-{number}") for session, number in wanted}
    journal = SqliteJournal(home / STATE, SystemClock())
    health = journal.health()
    return Counter(
        lost=len(names - set(found)),
        doubled=sum(count > 1 for (_, call), count in found.items() if call),
        unreadable=int(not journal.verify().is_intact or bool(health.problem) is can_be_written),
        set_aside=len(health.damaged_files),
    )
