"""Decode the JSON lines of ``codex exec``. ``decode`` is total; what it does not know is an ``UnrecognizedEvent``.

Source: recordings of 0.169.0. An *item* of type ``error`` is a warning, and a top-level ``error`` is a problem that
Codex may still recover from; only ``turn.failed`` says that the turn failed.
"""

from __future__ import annotations

import json

from upbeat.adapters.codex.transport.base import (
    CommandFinished,
    Completed,
    Failed,
    FailureReason,
    FileDiff,
    FilesChanged,
    ItemStarted,
    Message,
    Reasoning,
    Reconnecting,
    ThreadStarted,
    TokenUsage,
    ToolCall,
    TurnEvent,
    TurnStarted,
    UnrecognizedEvent,
    WarningIssued,
)
from upbeat.adapters.codex.transport.json_lines import (
    JsonObject,
    exit_code_field,
    int_field,
    object_field,
    objects_in,
    string_field,
    tool_error,
)


def decode(line: bytes) -> TurnEvent:
    """Decode one line of ``codex exec --json``."""
    try:
        fields = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return UnrecognizedEvent("not JSON")
    if not isinstance(fields, dict):
        return UnrecognizedEvent("not an object")
    kind = string_field(fields, "type")
    match kind:
        case "thread.started":
            return ThreadStarted(string_field(fields, "thread_id"))
        case "turn.started":
            return TurnStarted()
        case "turn.completed":
            usage = object_field(fields, "usage")
            counts = (int_field(usage, f"{kind}_tokens") for kind in ("input", "cached_input", "output"))
            return Completed(TokenUsage(*counts))
        case "turn.failed":
            return Failed(FailureReason.TURN_FAILED, string_field(object_field(fields, "error"), "message"))
        case "error":
            return Reconnecting(string_field(fields, "message"))
        case "item.started":
            return _item_started(object_field(fields, "item"))
        case "item.completed":
            return _item_completed(object_field(fields, "item"))
        case _:
            return UnrecognizedEvent(kind or "no type")


def _item_started(item: JsonObject) -> TurnEvent:
    kind, number = string_field(item, "type"), string_field(item, "id")
    match kind:
        case "command_execution":
            return ItemStarted(number, string_field(item, "command"))
        case "mcp_tool_call":
            return ItemStarted(number, _tool(item))
        case _:
            return ItemStarted(number, "")


def _item_completed(item: JsonObject) -> TurnEvent:
    kind, number = string_field(item, "type"), string_field(item, "id")
    match kind:
        case "agent_message":
            return Message(string_field(item, "text"))
        case "reasoning":
            return Reasoning(string_field(item, "text"))
        case "command_execution":
            command, output = string_field(item, "command"), string_field(item, "aggregated_output")
            return CommandFinished(number, command, output, exit_code_field(item, "exit_code"))
        case "file_change":
            changes = objects_in(item.get("changes"))
            diffs = tuple(FileDiff(string_field(change, "kind"), string_field(change, "path")) for change in changes)
            return FilesChanged(number, diffs, string_field(item, "status") == "failed")
        case "mcp_tool_call":
            return ToolCall(number, _tool(item), tool_error(item))
        case "collab_tool_call":
            return ToolCall(number, string_field(item, "tool"), tool_error(item))
        case "error":
            return WarningIssued(string_field(item, "message"))
        case _:
            return UnrecognizedEvent(f"item {kind or 'without type'}")


def _tool(item: JsonObject) -> str:
    return ".".join(part for part in (string_field(item, "server"), string_field(item, "tool")) if part)


_REASON_BY_STDERR = (
    ("no rollout found", FailureReason.NO_ROLLOUT),
    (".jsonl is empty", FailureReason.NO_ROLLOUT),  # Codex was killed before it wrote the first line of the thread
    ("already has an active writer", FailureReason.ACTIVE_WRITER),
    ("is archived", FailureReason.ARCHIVED),
    ("Error loading config", FailureReason.CODEX_CONFIG),
    ("Input exceeds the maximum length", FailureReason.PROMPT_TOO_LONG),
)
"""What Codex prints to standard error when it refuses a turn before it starts."""

_IGNORED_STDERR_LINES = ("Reading additional input from stdin...", "Reading prompt from stdin...")
_MAX_ERROR_LINES = 6


def failure_from_exit(exit_code: int, stderr: str, *, has_begun: bool) -> Failed:
    """Explain why Codex exited without an ending of the turn. ``has_begun``: the turn had started."""
    lines = [line for line in stderr.split("\n") if line.strip() and line.strip() not in _IGNORED_STDERR_LINES]
    if not has_begun:
        for words, why in _REASON_BY_STDERR:
            if words in stderr:
                matches = [line for line in lines if words in line]
                return Failed(
                    why, "\n".join(lines[-_MAX_ERROR_LINES:]) if why is FailureReason.CODEX_CONFIG else matches[-1]
                )
        if exit_code == 2:
            return Failed(FailureReason.INVALID_FLAG, "\n".join(lines[:_MAX_ERROR_LINES]))
        if exit_code > 0:
            text = "\n".join([f"exit code {exit_code}", *lines[-_MAX_ERROR_LINES:]])
            return Failed(FailureReason.EXITED_BEFORE_TURN, text)
    return Failed(FailureReason.EXITED_MID_TURN, "\n".join([f"exit code {exit_code}", *lines[-_MAX_ERROR_LINES:]]))
