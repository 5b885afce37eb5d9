"""Measure what upbeat adds to a turn, compared with the start of well-known programs.

    python -m benchmarks.turn [--quick] [ROUNDS]

Every contender runs once per round, in turn, so that other load on the machine affects all of them. Prints medians and
the ratio to ``python3 -I -S -c pass``. The repository is this checkout; the home is a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from upbeat.adapters.hook_entry import shim
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import build_application
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.engine.pipeline import TurnRequest, prepare_turn

from . import ROOT, SOURCE

PYTHON = sys.executable
ISOLATED = ("-s", "-P")
"""As ``-I``, but with ``PYTHONPATH``, which names this checkout."""
SHIM = str(Path(shim.__file__).resolve())
BASE = "python3 -I -S -c pass"
ABOUT_CODE = "where does the thread runner keep the deadline of a tool?"
ROUNDS = 25
SMALL_TALK = "thanks, that is all for today"

Contender = Callable[[], None]


class Server(AbstractContextManager["Server"]):
    """A running ``upbeat mcp``, asked as a client asks it."""

    def __init__(self, state: str) -> None:
        command = [PYTHON, *ISOLATED, "-m", "upbeat", "mcp", "--client", "claude-code"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=variables(state)
        )
        self._number = 0
        self._ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        self.hook(ABOUT_CODE)  # the first one waits until everything is loaded

    def __exit__(self, *_exception: object) -> None:
        self._process.communicate(timeout=10)

    def hook(self, prompt: str) -> None:
        """One UserPromptSubmit over the MCP route."""
        self._ask("tools/call", {"name": "hook", "arguments": payload(prompt)})

    def _ask(self, method: str, params: dict[str, Any]) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._number
        assert "result" in answer, answer


def variables(state: str) -> dict[str, str]:
    """Return the environment of a contender, with ``state`` as home."""
    return os.environ | {"HOME": state, "XDG_STATE_HOME": state, "PYTHONPATH": str(SOURCE)}


def payload(prompt: str) -> dict[str, str]:
    """The hook payload of a client for ``prompt``."""
    fields = {"hook_event_name": "UserPromptSubmit", "session_id": "bench", "cwd": str(ROOT)}
    return fields | {"prompt": prompt, "agent_id": "", "source": ""}


def process(*command: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Contender:
    """A contender that is a process from start to end."""

    def run() -> None:
        subprocess.run(command, input=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, env=env)

    return run


def contenders(server: Server, state: str) -> dict[str, Contender]:
    """Everything that is compared, by the name that the table shows."""
    env = variables(state)
    hook = (PYTHON, *ISOLATED, "-S", SHIM)
    prepare = (PYTHON, *ISOLATED, "-m", "upbeat", "prepare", "--prompt")
    code, talk = (json.dumps(payload(prompt)).encode() for prompt in (ABOUT_CODE, SMALL_TALK))
    node = {"node -e 0": process("node", "-e", "0")} if shutil.which("node") else {}
    return {
        "/bin/true": process("/bin/true"),
        BASE: process(PYTHON, "-I", "-S", "-c", "pass"),
        "python3 -c pass": process(PYTHON, "-c", "pass"),
        **node,
        "MCP route, small talk": lambda: server.hook(SMALL_TALK),
        "MCP route, about code": lambda: server.hook(ABOUT_CODE),
        "command hook -> server, small talk": process(*hook, "claude-code", stdin=talk, env=env),
        "command hook -> server, about code": process(*hook, "claude-code", stdin=code, env=env),
        "command hook alone, small talk": process(*hook, "codex-cli", stdin=talk, env=env),
        "command hook alone, about code": process(*hook, "codex-cli", stdin=code, env=env),
        "upbeat prepare, small talk": process(*prepare, SMALL_TALK, env=env),
        "upbeat prepare, about code": process(*prepare, ABOUT_CODE, env=env),
        "upbeat prepare --plan": process(*prepare, ABOUT_CODE, "--plan", env=env),
    }


def measure(runners: dict[str, Contender], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each contender in each round."""
    times: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(rounds):
        for name, run in runners.items():
            started = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - started) * 1000)
    return times


class Tools:
    """The tools themselves, in this process: what of a prepared turn is looking up, and what is upbeat's own."""

    def __init__(self, state: str) -> None:
        environment = read_environment({"HOME": state, "XDG_STATE_HOME": state})
        self._runtime = build_application(environment).runtime
        self._request = TurnRequest(EventSource(ClientName.CLAUDE_CODE, str(ROOT)), ABOUT_CODE)
        self.looking_up: list[float] = []
        self.run()
        self.looking_up.clear()

    def run(self) -> None:
        """Prepare the turn, and keep how long the slowest tool took: they run at the same time."""
        report = prepare_turn(self._request, self._runtime)
        self.looking_up.append(max(result.duration_ms for result in report.tool_results))


def table(times: dict[str, list[float]]) -> str:
    """Medians and ratios as a Markdown table."""
    base = statistics.median(times[BASE])
    rows = ["| what | median ms | x python3 -I -S | fastest ms |", "|---|---:|---:|---:|"]
    for name, taken in times.items():
        median = statistics.median(taken)
        rows.append(f"| {name} | {median:.1f} | {median / base:.2f} | {min(taken):.1f} |")
    return "\n".join(rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    parser.add_argument("--quick", action="store_true", help="one round")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    with tempfile.TemporaryDirectory() as state, Server(state) as server:
        tools = Tools(state)
        times = measure(contenders(server, state) | {"a turn in process, about code": tools.run}, rounds)
    whole = times["a turn in process, about code"]
    times["  of it the tools' own time"] = tools.looking_up
    times["  of it upbeat's own"] = [all_of_it - part for all_of_it, part in zip(whole, tools.looking_up, strict=True)]
    print(table(times))


if __name__ == "__main__":
    main()
