"""Turns that ask a server that misbehaves beside one that does not; says what it saw, one JSON object a run.

    python -m reliability.misbehaving_runs FOLDER NUMBER …

Run by ``misbehaving_servers``. Each run is a session of its own: the whole application answers prompts until it is
plain what becomes of the server, and ends.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from fakes.hostile_mcp_server import HOWS
from own_servers import hostile, settings
from repositories import PROMPT

from upbeat.adapters.external import Use
from upbeat.adapters.external.connection import State
from upbeat.adapters.hook import answer
from upbeat.adapters.local.environment import read_environment
from upbeat.adapters.wiring import Application, build

from .orphans import Memory, adopt, left_over

LIMIT_MS = 500
MOST_TURNS = 5
READY_SECONDS = 10.0
NOT_READY_SECONDS = 0.5
"""How long is waited for a server that will never be there."""


class BareWait:
    """What a wait of ``LIMIT_MS`` takes longer than that, beside whatever else goes on: the machine's own share."""

    def __init__(self) -> None:
        self.most = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        while not self._over.is_set():
            started = time.monotonic()
            self._over.wait(LIMIT_MS / 1000)
            if not self._over.is_set():
                self.most = max(self.most, time.monotonic() - started - LIMIT_MS / 1000)

    def end(self) -> float:
        self._over.set()
        self._thread.join()
        return self.most * 1000


def main(folder: Path, numbers: list[int]) -> None:
    can_adopt = adopt()
    memory = Memory()
    one_run("behaves", folder, memory)  # the first pays for what is loaded
    for number in numbers:
        how = HOWS[number % len(HOWS)]
        print(json.dumps(one_run(how, folder, memory) | {"how": how, "adopts": can_adopt}), flush=True)


def one_run(how: str, folder: Path, memory: Memory) -> dict[str, Any]:
    home = Path(tempfile.mkdtemp(dir=folder))
    settings(home, hostile(how, f"timeout_ms = {LIMIT_MS}") + hostile("behaves", name="fine"))
    memory.begin()
    application = build(read_environment({"HOME": str(home)}), use=Use.SESSION)
    application.warm_up(str(folder / "repo"))
    _await(application, how)
    turns = [_turn(application, str(folder / "repo")) for _ in range(2)]
    while len(turns) < MOST_TURNS and turns[-1]["tools"]["odd.search"][0] == "timeout":
        turns.append(_turn(application, str(folder / "repo")))
    started = time.monotonic()
    application.close()
    return {
        "turns": turns,
        "close": time.monotonic() - started,
        "megabytes": memory.most(),
        "left": len(left_over()),
    }


def _await(application: Application, how: str) -> None:
    assert application.servers
    connections = [connection for _, connection in application.servers._connections.values()]
    never = "hangs at the start" in how or "hangs at the list" in how
    end = time.monotonic() + READY_SECONDS
    early = time.monotonic() + NOT_READY_SECONDS
    while any(connection.state is State.STARTING for connection in connections) and time.monotonic() < end:
        others = [connection for connection in connections if connection.name != "odd"]
        if never and time.monotonic() > early and all(one.state is not State.STARTING for one in others):
            return
        time.sleep(0.01)


def _turn(application: Application, cwd: str) -> dict[str, Any]:
    """One prompt: what the record says of the tools, what was put before the model, and the times."""
    fields = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": cwd, "prompt": PROMPT}
    bare, started = BareWait(), time.monotonic()
    output = answer("claude-code", fields, application)
    seconds = time.monotonic() - started
    late = bare.end()
    (entry,) = application.runtime.journal.records(last=1)
    said = next((one for one in entry.body["said"] if one["part"] == "turn"), {})
    tools = dict(line.split(": ", 1) for line in said.get("looked_at", {}).get("tools", []))
    return {
        "tools": {name: _parsed(text) for name, text in tools.items() if "." in name},
        "because": said.get("because", ""),
        "served": "served" in json.dumps(output),
        "seconds": seconds,
        "bare": late,
    }


def _parsed(text: str) -> tuple[str, int]:
    """Status and milliseconds of ``ok, 12 ms``."""
    status, _, took = text.partition(", ")
    return status, int(took.removesuffix(" ms"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), list(map(int, sys.argv[2:])))
