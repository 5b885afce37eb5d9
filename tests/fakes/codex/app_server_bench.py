"""A folder with a fake app-server, and transports on it: what their tests need around them."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from processes import command_lines_with

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.app_server.transport import AppServerTransport, open_app_server
from upbeat.adapters.codex.transport.signals import SignalHandler

PROGRAM = Path(__file__).with_name("app_server.py")
THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
DONE = base.Completed(base.TokenUsage(100, 0, 10))


@dataclass
class Bench:
    """A fake app-server, and the transports that were opened on it."""

    folder: Path
    signals: SignalHandler
    opened: list[AppServerTransport] = field(default_factory=list)

    def script(self, *turns: list[dict[str, Any]], starts: list[dict[str, Any]] | None = None) -> None:
        (self.folder / "server.json").write_text(json.dumps({"turns": turns, "starts": starts or []}))

    def open(self, **options: Any) -> AppServerTransport:
        variables = {"FAKE_CODEX": str(self.folder), "PATH": "/usr/bin:/bin", "UPBEAT_WRAPPED": "1"}
        given = {"version": "1.0", "idle_seconds": 60.0, **options}
        program = given.pop("program", str(self.folder / "codex"))
        made = open_app_server(program, str(self.folder), variables, self.signals, **given)
        self.opened.append(made)
        return made

    def turn(self, *actions: dict[str, Any], ask: base.TurnInput | None = None, **options: Any) -> list[base.TurnEvent]:
        """All events of one turn on a new server."""
        self.script(list(actions))
        return list(self.open(**options).send(ask or base.TurnInput("hello")))

    def received(self, method: str) -> list[dict[str, Any]]:
        path = self.folder / "received.jsonl"
        lines = [json.loads(line) for line in path.read_text().split("\n") if line] if path.exists() else []
        return [line.get("params", {}) for line in lines if line.get("method") == method]

    def answers(self) -> list[dict[str, Any]]:
        lines = (self.folder / "received.jsonl").read_text().split("\n")
        return [answer for line in lines if line and "method" not in (answer := json.loads(line))]

    def starts(self) -> list[list[Any]]:
        path = self.folder / "starts"
        return [json.loads(line) for line in path.read_text().split("\n") if line] if path.exists() else []

    def alive(self) -> list[list[str]]:
        """Command lines of what was started here and still lives."""
        return command_lines_with(f"FAKE_CODEX={self.folder}")


@contextlib.contextmanager
def app_server_bench(folder: Path) -> Iterator[Bench]:
    """A bench below ``folder``; in the end nothing of it may live."""
    program = folder / "codex"
    program.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{PROGRAM.read_text()}")
    program.chmod(0o755)
    with SignalHandler() as signals:
        bench = Bench(folder, signals)
        yield bench
        for transport in bench.opened:
            transport.close()
        assert [] == bench.alive()


def run_turn(transport: AppServerTransport, prompt: str = "hello", **fields: Any) -> list[base.TurnEvent]:
    """All events of one turn on the thread of the tests."""
    return list(transport.send(base.TurnInput(prompt, **{"thread_id": THREAD, **fields})))


def without_place(events: list[base.TurnEvent]) -> list[base.TurnEvent]:
    """What happened, without the thread and the tokens that come with every turn."""
    return [
        event for event in events if not isinstance(event, base.ThreadStarted | base.TurnStarted | base.WindowUsage)
    ]


def act_at(events: Iterator[base.TurnEvent], kind: type, do: Callable[[], object]) -> list[base.TurnEvent]:
    """All of ``events``; at the first of ``kind``, something is done."""
    seen: list[base.TurnEvent] = []
    for event in events:
        if isinstance(event, kind) and not any(isinstance(earlier, kind) for earlier in seen):
            do()
        seen.append(event)
    return seen


def to_ourselves(number: int) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)
