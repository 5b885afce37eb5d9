"""A stand-in for ``codex app-server``: a program of its own that speaks the protocol as 0.169.0 was recorded to.

It is run as a process, never imported; only the standard library is used. ``FAKE_CODEX`` names a folder:
``server.json`` says how it behaves, ``received.jsonl`` gets every message it is sent, ``starts`` a line for each start.

``server.json`` has lists that each start, or each turn, takes one entry from: ``{"starts": [{…}], "turns": [[…]]}``.
A start: ``{"slow": 5}`` says hello late, ``{"version": "0.150.0"}``, ``{"refuse": "…"}`` no hello,
``{"exit": 1, "stderr": "…"}`` at once, ``{"stay": true}`` outlives the end of its input and SIGTERM, and
``{"resume": "…"}`` and ``{"turn": "…"}`` refuse to resume, or to start a turn, with these words.

A turn is a list of actions:

``{"say": "two words"}``     a message, streamed by words        ``{"huge": 1000000}``  a message of so many bytes
``{"run": "ls", "output": "…", "code": 0}``   a command          ``{"begin": "sleep 9"}``   one that only begins
``{"ask": "method", "params": {…}}``   waits for the answer      ``{"tell": "method", "params": {…}}``   notifies
``{"raw": "…"}``             a line as it stands                 ``{"sleep": 0.5}``     nothing for so long
``{"wait": true}``           until it is interrupted             ``{"deaf": true}``     until it is killed
``{"die": 3}``               exit with that code                 ``{"fail": "…", "info": …}``   the turn fails
``{"usage": 500}``           input tokens so far                 ``{"spawn": 30}``      a process in a group of its own
``{"spawn_daemon": 30}``     one in a session of its own, without a parent or a pipe
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any

HOME = Path(os.environ["FAKE_CODEX"])
lock = threading.Lock()


def emit(**message: Any) -> None:
    raw(json.dumps(message, ensure_ascii=False, separators=(",", ":")))


def raw(line: str) -> None:
    with lock:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def next_of(name: str, default: Any) -> Any:
    path = HOME / "server.json"
    script = json.loads(path.read_text()) if path.exists() else {}
    if not script.get(name):
        return default
    first = script[name].pop(0)
    path.write_text(json.dumps(script))
    return first


class Turn(threading.Thread):
    """One turn, played beside the reader of standard input."""

    def __init__(self, server: Server, thread_id: str) -> None:
        super().__init__(daemon=True)
        self.server = server
        self.place = {"threadId": thread_id, "turnId": str(uuid.uuid4())}
        self.interrupted = threading.Event()
        self.answers: queue.Queue[Any] = queue.Queue()
        self.usage = 100

    def run(self) -> None:
        self.tell("turn/started", turn=self.state("inProgress"))
        status, error = "completed", None
        for number, action in enumerate(next_of("turns", [{"say": "plain answer"}])):
            if "fail" in action:
                status, error = "failed", {"message": action["fail"], "codexErrorInfo": action.get("info")}
                break
            self.play(f"item_{number}", action)
            if self.interrupted.is_set():
                status = "interrupted"
                break
        counts = {"inputTokens": self.usage, "cachedInputTokens": 0, "outputTokens": 10, "totalTokens": self.usage + 10}
        self.tell("thread/tokenUsage/updated", tokenUsage={"total": counts, "last": counts, "modelContextWindow": 1000})
        self.server.turn = None
        self.tell("turn/completed", turn={**self.state(status), "error": error})

    def state(self, status: str) -> dict[str, Any]:
        return {"id": self.place["turnId"], "status": status, "items": [], "error": None}

    def tell(self, method: str, **params: Any) -> None:
        emit(method=method, params={**self.place, **params})

    def item(self, stage: str, number: str, kind: str, **fields: Any) -> None:
        self.tell(f"item/{stage}", item={"type": kind, "id": number, **fields})

    def play(self, number: str, action: dict[str, Any]) -> None:
        match action:
            case {"say": text}:
                self.item("started", number, "agentMessage", text="")
                for word in re.findall(r"\S+\s*", text):
                    self.tell("item/agentMessage/delta", itemId=number, delta=word)
                self.item("completed", number, "agentMessage", text=text)
            case {"huge": size}:
                self.item("completed", number, "agentMessage", text="x" * size)
            case {"run": line}:
                self.item("started", number, "commandExecution", command=line, status="inProgress")
                result = {"aggregatedOutput": action.get("output", ""), "exitCode": action.get("code", 0)}
                self.item("completed", number, "commandExecution", command=line, status="completed", **result)
            case {"begin": line}:
                self.item("started", number, "commandExecution", command=line, status="inProgress")
            case {"ask": method}:
                emit(id=7, method=method, params={**self.place, **action.get("params", {})})
                self.answers.get()
            case {"tell": method}:
                emit(method=method, params=action.get("params", {}))
            case {"raw": line}:
                raw(line)
            case {"sleep": seconds}:
                self.interrupted.wait(seconds)
            case {"wait": _}:
                self.interrupted.wait()
            case {"deaf": _}:
                time.sleep(1000)
            case {"spawn": seconds}:
                subprocess.Popen(["sleep", str(seconds)], process_group=0)
            case {"spawn_daemon": seconds}:
                subprocess.run(["sh", "-c", f"setsid sleep {seconds} >/dev/null 2>&1 </dev/null &"], check=True)
            case {"usage": tokens}:
                self.usage = tokens
            case {"die": code}:
                os._exit(code)
            case unknown:
                raise ValueError(f"no action {unknown}")


class Server:
    """Reads requests and answers them."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.start = start
        self.turn: Turn | None = None

    def receive(self, message: dict[str, Any]) -> None:
        with (HOME / "received.jsonl").open("a") as file:
            file.write(json.dumps(message) + "\n")
        if "method" not in message:
            if self.turn:
                self.turn.answers.put(message)
            return
        params = message.get("params") or {}
        match message["method"]:
            case "initialize":
                self.hello(message["id"])
            case "thread/start" | "thread/fork":
                self.thread(message["id"], str(uuid.uuid4()))
            case "thread/resume" if "resume" in self.start:
                self.refuse(message["id"], self.start["resume"])
            case "thread/resume":
                self.thread(message["id"], params["threadId"])
            case "thread/list":
                known = {"id": "t1", "name": None, "preview": "hi", "updatedAt": 5, "cwd": params["cwd"]}
                emit(id=message["id"], result={"data": [known, 3]})
            case "model/list":
                emit(id=message["id"], result={"data": [{"model": "m", "description": "d", "isDefault": True}]})
            case "turn/start" | "thread/compact/start" if "turn" in self.start:
                self.refuse(message["id"], self.start["turn"])
            case "turn/start" if self.turn:
                emit(id=message["id"], result={"turn": self.turn.state("inProgress")})  # this is how it steers
            case "turn/start":
                self.turn = Turn(self, params["threadId"])
                emit(id=message["id"], result={"turn": self.turn.state("inProgress")})
                self.turn.start()
            case "thread/compact/start":
                emit(id=message["id"], result={})
                self.turn = Turn(self, params["threadId"])
                self.turn.start()
            case "turn/interrupt":
                emit(id=message["id"], result={})
                if self.turn:
                    self.turn.interrupted.set()
            case "initialized":
                return
            case method:
                self.refuse(message["id"], f"no method {method}")

    def hello(self, number: int) -> None:
        time.sleep(self.start.get("slow", 0))
        if "refuse" in self.start:
            self.refuse(number, self.start["refuse"])
        else:
            version = self.start.get("version", "0.169.0")
            emit(id=number, result={"userAgent": f"codex-auto/{version} (fake)"})

    def thread(self, number: int, thread_id: str) -> None:
        effort = {"reasoningEffort": self.start["effort"]} if "effort" in self.start else {}
        emit(id=number, result={"thread": {"id": thread_id}, **effort})

    def refuse(self, number: int, text: str) -> None:
        emit(id=number, error={"code": -32600, "message": text})


def main() -> int:
    with (HOME / "starts").open("a") as file:
        file.write(json.dumps([os.getpid(), sys.argv[1:], os.environ.get("UPBEAT_WRAPPED")]) + "\n")
    start = next_of("starts", {})
    if "exit" in start:
        sys.stderr.write(start.get("stderr", "") + "\n")
        return int(start["exit"])
    if start.get("stay"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server = Server(start)
    for line in sys.stdin:
        server.receive(json.loads(line))
    while start.get("stay"):
        time.sleep(1000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
