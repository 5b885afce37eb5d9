"""Does turns over the app-server transport as a script says, and prints what happens, one JSON object a line.

Run inside the namespace: ``app_server_driver.py STEPS.json``. A step is one of

    {"prompt": "…", "context": "…", "thread": "…"}    a turn (``thread`` by default the one of the step before)
    {"compact": true}  {"fork": true}  {"threads": true}  {"models": true}  {"model": "…"}  {"prepare": "…"}
    {"kill": true}     end the server with SIGKILL between turns

and a turn takes ``"answers": ["accept", …]`` (what the user says; default: there is nobody), ``"on": {"Delta":
"SIGINT"}`` (at the first such event, send that signal to this process, or "kill" to kill the server, or "close" to
read no further) and ``"idle": 2``. Lines: ``{"at": seconds, "step": 0, "event": "Delta", …}``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.app_server.transport import AppServerTransport, open_app_server
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.adapters.system.environment import WRAPPED_VARIABLE, child_variables

BEGAN = time.monotonic()


class Player:
    """Plays steps on one transport."""

    def __init__(self, transport: AppServerTransport) -> None:
        self.transport = transport
        self.thread = ""
        self.step = 0
        self.answers: list[str] = []

    def say(self, name: str, **fields: Any) -> None:
        line = {"at": round(time.monotonic() - BEGAN, 3), "step": self.step, "event": name, **fields}
        print(json.dumps(line, ensure_ascii=False, default=str), flush=True)

    def ask(self, approval: base.ApprovalRequest) -> base.ApprovalDecision:
        self.say("ApprovalRequest", **dataclasses.asdict(approval))
        return base.ApprovalDecision(self.answers.pop(0))

    def play(self, step: dict[str, Any]) -> None:
        match step:
            case {"prompt": prompt}:
                self.turn(step, base.TurnInput(prompt, step.get("context", ""), step.get("thread", self.thread)))
            case {"compact": _}:
                for event in self.transport.compact(self.thread):
                    self.say(type(event).__name__, **dataclasses.asdict(event))
            case {"fork": _}:
                self.thread = self.transport.fork(self.thread)
                self.say("Forked", thread_id=self.thread)
            case {"threads": _}:
                self.say("Threads", threads=[dataclasses.asdict(one) for one in self.transport.list_threads()])
            case {"models": _}:
                self.say("Models", models=[dataclasses.asdict(one) for one in self.transport.list_models()])
            case {"model": name}:
                self.transport.model = name
            case {"prepare": thread}:
                self.transport.preopen_thread(thread)
            case {"kill": _}:
                kill_server()
            case unknown:
                raise ValueError(f"no step {unknown}")

    def turn(self, step: dict[str, Any], ask: base.TurnInput) -> None:
        self.answers = list(step.get("answers", []))
        self.transport.ask_person = self.ask if "answers" in step else None
        awaited = dict(step.get("on", {}))
        events = self.transport.send(ask)
        for event in events:
            self.note(event)
            what = awaited.pop(type(event).__name__, "")
            if what == "kill":
                time.sleep(0.6)  # let the command that has begun have its process
                kill_server()
            elif what == "close":
                events.close()
            elif what:
                os.kill(os.getpid(), getattr(signal, what))

    def note(self, event: base.TurnEvent) -> None:
        if isinstance(event, base.ThreadStarted):
            self.thread = event.thread_id
        self.say(type(event).__name__, **dataclasses.asdict(event))


def servers() -> list[int]:
    """The processes of app-servers in this namespace."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            same = os.readlink(entry / "ns/net") == os.readlink("/proc/self/ns/net") if words else False
        except OSError:
            continue
        if same and b"app-server" in words and words[0].endswith(b"codex"):
            found.append(int(entry.name))
    return found


def kill_server() -> None:
    for number in servers():
        os.kill(number, signal.SIGKILL)


def main() -> None:
    steps = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    first = steps.pop(0) if steps and "open" in steps[0] else {"open": {}}
    program = shutil.which("codex") or ""
    with SignalHandler() as signals:
        opened = open_app_server(
            program, os.getcwd(), child_variables({WRAPPED_VARIABLE: "1"}), signals, version="0", **first["open"]
        )
        player = Player(opened)
        player.say("Open", servers=len(servers()))
        try:
            for number, step in enumerate(steps):
                player.step = number
                try:
                    player.play(step)
                except base.CodexRequestError as refused:
                    player.say("Refused", reason=refused.failure.reason, text=refused.failure.text)
        finally:
            opened.close()
        player.say("Closed", servers=len(servers()))


if __name__ == "__main__":
    main()
