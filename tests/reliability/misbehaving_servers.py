"""A server of the user's own tools may do what it likes: a turn, the other servers and the machine do not feel it."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fakes.hostile_mcp_server import HOWS
from own_servers import hostile, settings
from repositories import PROMPT, make_repository

from upbeat.adapters.hook_entry.answer import answer_event
from upbeat.adapters.mcp_client import ServerLifetime
from upbeat.adapters.mcp_client.connection import ConnectionState
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import Application, build_application

from .machine import BareWait, Memory, adopt, in_time, left_over
from .promise import Scenario, Seen, none_of
from .workers import shared

PART = "Servers that misbehave"
FORGIVEN = {
    *("behaves", "wrong ids", "answers twice", "NaN", "lists without end", "a large list"),
    *("asks for sampling", "asks for elicitation", "asks for roots", "asks for anything"),
    *("ignores SIGTERM", "becomes a daemon", "forks", "forks, ignores SIGTERM"),
}
"""What still gives an answer: it is taken, and nothing is done that was asked for."""
EITHER = {"list_changed 2000 times"}
"""Answers in time on an idle machine."""
SAMPLE = (
    *("100 MB in a line", "many blocks", "hangs at the call"),
    *("asks for sampling", "forks at the call", "changes its schema"),
)
LIMIT_MS = 500
MOST_MEGABYTES = 250
CLOSE_SECONDS = 4.0
MOST_TURNS = 5
READY_SECONDS = 10.0
NOT_READY_SECONDS = 0.5
"""How long is waited for a server that will never be there."""


def runs(folder: str, numbers: list[int]) -> Iterator[dict[str, Any]]:
    """Run a session beside one kind after the other, in a process of its own; yield what was seen of each."""
    can_adopt, memory, bare = adopt(), Memory(), BareWait()
    _run_session("behaves", folder, memory, bare)  # the first pays for what is loaded
    for number in numbers:
        how = HOWS[number % len(HOWS)]
        yield _run_session(how, folder, memory, bare) | {"how": how, "adopts": can_adopt}
    bare.close()


def _run_session(how: str, folder: str, memory: Memory, bare: BareWait) -> dict[str, Any]:
    """Let the whole application answer prompts until it is plain what becomes of the server."""
    home = Path(tempfile.mkdtemp(dir=folder))
    settings(home, hostile(how, f"timeout_ms = {LIMIT_MS}") + hostile("behaves", name="fine"))
    memory.begin()
    application = build_application(read_environment({"HOME": str(home)}), server_lifetime=ServerLifetime.SESSION)
    application.warm_up_servers(f"{folder}/repo")
    _wait_for_servers(application, how)
    turns = [_turn(application, f"{folder}/repo", bare) for _ in range(2)]
    while len(turns) < MOST_TURNS and turns[-1]["tools"]["odd.search"][0] == "timeout":
        turns.append(_turn(application, f"{folder}/repo", bare))
    started = time.monotonic()
    application.close()
    close = time.monotonic() - started
    return {"turns": turns, "close": close, "megabytes": memory.most(), "left": left_over(bare.pid)}


def _wait_for_servers(application: Application, how: str) -> None:
    assert application.user_servers
    is_never_ready = "hangs at the start" in how or "hangs at the list" in how
    connections = [connection for _, connection in application.user_servers._connections.values()]
    awaited = [connection for connection in connections if connection.name != "odd" or not is_never_ready]
    end = time.monotonic() + READY_SECONDS
    while any(connection.state is ConnectionState.STARTING for connection in awaited) and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(NOT_READY_SECONDS if is_never_ready else 0)


def _turn(application: Application, cwd: str, bare: BareWait) -> dict[str, Any]:
    """Answer one prompt; return what the record says of the tools, what was put before the model, and the times."""
    fields = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": cwd, "prompt": PROMPT}
    started = time.monotonic()
    output = answer_event("claude-code", fields, application)
    ended = time.monotonic()
    (entry,) = application.runtime.journal.records(last=1)
    turn = next((part for part in entry.body["explanations"] if part["component"] == "turn"), {})
    tools = dict(line.split(": ", 1) for line in turn.get("inputs", {}).get("tools", []))
    return {
        "tools": {name: _status_and_ms(text) for name, text in tools.items() if "." in name},
        "because": "; ".join(turn.get("inputs", {}).get("limits", [])),
        "served": "served" in json.dumps(output),
        "bare": bare.late(started, ended),
    }


def _status_and_ms(text: str) -> tuple[str, int]:
    """Parse ``ok, 12 ms``."""
    status, _, took = text.partition(", ")
    return status, int(took.removesuffix(" ms"))


def try_servers(folder: Path, numbers: Sequence[int]) -> Iterator[Seen]:
    """Run a session beside each of these kinds of servers."""
    make_repository(folder / "repo")
    sessions = shared(runs, folder, numbers)
    missing = len(numbers) - len(sessions)
    yield in_time(
        f"A server that hangs, floods, breaks off or lies costs a turn the limit of its tool ({LIMIT_MS} ms)",
        [
            (turn["tools"]["odd.search"][1] - LIMIT_MS, turn["bare"], run["how"])
            for run in sessions
            for turn in run["turns"]
        ],
        missing,
        "calls",
    )
    fine = [turn["tools"].get("fine.search", ["not asked", 0]) for run in sessions for turn in run["turns"]]
    answered = sum(status == "ok" for status, _ in fine)
    yield Seen(
        "Another server that is asked in the same turn answers",
        "all turns",
        f"{answered:,} of {len(fine):,} turns in {len(sessions):,} sessions",
        answered == len(fine) and not missing,
    )
    yield from _consequences(sessions)
    most, slowest = max(run["megabytes"] for run in sessions), max(run["close"] for run in sessions)
    yield Seen(
        "Its output uses bounded memory, 100 MB in one line, in many lines or as data among it",
        f"at most {MOST_MEGABYTES} MB in the whole process",
        f"{most} MB at most",
        most <= MOST_MEGABYTES,
    )
    left = sum(run["left"] for run in sessions)
    yield Seen(
        "At the end of a session no process is left, of those that forked, became daemons and ignored SIGTERM",
        f"0 processes, at most {CLOSE_SECONDS:.0f} s",
        f"{left} after {len(sessions):,} sessions, slowest end {slowest:.1f} s",
        left == 0 and slowest <= CLOSE_SECONDS and all(run["adopts"] for run in sessions),
    )


def _consequences(sessions: list[dict[str, Any]]) -> Iterator[Seen]:
    failing = [run for run in sessions if run["how"] not in FORGIVEN | EITHER]
    silent = [run["how"] for run in failing if not _is_off(run["turns"][-1])]
    yield none_of(
        "Its tool is off then, and the turn's limits and the log say why; a changed declaration is never asked",
        "all sessions",
        silent,
        f"without that of {len(failing):,} sessions, {len({run['how'] for run in failing})} kinds",
    )
    forgiven = [run for run in sessions if run["how"] in FORGIVEN]
    served = [run["how"] for run in sessions if any(turn["served"] for turn in run["turns"])]
    lost = [run["how"] for run in forgiven if run["turns"][0]["tools"]["odd.search"][0] != "ok"]
    yield none_of(
        "What it asks of us (sampling, elicitation, roots) is refused, and its answer taken all the same",
        "0 served, 0 answers lost",
        [*served, *lost],
        f"served or lost of {len(forgiven):,} answers",
    )


def _is_off(turn: dict[str, Any]) -> bool:
    return turn["tools"]["odd.search"][0] in ("skipped", "error") and "odd.search (" in turn["because"]


SCENARIOS = (Scenario(try_servers, [HOWS.index(how) for how in SAMPLE], range(1000)),)
