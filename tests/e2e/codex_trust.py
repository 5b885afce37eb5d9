"""Which hooks Codex trusts in a sandbox; trusts them all, as a user does with "Trust all" on its hooks screen."""

from __future__ import annotations

import json
from typing import Any

from .runs import run
from .sandbox import Sandbox

_CALLS = """
import json, subprocess, sys

server = subprocess.Popen(["codex", "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def send(message):
    server.stdin.write(json.dumps(message) + "\\n")
    server.stdin.flush()


def call(number, method, params):
    send({"id": number, "method": method, "params": params})
    while True:
        answer = json.loads(server.stdout.readline())
        if answer.get("id") == number and "method" not in answer:
            return answer["result"]


client = {"name": "upbeat-tests", "title": "upbeat tests", "version": "1"}
call(1, "initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
send({"method": "initialized"})
listed = call(2, "hooks/list", {"cwds": [sys.argv[1]]})
hooks = [hook for folder in listed["data"] for hook in folder["hooks"]]
if sys.argv[2] == "trust":
    state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
    edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
    call(3, "config/batchWrite", {"edits": [edit]})
listed = call(4, "hooks/list", {"cwds": [sys.argv[1]]})
server.stdin.close()
server.wait(10)
print(json.dumps([hook for folder in listed["data"] for hook in folder["hooks"]]))
"""


def trust_all_hooks(sandbox: Sandbox) -> dict[str, str]:
    """Trust all hooks as they are now; the answer maps each hook's key to its new trust status."""
    return _statuses(sandbox, "trust")


def hook_statuses(sandbox: Sandbox) -> dict[str, str]:
    """The trust status of each hook, by its key."""
    return _statuses(sandbox, "list")


def _statuses(sandbox: Sandbox, what: str) -> dict[str, str]:
    done = run(sandbox, ["python3", "-c", _CALLS, str(sandbox.repository), what])
    assert done.exit_code == 0, done.stderr
    hooks: list[dict[str, Any]] = json.loads(done.stdout)
    return {hook["key"]: hook["trustStatus"] for hook in hooks}
