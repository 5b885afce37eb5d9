"""The lines that Codex writes into its own record of a thread, as 0.169.0 was recorded to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = "01a1fd22-2e35-7171-9ad9-1ee82ac1d505"
AGENT = "01a1fd22-2eb6-7512-978b-90b823e8bb64"
DAY = "2026/11/21"


def line(kind: str, **payload: Any) -> str:
    return json.dumps({"timestamp": "then", "ordinal": 1, "type": kind, "payload": payload}) + "\n"


def item(thread_id: str, turn_id: str, what: str, /, **fields: Any) -> str:
    completed = {"type": what, **fields}
    return line(
        "event_msg", type="item_completed", thread_id=thread_id, turn_id=turn_id, item=completed, completed_at_ms=5000
    )


def command(thread_id: str, turn_id: str, call_id: str, words: list[str], code: int | None) -> str:
    return item(
        thread_id, turn_id, "CommandExecution", id=call_id, command=words, exit_code=code, aggregated_output="hi\n"
    )


def call(call_id: str, namespace: str, **arguments: str) -> str:
    given = json.dumps(arguments)
    return line(
        "response_item", type="function_call", name="spawn_agent", namespace=namespace, call_id=call_id, arguments=given
    )


def ended(turn_id: str, message: str | None, kind: str = "task_complete") -> str:
    return line("event_msg", type=kind, turn_id=turn_id, last_agent_message=message)


def spawned(call_id: str, agent_id: str) -> str:
    return item(
        ROOT, "t1", "CollabAgentToolCall", id=call_id, tool="spawn_agent", receiver_thread_ids=[agent_id], prompt="x"
    )


def write(home: Path, thread_id: str, *lines: str) -> Path:
    path = home / "sessions" / DAY / f"rollout-2026-11-21T08-03-58-{thread_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(lines)
    return path
