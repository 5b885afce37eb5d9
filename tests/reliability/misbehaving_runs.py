"""Turns that ask a server that misbehaves beside one that does not; says what it saw, one JSON object a run.

    python -m reliability.misbehaving_runs FOLDER NUMBER …

Run by ``misbehaving_servers``. Each run is a session of its own: the whole application answers prompts until it is
plain what becomes of the server, and ends.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fakes.hostile_mcp_server import HOWS
from own_servers import hostile, settings
from repositories import PROMPT

from upbeat.adapters.hook_entry.answer import answer_event
from upbeat.adapters.mcp_client import ServerLifetime
from upbeat.adapters.mcp_client.connection import ConnectionState
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import Application, build_application

from .bare_wait import BareWait
from .orphans import Memory, adopt, left_over

LIMIT_MS = 500
MOST_TURNS = 5
READY_SECONDS = 10.0
NOT_READY_SECONDS = 0.5
"""How long is waited for a server that will never be there."""


def main(folder: Path, numbers: list[int]) -> None:
    can_adopt = adopt()
    memory, bare = Memory(), BareWait()
    one_run("behaves", folder, memory, bare)  # the first pays for what is loaded
    for number in numbers:
        how = HOWS[number % len(HOWS)]
        print(json.dumps(one_run(how, folder, memory, bare) | {"how": how, "adopts": can_adopt}), flush=True)
    bare.close()


def one_run(how: str, folder: Path, memory: Memory, bare: BareWait) -> dict[str, Any]:
    home = Path(tempfile.mkdtemp(dir=folder))
    settings(home, hostile(how, f"timeout_ms = {LIMIT_MS}") + hostile("behaves", name="fine"))
    memory.begin()
    application = build_application(read_environment({"HOME": str(home)}), server_lifetime=ServerLifetime.SESSION)
    application.warm_up_servers(str(folder / "repo"))
    _await(application, how)
    turns = [_turn(application, str(folder / "repo"), bare) for _ in range(2)]
    while len(turns) < MOST_TURNS and turns[-1]["tools"]["odd.search"][0] == "timeout":
        turns.append(_turn(application, str(folder / "repo"), bare))
    started = time.monotonic()
    application.close()
    return {
        "turns": turns,
        "close": time.monotonic() - started,
        "megabytes": memory.most(),
        "left": len(left_over(bare.pid)),
    }


def _await(application: Application, how: str) -> None:
    assert application.user_servers
    connections = [connection for _, connection in application.user_servers._connections.values()]
    never = "hangs at the start" in how or "hangs at the list" in how
    end = time.monotonic() + READY_SECONDS
    early = time.monotonic() + NOT_READY_SECONDS
    while any(connection.state is ConnectionState.STARTING for connection in connections) and time.monotonic() < end:
        others = [connection for connection in connections if connection.name != "odd"]
        if never and time.monotonic() > early and all(one.state is not ConnectionState.STARTING for one in others):
            return
        time.sleep(0.01)


def _turn(application: Application, cwd: str, bare: BareWait) -> dict[str, Any]:
    """One prompt: what the record says of the tools, what was put before the model, and the times."""
    fields = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": cwd, "prompt": PROMPT}
    started = time.monotonic()
    output = answer_event("claude-code", fields, application)
    ended = time.monotonic()
    (entry,) = application.runtime.journal.records(last=1)
    said = next((one for one in entry.body["explanations"] if one["component"] == "turn"), {})
    tools = dict(line.split(": ", 1) for line in said.get("inputs", {}).get("tools", []))
    return {
        "tools": {name: _parsed(text) for name, text in tools.items() if "." in name},
        "because": said.get("reason", ""),
        "served": "served" in json.dumps(output),
        "bare": bare.late(started, ended) * 1000,
    }


def _parsed(text: str) -> tuple[str, int]:
    """Status and milliseconds of ``ok, 12 ms``."""
    status, _, took = text.partition(", ")
    return status, int(took.removesuffix(" ms"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), list(map(int, sys.argv[2:])))
