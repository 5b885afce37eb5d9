"""Codex's JSON lines as events. Law: ``decode`` and ``diagnose`` are total; what they do not know is ``Unknown``.

Source: recordings of 0.169.0. Two traps are settled here: an *item* of type ``error`` is a warning, and a
top-level ``error`` is trouble that Codex may still get over; only ``turn.failed`` says that the turn failed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .transport import (
    Began,
    Change,
    CommandRun,
    Completed,
    Event,
    Failed,
    FileChange,
    Message,
    Reasoning,
    ThreadStarted,
    ToolCall,
    Trouble,
    TurnStarted,
    Unknown,
    Usage,
    Warned,
    Why,
)

MAX_LINE = 64 * 1024 * 1024
"""Bytes of one line that are kept; Codex itself stays near one mebibyte."""

_Fields = Mapping[str, Any]


class Lines:
    """Puts chunks of bytes together into lines. Only ``\\n`` ends a line: the texts hold raw U+2028 and U+0085."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that ``chunk`` completes, without their ends."""
        self._rest += chunk
        while (end := self._rest.find(b"\n", self._searched)) >= 0:
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            self._searched = 0
            yield line
        self._searched = len(self._rest)
        if self._searched > MAX_LINE:
            self._rest.clear()
            self._searched = 0

    def rest(self) -> bytes:
        """What came after the last line end."""
        return bytes(self._rest)


def decode(line: bytes) -> Event:
    """The event in one line of ``codex exec --json``."""
    try:
        fields = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Unknown("not JSON")
    if not isinstance(fields, dict):
        return Unknown("not an object")
    kind = _text(fields, "type")
    match kind:
        case "thread.started":
            return ThreadStarted(_text(fields, "thread_id"))
        case "turn.started":
            return TurnStarted()
        case "turn.completed":
            return Completed(_usage(_inner(fields, "usage")))
        case "turn.failed":
            return Failed(Why.TURN, _text(_inner(fields, "error"), "message"))
        case "error":
            return Trouble(_text(fields, "message"))
        case "item.started":
            return _begun(_inner(fields, "item"))
        case "item.completed":
            return _done(_inner(fields, "item"))
        case _:
            return Unknown(kind or "no type")


def _begun(item: _Fields) -> Event:
    kind, number = _text(item, "type"), _text(item, "id")
    match kind:
        case "command_execution":
            return Began(number, _text(item, "command"))
        case "mcp_tool_call":
            return Began(number, _tool(item))
        case _:
            return Began(number, "")


def _done(item: _Fields) -> Event:
    kind, number = _text(item, "type"), _text(item, "id")
    match kind:
        case "agent_message":
            return Message(_text(item, "text"))
        case "reasoning":
            return Reasoning(_text(item, "text"))
        case "command_execution":
            code = item.get("exit_code")
            return CommandRun(
                number,
                _text(item, "command"),
                _text(item, "aggregated_output"),
                code if isinstance(code, int) and not isinstance(code, bool) else None,
            )
        case "file_change":
            return FileChange(number, _changes(item.get("changes")), _text(item, "status") == "failed")
        case "mcp_tool_call":
            return ToolCall(number, _tool(item), _problem(item))
        case "collab_tool_call":
            return ToolCall(number, _text(item, "tool"), _problem(item))
        case "error":
            return Warned(_text(item, "message"))
        case _:
            return Unknown(f"item {kind or 'without type'}")


def _tool(item: _Fields) -> str:
    return ".".join(part for part in (_text(item, "server"), _text(item, "tool")) if part)


def _problem(item: _Fields) -> str:
    message = _text(_inner(item, "error"), "message")
    return message or ("failed" if _text(item, "status") == "failed" else "")


def _changes(raw: Any) -> tuple[Change, ...]:
    if not isinstance(raw, list):
        return ()
    return tuple(Change(_text(one, "kind"), _text(one, "path")) for one in raw if isinstance(one, dict))


def _usage(fields: _Fields) -> Usage:
    return Usage(_count(fields, "input_tokens"), _count(fields, "cached_input_tokens"), _count(fields, "output_tokens"))


def _count(fields: _Fields, name: str) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _text(fields: _Fields, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _inner(fields: _Fields, name: str) -> _Fields:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


_REFUSALS = (
    ("no rollout found", Why.NO_ROLLOUT),
    (".jsonl is empty", Why.NO_ROLLOUT),  # it was killed before it had written the first line of the thread
    ("already has an active writer", Why.ACTIVE_WRITER),
    ("is archived", Why.ARCHIVED),
    ("Error loading config", Why.CODEX_CONFIG),
    ("Input exceeds the maximum length", Why.TOO_LONG),
)
"""Words on stderr with which Codex refuses a turn before it begins."""

_NOISE = ("Reading additional input from stdin...", "Reading prompt from stdin...")
_SHOWN_LINES = 6


def diagnose(exit_code: int, stderr: str, *, began: bool) -> Failed:
    """Why a Codex that has ended without an ending of its own did so. ``began``: the turn had started."""
    lines = [line for line in stderr.split("\n") if line.strip() and line.strip() not in _NOISE]
    if not began:
        for words, why in _REFUSALS:
            if words in stderr:
                told = [line for line in lines if words in line]
                return Failed(why, "\n".join(lines[-_SHOWN_LINES:]) if why is Why.CODEX_CONFIG else told[-1])
        if exit_code == 2:
            return Failed(Why.USAGE, "\n".join(lines[:_SHOWN_LINES]))
        if exit_code > 0:
            told = [f"exit code {exit_code}", *lines[-_SHOWN_LINES:]]
            return Failed(Why.NOT_STARTED, "\n".join(told))
    said = "\n".join(lines[-_SHOWN_LINES:])
    return Failed(Why.NO_ENDING, "\n".join(part for part in (f"exit code {exit_code}", said) if part))
