"""Decode the JSON lines of ``codex exec``. ``decode`` is total; what it does not know is an ``UnrecognizedEvent``.

Source: recordings of 0.169.0. An *item* of type ``error`` is a warning, and a top-level ``error`` is a problem that
Codex may still recover from; only ``turn.failed`` says that the turn failed.
"""

from __future__ import annotations

import json

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.json_lines import JsonObject, exit_code_field, int_field, tool_error
from upbeat.core.json_fields import mapping_of, mappings_of, text_of


def decode(line: bytes) -> base.TurnEvent:
    """Decode one line of ``codex exec --json``."""
    try:
        fields = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return base.UnrecognizedEvent("not JSON")
    if not isinstance(fields, dict):
        return base.UnrecognizedEvent("not an object")
    kind = text_of(fields, "type")
    match kind:
        case "thread.started":
            return base.ThreadStarted(text_of(fields, "thread_id"))
        case "turn.started":
            return base.TurnStarted()
        case "turn.completed":
            usage = mapping_of(fields, "usage")
            counts = (int_field(usage, f"{kind}_tokens") for kind in ("input", "cached_input", "output"))
            return base.Completed(base.TokenUsage(*counts))
        case "turn.failed":
            return base.Failed(base.FailureReason.TURN_FAILED, text_of(mapping_of(fields, "error"), "message"))
        case "error":
            return base.Reconnecting(text_of(fields, "message"))
        case "item.started":
            return _item_started(mapping_of(fields, "item"))
        case "item.completed":
            return _item_completed(mapping_of(fields, "item"))
        case _:
            return base.UnrecognizedEvent(kind or "no type")


def _item_started(item: JsonObject) -> base.TurnEvent:
    kind, number = text_of(item, "type"), text_of(item, "id")
    match kind:
        case "command_execution":
            return base.ItemStarted(number, text_of(item, "command"))
        case "mcp_tool_call":
            return base.ItemStarted(number, _tool(item))
        case _:
            return base.ItemStarted(number, "")


def _item_completed(item: JsonObject) -> base.TurnEvent:
    kind, number = text_of(item, "type"), text_of(item, "id")
    match kind:
        case "agent_message":
            return base.Message(text_of(item, "text"))
        case "reasoning":
            return base.Reasoning(text_of(item, "text"))
        case "command_execution":
            command, output = text_of(item, "command"), text_of(item, "aggregated_output")
            return base.CommandFinished(number, command, output, exit_code_field(item, "exit_code"))
        case "file_change":
            changes = mappings_of(item, "changes")
            diffs = (base.FileDiff(text_of(change, "kind"), text_of(change, "path")) for change in changes)
            return base.FilesChanged(number, tuple(diffs), text_of(item, "status") == "failed")
        case "mcp_tool_call":
            return base.ToolCall(number, _tool(item), tool_error(item))
        case "collab_tool_call":
            return base.ToolCall(number, text_of(item, "tool"), tool_error(item))
        case "error":
            return base.WarningIssued(text_of(item, "message"))
        case _:
            return base.UnrecognizedEvent(f"item {kind or 'without type'}")


def _tool(item: JsonObject) -> str:
    return ".".join(part for part in (text_of(item, "server"), text_of(item, "tool")) if part)


_IGNORED_STDERR_LINES = ("Reading additional input from stdin...", "Reading prompt from stdin...")
_MAX_ERROR_LINES = 6


def failure_from_exit(exit_code: int, stderr: str, *, has_begun: bool) -> base.Failed:
    """Explain why Codex exited without an ending of the turn. ``has_begun``: the turn had started."""
    lines = [line for line in stderr.split("\n") if line.strip() and line.strip() not in _IGNORED_STDERR_LINES]
    last_lines = lines[-_MAX_ERROR_LINES:]
    text = "\n".join([f"exit code {exit_code}", *last_lines])
    if has_begun:
        return base.Failed(base.FailureReason.EXITED_MID_TURN, text)
    for words, reason in base.reasons_by("stderr").items():
        if matches := [line for line in lines if words in line]:
            is_configuration = reason is base.FailureReason.CODEX_CONFIG
            return base.Failed(reason, "\n".join(last_lines) if is_configuration else matches[-1])
    if exit_code == 2:
        return base.Failed(base.FailureReason.INVALID_FLAG, "\n".join(lines[:_MAX_ERROR_LINES]))
    is_exit = exit_code > 0
    return base.Failed(base.FailureReason.EXITED_BEFORE_TURN if is_exit else base.FailureReason.EXITED_MID_TURN, text)
