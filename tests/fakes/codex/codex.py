"""A stand-in for ``codex exec``: a program of its own that behaves as the recordings of 0.169.0 do.

It is run as a process, never imported; only the standard library is used, so that it starts fast. ``FAKE_CODEX``
names a folder: ``script.json`` is a list of turns, one taken by each start (when they run out: one plain answer),
``calls.jsonl`` gets a line for each start, ``threads/`` holds the threads that can be resumed.

A turn is a list of actions:

``{"say": "…"}``            an agent message                    ``{"warn": "…"}``      an item of type error
``{"think": "…"}``          a reasoning item                    ``{"trouble": "…"}``   a top-level error
``{"run": "ls", "output": "…", "code": 0}``   a command, begun and ended
``{"begin": "sleep 9"}``    a command that only begins          ``{"change": [["add", "a.txt"]]}``   changed files
``{"tool": "server.name", "error": "…"}``     an MCP tool call  ``{"raw": "…"}``       a line as it stands
``{"sleep": 0.5}``          nothing for so long                 ``{"spawn": 30}``      leave a process, in the group
``{"spawn_apart": 30}``     the same in a group of its own      ``{"ignore": ["SIGINT"]}``   do not listen to these
``{"fail": "…"}``           turn.failed, exit 1                 ``{"end": 3}``         no ending; exit with that code
``{"thread": "…"}``         first only: claim this thread id    ``{"refuse": "…", "code": 1}``  first only: to stderr
``{"linger": 30}``          stay after the ending               ``{"usage": 500}``     input tokens so far
``{"spawn_daemon": 30}``    the same in a session of its own, without a parent or a pipe
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

HOME = Path(os.environ["FAKE_CODEX"])
VALUED = {"-C", "-s", "-m", "-c", "-i", "-o"}


def emit(**event: Any) -> None:
    sys.stdout.write(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def next_turn() -> list[dict[str, Any]]:
    path = HOME / "script.json"
    turns = json.loads(path.read_text()) if path.exists() else []
    if not turns:
        return [{"say": "plain answer"}]
    path.write_text(json.dumps(turns[1:]))
    return turns[0]


def refuse(text: str, code: int) -> int:
    sys.stderr.write(text + "\n")
    return code


def wanted_thread(words: list[str]) -> str | None:
    """The id behind ``resume``, or None."""
    position = 1
    while position < len(words) and words[position] != "resume":
        position += 2 if words[position] in VALUED else 1
    return words[position + 1] if position < len(words) else None


def is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def main() -> int:
    words = sys.argv[1:]
    if words == ["--version"]:
        return tell_version()
    if words == ["app-server"]:
        return refuse("error: unrecognized subcommand 'app-server'", 2)
    if "fork" in words:
        return fork(words)
    actions = next_turn()
    call = {"argv": words, "cwd": os.getcwd(), "pid": os.getpid(), "wrapped": os.environ.get("UPBEAT_WRAPPED")}
    if "refuse" in actions[0]:
        record({**call, "stdin": None})
        return refuse(actions[0]["refuse"], actions[0].get("code", 1))
    wanted = wanted_thread(words)
    threads = HOME / "threads"
    threads.mkdir(exist_ok=True)
    if wanted and is_uuid(wanted) and not (threads / wanted.lower()).exists():
        record({**call, "stdin": None})
        return refuse(
            f"Error: thread/resume: thread/resume failed: no rollout found for thread id {wanted} (code -32600)", 1
        )
    stdin = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    record({**call, "stdin": stdin})
    thread = wanted.lower() if wanted and is_uuid(wanted) else str(uuid.uuid4())
    if "thread" in actions[0]:
        thread = actions.pop(0)["thread"]
    used = int((threads / thread).read_text()) if (threads / thread).exists() else 0
    emit(type="thread.started", thread_id=thread)
    (threads / thread).write_text(str(used))
    emit(type="turn.started")
    return play(actions, threads / thread, used + 100)


def tell_version() -> int:
    """The version in the file ``version``, or the one that was recorded; ``broken`` there makes it fail."""
    path = HOME / "version"
    version = path.read_text() if path.exists() else "0.169.0"
    if version == "broken":
        return refuse("Error: Cannot find module 'codex'", 1)
    print(f"codex-cli {version}")
    return 0


def fork(words: list[str]) -> int:
    record({"argv": words, "cwd": os.getcwd(), "pid": os.getpid(), "stdin": None})
    origin = HOME / "threads" / words[-1].lower()
    if not origin.exists():
        return refuse(f"Error: thread/fork: no rollout found for thread id {words[-1]} (code -32600)", 1)
    thread = str(uuid.uuid4())
    (HOME / "threads" / thread).write_text(origin.read_text())
    emit(type="thread.started", thread_id=thread)
    return 0


def record(call: dict[str, Any]) -> None:
    with (HOME / "calls.jsonl").open("a") as file:
        file.write(json.dumps(call) + "\n")


def play(actions: list[dict[str, Any]], thread: Path, used: int) -> int:
    linger = 0.0
    for number, action in enumerate(actions):
        item: dict[str, Any] = {"id": f"item_{number}"}
        match action:
            case {"say": text}:
                emit(type="item.completed", item={**item, "type": "agent_message", "text": text})
            case {"think": text}:
                emit(type="item.completed", item={**item, "type": "reasoning", "text": text})
            case {"warn": text}:
                emit(type="item.completed", item={**item, "type": "error", "message": text})
            case {"trouble": text}:
                emit(type="error", message=text)
            case {"begin": line}:
                emit(type="item.started", item=command(item, line, "", None))
            case {"run": line}:
                emit(type="item.started", item=command(item, line, "", None))
                emit(type="item.completed", item=command(item, line, action.get("output", ""), action.get("code", 0)))
            case {"change": changes}:
                listed = [{"path": path, "kind": kind} for kind, path in changes]
                emit(
                    type="item.completed",
                    item={**item, "type": "file_change", "changes": listed, "status": "completed"},
                )
            case {"tool": name}:
                server, _, tool = name.partition(".")
                error = {"message": action["error"]} if "error" in action else None
                call = {**item, "type": "mcp_tool_call", "server": server, "tool": tool, "error": error}
                emit(type="item.started", item={**call, "error": None, "status": "in_progress"})
                emit(type="item.completed", item={**call, "status": "failed" if error else "completed"})
            case {"raw": line}:
                sys.stdout.write(line + "\n")
                sys.stdout.flush()
            case {"sleep": seconds}:
                time.sleep(seconds)
            case {"spawn": seconds}:
                subprocess.Popen(["sleep", str(seconds)])
            case {"spawn_apart": seconds}:
                subprocess.Popen(["sleep", str(seconds)], process_group=0)
            case {"spawn_daemon": seconds}:
                subprocess.run(["sh", "-c", f"setsid sleep {seconds} >/dev/null 2>&1 </dev/null &"], check=True)
            case {"ignore": names}:
                for name in names:
                    signal.signal(getattr(signal, name), signal.SIG_IGN)
            case {"usage": tokens}:
                used = tokens
            case {"linger": seconds}:
                linger = seconds
            case {"fail": text}:
                emit(type="error", message=text)
                emit(type="turn.failed", error={"message": text})
                return 1
            case {"end": code}:
                return code
            case unknown:
                raise ValueError(f"no action {unknown}")
    thread.write_text(str(used))
    usage = {"input_tokens": used, "cached_input_tokens": used // 2, "output_tokens": used // 10}
    emit(type="turn.completed", usage=usage)
    time.sleep(linger)
    return 0


def command(item: dict[str, Any], line: str, output: str, code: int | None) -> dict[str, Any]:
    shell = f"/bin/bash -lc '{line}'"
    status = "in_progress" if code is None else "failed" if code else "completed"
    fields = {"command": shell, "aggregated_output": output, "exit_code": code, "status": status}
    return {**item, "type": "command_execution", **fields}


def interrupted(number: int, _frame: object) -> None:
    """As the real one: SIGINT ends it with 1 and without an ending event."""
    os._exit(1 if number == signal.SIGINT else 128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, interrupted)
    sys.exit(main())
