"""The past in short: calls with their outcomes for tests of backtests, and transcripts and rollouts that tell them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from upbeat.core.contract.effect import Deny, Effect
from upbeat.core.contract.event import Call, ClientName, Event, EventSource, ToolFinished, ToolKind, ToolStarting
from upbeat.core.rules.backtest import CallStatus, HistoryItem, RecordedCallEnd, RecordedEvent

AT = "2026-11-22T04:00:00.000Z"
SESSION = "6ffe2b4e-dbe5-4e3c-8540-04a1c9716b3e"


def here(session: str = "s") -> EventSource:
    """The main agent of a session."""
    return EventSource(ClientName.CLAUDE_CODE, "/home/dev/shop", session)


def call(
    command: str, fate: CallStatus | None = CallStatus.SUCCEEDED, name: str = "c", session: str = "s"
) -> list[HistoryItem]:
    """A call of the shell, and what became of it; nothing of its end without ``fate``."""
    made = Call(name, "Bash", {"command": command}, ToolKind.SHELL)
    source = here(session)
    items: list[HistoryItem] = [RecordedEvent(ToolStarting(source, made, command), AT, "/home/dev/shop")]
    if fate in (CallStatus.SUCCEEDED, CallStatus.FAILED):
        items.append(RecordedEvent(ToolFinished(source, made, "out", command), AT, "/home/dev/shop"))
    return [*items, RecordedCallEnd(session, name, fate)] if fate else items


def deny_rm(event: Event, _root: str, _at: float) -> tuple[Effect, ...]:
    """Denies what begins with ``rm``."""
    return (Deny("no"),) if isinstance(event, ToolStarting) and event.command.startswith("rm") else ()


def transcript(home: Path, calls: dict[str, tuple[str, str]], session: str = SESSION, at: str = AT) -> Path:
    """A transcript of Claude Code: call id -> (command, what it said; ``Exit code …`` is a failure)."""
    path = home / ".claude" / "projects" / "-home-dev-shop" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = []
    for name, (command, output) in calls.items():
        use = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}}
        is_error = output.startswith("Exit code")
        result = {"type": "tool_result", "tool_use_id": name, "content": output, "is_error": is_error}
        head = {"timestamp": at, "sessionId": session, "cwd": "/home/dev/shop"}
        lines.append({**head, "type": "assistant", "message": {"content": [use], "stop_reason": "tool_use"}})
        lines.append({**head, "type": "user", "message": {"content": [result]}})
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    return path
