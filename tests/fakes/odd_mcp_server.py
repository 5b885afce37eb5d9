"""Servers that go wrong in one way each: ``odd_mcp_server.py HOW [FILE]``. Standard library only, to start at once.

FILE, where given, gets a line with the pid for each start.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

TOOL = {"name": "search", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
    sys.stdout.flush()


def flood(piece: bytes, count: int) -> None:
    for _ in range(count):
        os.write(1, piece)


def begin(how: str) -> None:
    """What happens before the first message."""
    match how:
        case "hangs":
            time.sleep(60)
        case "refuses":
            sys.stderr.write(
                "Traceback (most recent call last):\nValueError: no licence for aws AKIA" + "Q3EGRRZ7ZKD5LMNO\n"
            )
            raise SystemExit(3)
        case "garbage":
            flood(b"this is no message\n" * 100, 100)
            time.sleep(60)
        case "banner":
            sys.stdout.write("Welcome to the odd server!\n\n\xff\n")
            sys.stdout.flush()
        case "one long line":
            flood(b"x" * 1_000_000, 50)
            time.sleep(60)
        case "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            subprocess.Popen([sys.executable, "-I", "-S", "-c", STUBBORN])
        case "complains":
            os.set_blocking(2, True)
            sys.stderr.write("complaint\n" * 1_000_000)


STUBBORN = (
    "import signal, time\n"
    "for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
    "time.sleep(60)"
)


def called(how: str, number: object) -> None:
    match how:
        case "dies":
            os._exit(7)
        case "floods":
            note = (
                b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"'
                + b"x" * 900
                + b'"}}\n'
            )
            flood(note * 50, 1200)
            time.sleep(60)
        case "is slow":
            return
        case "lies":
            say({"id": number, "result": {"content": "nothing of the kind"}})
        case "changes":
            say({"method": "notifications/tools/list_changed"})
            say({"id": number, "result": {"content": [{"type": "text", "text": "found"}]}})
        case "evil schema":
            result = {"content": [{"type": "text", "text": "found"}], "structuredContent": {"a": "a" * 60 + "!"}}
            say({"id": number, "result": result})
        case "asks back":
            say({"id": "own", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}})
            answer = json.loads(sys.stdin.readline())
            text = "refused" if "error" in answer else "served"
            say({"id": number, "result": {"content": [{"type": "text", "text": text}]}})
        case _:
            say({"id": number, "result": {"content": [{"type": "text", "text": "found"}]}})


def main() -> None:
    how = sys.argv[1]
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
    begin(how)
    lists = 0
    while line := sys.stdin.readline():
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                about = {"name": "odd", "version": "1"}
                result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
                say({"id": message["id"], "result": result})
            case "tools/list":
                lists += 1
                tool = TOOL | {"description": f"Version {lists if how == 'changes' else 1}."}
                if how == "has a new description":
                    tool["description"] = "Searches, and more.\u202e"
                if how == "evil schema":
                    tool["outputSchema"] = {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}}
                say({"id": message["id"], "result": {"tools": [tool]}})
            case "tools/call":
                called(how, message["id"])
            case _ if "id" in message and "method" in message:
                say({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
    if how == "stubborn":
        time.sleep(60)


if __name__ == "__main__":
    main()
