"""Decode notifications of ``codex app-server``. ``decode`` is total; unknown notifications have no events.

Source: recordings and the JSON schema of 0.169.0. Only the modules of this package know field names of the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.json_lines import JsonObject, exit_code_field, int_field, tool_error
from upbeat.core.json_fields import mapping_of, mappings_of, text_of, texts_of


@dataclass(frozen=True, slots=True)
class ServerTurnStarted:
    """A turn started on the thread."""


@dataclass(frozen=True, slots=True)
class ServerTurnEnded:
    """The turn ended: completed, interrupted, or failed with ``failure``."""

    status: str
    failure: base.Failed | None = None


@dataclass(frozen=True, slots=True)
class TokenUsageUpdated:
    """Token counts of the whole thread."""

    usage: base.TokenUsage


@dataclass(frozen=True, slots=True)
class ThreadClosed:
    """The server closed the thread."""


@dataclass(frozen=True, slots=True)
class HiddenProgress:
    """Progress that is not shown."""


ServerEvent = base.TurnEvent | ServerTurnStarted | ServerTurnEnded | TokenUsageUpdated | ThreadClosed | HiddenProgress


@dataclass(frozen=True, slots=True)
class DecodedNotification:
    """The events of one notification, with its thread and turn; both may be empty."""

    thread_id: str
    turn_id: str
    events: tuple[ServerEvent, ...]


def decode(method: str, fields: JsonObject) -> DecodedNotification:
    """Decode the notification ``method`` with ``fields``."""
    turn = mapping_of(fields, "turn")
    thread_id, turn_id = text_of(fields, "threadId"), text_of(fields, "turnId") or text_of(turn, "id")
    reader = _DECODERS.get(method)
    return DecodedNotification(thread_id, turn_id, reader(fields) if reader else ())


def failure_reason_from_info(info: Any) -> base.FailureReason:
    """Return why a turn failed; ``info`` is the protocol's ``codexErrorInfo``, of any type."""
    name, status = _kind_and_status(info)
    if reason := base.reasons_by("error_names").get(name):
        return reason
    if status is not None:
        default = base.FailureReason.PROVIDER_ERROR if status >= 500 else base.FailureReason.TURN_FAILED
        return base.reasons_by("http_statuses").get(str(status), default)
    return base.reasons_by("connection_errors").get(name, base.FailureReason.TURN_FAILED)


def file_diffs_from_item(item: JsonObject) -> tuple[base.FileDiff, ...]:
    """Return the file changes of an item of type ``fileChange``."""
    return tuple(
        base.FileDiff(
            text_of(mapping_of(change, "kind"), "type"),
            text_of(change, "path"),
            text_of(change, "diff"),
            text_of(mapping_of(change, "kind"), "move_path"),
        )
        for change in mappings_of(item, "changes")
    )


# --- failures ---


def _kind_and_status(info: Any) -> tuple[str, int | None]:
    """Return the name of the error, and its HTTP status, if any."""
    if isinstance(info, dict) and info:
        name = next(iter(info))
        status = mapping_of(info, name).get("httpStatusCode")
        return str(name), status if isinstance(status, int) and not isinstance(status, bool) else None
    return (info, None) if isinstance(info, str) else ("", None)


def _error_text(error: JsonObject, separator: str) -> str:
    parts = (text_of(error, "message"), text_of(error, "additionalDetails"))
    return separator.join(part for part in parts if part)


# --- notifications ---


def _turn_ended(fields: JsonObject) -> tuple[ServerEvent, ...]:
    turn = mapping_of(fields, "turn")
    status, error = text_of(turn, "status"), mapping_of(turn, "error")
    if status != "failed":
        return (ServerTurnEnded(status),)
    failure = base.Failed(failure_reason_from_info(error.get("codexErrorInfo")), _error_text(error, "\n"))
    return (ServerTurnEnded(status, base.classify_failure(failure)),)


def _error(fields: JsonObject) -> tuple[ServerEvent, ...]:
    """Decode an error that Codex retries; a final one comes with the end of the turn."""
    is_retried = fields.get("willRetry") is True
    return (base.Reconnecting(_error_text(mapping_of(fields, "error"), " · ")),) if is_retried else ()


def _tokens(fields: JsonObject) -> tuple[ServerEvent, ...]:
    usage = mapping_of(fields, "tokenUsage")
    total, last = mapping_of(usage, "total"), mapping_of(usage, "last")
    used = base.TokenUsage(
        int_field(total, "inputTokens"), int_field(total, "cachedInputTokens"), int_field(total, "outputTokens")
    )
    return (
        TokenUsageUpdated(used),
        base.WindowUsage(int_field(last, "totalTokens"), int_field(usage, "modelContextWindow")),
    )


def _plan(fields: JsonObject) -> tuple[ServerEvent, ...]:
    steps = mappings_of(fields, "plan")
    plan = (base.PlanStep(text_of(step, "step"), text_of(step, "status")) for step in steps)
    return (base.PlanUpdated(tuple(plan)),)


def _hook(fields: JsonObject) -> tuple[ServerEvent, ...]:
    """Decode the messages of a hook. Its context is for the model, and is not shown."""
    run = mapping_of(fields, "run")
    entries = (entry for entry in mappings_of(run, "entries") if text_of(entry, "kind") != "context")
    texts = [text_of(entry, "text") for entry in entries]
    return tuple(base.WarningIssued(f"hook {text_of(run, 'eventName')}: {text}") for text in texts if text)


def _model_rerouted(fields: JsonObject) -> tuple[ServerEvent, ...]:
    former, new, reason = (text_of(fields, name) for name in ("fromModel", "toModel", "reason"))
    return (base.WarningIssued(f"model {former} → {new} ({reason})"),)


def _server_status(fields: JsonObject) -> tuple[ServerEvent, ...]:
    if text_of(fields, "status") != "failed":
        return ()
    name, error = text_of(fields, "name"), text_of(fields, "error")
    return (base.WarningIssued(f"MCP server {name} did not start: {error}"),)


def _warning(*names: str) -> Callable[[JsonObject], tuple[ServerEvent, ...]]:
    """Return a decoder for a notification whose fields ``names`` are text for the user."""

    def read(fields: JsonObject) -> tuple[ServerEvent, ...]:
        text = " ".join(part for part in (text_of(fields, name) for name in names) if part)
        return (base.WarningIssued(text),) if text else ()

    return read


# --- items ---


def _item_started(fields: JsonObject) -> tuple[ServerEvent, ...]:
    item = mapping_of(fields, "item")
    kind, number = text_of(item, "type"), text_of(item, "id")
    match kind:
        case "commandExecution":
            return (base.ItemStarted(number, text_of(item, "command")),)
        case "mcpToolCall" | "dynamicToolCall" | "collabAgentToolCall" | "webSearch":
            return (base.ItemStarted(number, _tool(item)),)
        case "fileChange":
            return (base.ItemStarted(number, ""),)
        case _:
            return (HiddenProgress(),)


def _item_completed(fields: JsonObject) -> tuple[ServerEvent, ...]:
    item = mapping_of(fields, "item")
    kind, number, status = (text_of(item, name) for name in ("type", "id", "status"))
    match kind:
        case "agentMessage" | "plan":
            return (base.Message(text_of(item, "text"), number),)
        case "reasoning":
            parts = [part for part in texts_of(item, "summary") if part] or texts_of(item, "content")
            text = "\n".join(part for part in parts if part)
            return (base.Reasoning(text),) if text else (HiddenProgress(),)
        case "commandExecution":
            command, output = text_of(item, "command"), text_of(item, "aggregatedOutput")
            exit_code = exit_code_field(item, "exitCode")
            return (base.CommandFinished(number, command, output, exit_code, is_declined=status == "declined"),)
        case "fileChange":
            return (base.FilesChanged(number, file_diffs_from_item(item), status in ("failed", "declined")),)
        case "mcpToolCall" | "dynamicToolCall" | "collabAgentToolCall" | "webSearch":
            return (base.ToolCall(number, _tool(item), tool_error(item)),)
        case "contextCompaction":
            return (base.ThreadCompacted(),)
        case _:
            return (HiddenProgress(),)


def _tool(item: JsonObject) -> str:
    if text_of(item, "type") == "webSearch":
        return f"web_search {json.dumps(text_of(item, 'query'), ensure_ascii=False)}"
    parts = (text_of(item, "server") or text_of(item, "namespace"), text_of(item, "tool"))
    return ".".join(part for part in parts if part)


_DECODERS: dict[str, Callable[[JsonObject], tuple[ServerEvent, ...]]] = {
    "turn/started": lambda _: (ServerTurnStarted(),),
    "turn/completed": _turn_ended,
    "turn/plan/updated": _plan,
    "item/started": _item_started,
    "item/completed": _item_completed,
    "item/agentMessage/delta": lambda fields: (base.Delta(text_of(fields, "itemId"), text_of(fields, "delta")),),
    "item/mcpToolCall/progress": lambda _: (HiddenProgress(),),
    "error": _error,
    "thread/tokenUsage/updated": _tokens,
    "thread/closed": lambda _: (ThreadClosed(),),
    "thread/archived": lambda _: (ThreadClosed(),),
    "thread/deleted": lambda _: (ThreadClosed(),),
    "hook/started": lambda _: (HiddenProgress(),),
    "hook/completed": _hook,
    "model/rerouted": _model_rerouted,
    "mcpServer/startupStatus/updated": _server_status,
    "warning": _warning("message"),
    "guardianWarning": _warning("message"),
    "configWarning": _warning("summary", "details"),
    "deprecationNotice": _warning("summary", "details"),
    "modelProvider/authRecoveryStarted": _warning("message"),
}

KNOWN_METHODS = frozenset(_DECODERS)
"""The notifications that are decoded."""

OPT_OUT_METHODS = (
    "account/rateLimits/updated",
    "command/exec/outputDelta",
    "item/commandExecution/outputDelta",
    "item/commandExecution/terminalInteraction",
    "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated",
    "item/plan/delta",
    "item/reasoning/summaryPartAdded",
    "item/reasoning/summaryTextDelta",
    "item/reasoning/textDelta",
    "process/outputDelta",
    "remoteControl/status/changed",
    "thread/readState/changed",
    "turn/diff/updated",
)
"""Frequent notifications that the server is asked not to send."""
