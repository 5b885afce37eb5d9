"""Decode notifications of ``codex app-server``. ``decode`` is total; unknown notifications have no events.

Source: recordings and the JSON schema of 0.169.0. Only the modules of this package know field names of the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from upbeat.adapters.codex.transport.app_server.rpc import JsonObject
from upbeat.adapters.codex.transport.base import (
    CommandFinished,
    Delta,
    Failed,
    FailureReason,
    FileDiff,
    FilesChanged,
    ItemStarted,
    Message,
    PlanStep,
    PlanUpdated,
    Reasoning,
    Reconnecting,
    ThreadCompacted,
    TokenUsage,
    ToolCall,
    TurnEvent,
    WarningIssued,
    WindowUsage,
)
from upbeat.adapters.codex.transport.exec.failures import classify_failure
from upbeat.adapters.codex.transport.json_fields import int_field, object_field, string_field


@dataclass(frozen=True, slots=True)
class ServerTurnStarted:
    """A turn started on the thread."""


@dataclass(frozen=True, slots=True)
class ServerTurnEnded:
    """The turn ended: completed, interrupted, or failed with ``failure``."""

    status: str
    failure: Failed | None = None


@dataclass(frozen=True, slots=True)
class TokenUsageUpdated:
    """Token counts of the whole thread."""

    usage: TokenUsage


@dataclass(frozen=True, slots=True)
class ThreadClosed:
    """The server closed the thread."""


@dataclass(frozen=True, slots=True)
class HiddenProgress:
    """Progress that is not shown."""


ServerEvent = TurnEvent | ServerTurnStarted | ServerTurnEnded | TokenUsageUpdated | ThreadClosed | HiddenProgress


@dataclass(frozen=True, slots=True)
class DecodedNotification:
    """The events of one notification, with its thread and turn; both may be empty."""

    thread_id: str
    turn_id: str
    events: tuple[ServerEvent, ...]


def decode(method: str, fields: JsonObject) -> DecodedNotification:
    """Decode the notification ``method`` with ``fields``."""
    turn = object_field(fields, "turn")
    thread_id, turn_id = string_field(fields, "threadId"), string_field(fields, "turnId") or string_field(turn, "id")
    reader = _DECODERS.get(method)
    return DecodedNotification(thread_id, turn_id, reader(fields) if reader else ())


def failure_reason_from_info(info: Any) -> FailureReason:
    """Return why a turn failed; ``info`` is the protocol's ``codexErrorInfo``, of any type."""
    name, status = _kind_and_status(info)
    if name in _REASON_BY_ERROR_NAME:
        return _REASON_BY_ERROR_NAME[name]
    if status is not None:
        return _REASON_BY_HTTP_STATUS.get(
            status, FailureReason.PROVIDER_ERROR if status >= 500 else FailureReason.TURN_FAILED
        )
    return _REASON_BY_CONNECTION_ERROR.get(name, FailureReason.TURN_FAILED)


def file_diffs_from_item(item: JsonObject) -> tuple[FileDiff, ...]:
    """Return the file changes of an item of type ``fileChange``."""
    raw = item.get("changes")
    found = [one for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []
    return tuple(
        FileDiff(string_field(object_field(one, "kind"), "type"), string_field(one, "path"), string_field(one, "diff"))
        for one in found
    )


# --- failures ---

_REASON_BY_ERROR_NAME = {
    "contextWindowExceeded": FailureReason.CONTEXT_FULL,
    "sessionBudgetExceeded": FailureReason.QUOTA_EXCEEDED,
    "usageLimitExceeded": FailureReason.QUOTA_EXCEEDED,
    "rateLimitExceeded": FailureReason.RATE_LIMITED,
    "flexUnavailable": FailureReason.PROVIDER_ERROR,
    "serverOverloaded": FailureReason.PROVIDER_ERROR,
    "policyCapacityUnavailable": FailureReason.PROVIDER_ERROR,
    "internalServerError": FailureReason.PROVIDER_ERROR,
    "unauthorized": FailureReason.UNAUTHORIZED,
    "badRequest": FailureReason.BAD_REQUEST,
    "modelNotFound": FailureReason.BAD_REQUEST,
}
_REASON_BY_HTTP_STATUS = {
    400: FailureReason.BAD_REQUEST,
    401: FailureReason.UNAUTHORIZED,
    402: FailureReason.QUOTA_EXCEEDED,
    403: FailureReason.UNAUTHORIZED,
    404: FailureReason.BAD_REQUEST,
    429: FailureReason.RATE_LIMITED,
}
_REASON_BY_CONNECTION_ERROR = {
    "httpConnectionFailed": FailureReason.PROVIDER_ERROR,
    "responseStreamConnectionFailed": FailureReason.PROVIDER_ERROR,
    "responseTooManyFailedAttempts": FailureReason.PROVIDER_ERROR,
    "responseStreamDisconnected": FailureReason.STREAM_DISCONNECTED,
}


def _kind_and_status(info: Any) -> tuple[str, int | None]:
    """Return the name of the error, and its HTTP status, if any."""
    if isinstance(info, dict) and info:
        name = next(iter(info))
        status = object_field(info, name).get("httpStatusCode")
        return str(name), status if isinstance(status, int) and not isinstance(status, bool) else None
    return (info, None) if isinstance(info, str) else ("", None)


def _failure(error: JsonObject) -> Failed:
    text = "\n".join(
        part for part in (string_field(error, "message"), string_field(error, "additionalDetails")) if part
    )
    return classify_failure(Failed(failure_reason_from_info(error.get("codexErrorInfo")), text))


# --- notifications ---


def _turn_ended(fields: JsonObject) -> tuple[ServerEvent, ...]:
    turn = object_field(fields, "turn")
    status = string_field(turn, "status")
    return (ServerTurnEnded(status, _failure(object_field(turn, "error")) if status == "failed" else None),)


def _error(fields: JsonObject) -> tuple[ServerEvent, ...]:
    """Decode an error that Codex retries; a final one comes with the end of the turn."""
    if fields.get("willRetry") is not True:
        return ()
    error = object_field(fields, "error")
    return (
        Reconnecting(
            " · ".join(
                part for part in (string_field(error, "message"), string_field(error, "additionalDetails")) if part
            )
        ),
    )


def _delta(fields: JsonObject) -> tuple[ServerEvent, ...]:
    return (Delta(string_field(fields, "itemId"), string_field(fields, "delta")),)


def _tokens(fields: JsonObject) -> tuple[ServerEvent, ...]:
    usage = object_field(fields, "tokenUsage")
    total, last = object_field(usage, "total"), object_field(usage, "last")
    used = TokenUsage(
        int_field(total, "inputTokens"), int_field(total, "cachedInputTokens"), int_field(total, "outputTokens")
    )
    return (
        TokenUsageUpdated(used),
        WindowUsage(int_field(last, "totalTokens"), int_field(usage, "modelContextWindow")),
    )


def _plan(fields: JsonObject) -> tuple[ServerEvent, ...]:
    raw = fields.get("plan")
    steps = [one for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []
    return (PlanUpdated(tuple(PlanStep(string_field(one, "step"), string_field(one, "status")) for one in steps)),)


def _hook(fields: JsonObject) -> tuple[ServerEvent, ...]:
    """Decode the messages of a hook. Its context is for the model, and is not shown."""
    run = object_field(fields, "run")
    raw = run.get("entries")
    entries = [one for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []
    texts = [string_field(entry, "text") for entry in entries if string_field(entry, "kind") != "context"]
    return tuple(WarningIssued(f"hook {string_field(run, 'eventName')}: {text}") for text in texts if text)


def _model_rerouted(fields: JsonObject) -> tuple[ServerEvent, ...]:
    former, new, reason = (string_field(fields, name) for name in ("fromModel", "toModel", "reason"))
    return (WarningIssued(f"model {former} → {new} ({reason})"),)


def _server_status(fields: JsonObject) -> tuple[ServerEvent, ...]:
    if string_field(fields, "status") != "failed":
        return ()
    return (WarningIssued(f"MCP server {string_field(fields, 'name')} did not start: {string_field(fields, 'error')}"),)


def _warning(*names: str) -> Callable[[JsonObject], tuple[ServerEvent, ...]]:
    """Return a decoder for a notification whose fields ``names`` are text for the user."""

    def read(fields: JsonObject) -> tuple[ServerEvent, ...]:
        text = " ".join(part for part in (string_field(fields, name) for name in names) if part)
        return (WarningIssued(text),) if text else ()

    return read


def _hidden_progress(_fields: JsonObject) -> tuple[ServerEvent, ...]:
    return (HiddenProgress(),)


# --- items ---


def _item_started(fields: JsonObject) -> tuple[ServerEvent, ...]:
    item = object_field(fields, "item")
    kind, number = string_field(item, "type"), string_field(item, "id")
    match kind:
        case "commandExecution":
            return (ItemStarted(number, string_field(item, "command")),)
        case "mcpToolCall" | "dynamicToolCall" | "collabAgentToolCall" | "webSearch":
            return (ItemStarted(number, _tool(item)),)
        case "fileChange":
            return (ItemStarted(number, ""),)
        case _:
            return (HiddenProgress(),)


def _item_completed(fields: JsonObject) -> tuple[ServerEvent, ...]:
    item = object_field(fields, "item")
    kind, number = string_field(item, "type"), string_field(item, "id")
    match kind:
        case "agentMessage" | "plan":
            return (Message(string_field(item, "text"), number),)
        case "reasoning":
            text = "\n".join(_string_list(item.get("summary")) or _string_list(item.get("content")))
            return (Reasoning(text),) if text else (HiddenProgress(),)
        case "commandExecution":
            return (_command(number, item),)
        case "fileChange":
            return (
                FilesChanged(
                    number, file_diffs_from_item(item), string_field(item, "status") in ("failed", "declined")
                ),
            )
        case "mcpToolCall" | "dynamicToolCall" | "collabAgentToolCall" | "webSearch":
            return (ToolCall(number, _tool(item), _problem(item)),)
        case "contextCompaction":
            return (ThreadCompacted(),)
        case _:
            return (HiddenProgress(),)


def _command(number: str, item: JsonObject) -> CommandFinished:
    code = item.get("exitCode")
    return CommandFinished(
        number,
        string_field(item, "command"),
        string_field(item, "aggregatedOutput"),
        code if isinstance(code, int) and not isinstance(code, bool) else None,
        is_declined=string_field(item, "status") == "declined",
    )


def _tool(item: JsonObject) -> str:
    if string_field(item, "type") == "webSearch":
        return f"web_search {json.dumps(string_field(item, 'query'), ensure_ascii=False)}"
    parts = (string_field(item, "server") or string_field(item, "namespace"), string_field(item, "tool"))
    return ".".join(part for part in parts if part)


def _problem(item: JsonObject) -> str:
    message = string_field(object_field(item, "error"), "message")
    return message or ("failed" if string_field(item, "status") == "failed" else "")


# --- fields ---


def _string_list(raw: Any) -> list[str]:
    return [one for one in raw if isinstance(one, str) and one] if isinstance(raw, list) else []


_DECODERS: dict[str, Callable[[JsonObject], tuple[ServerEvent, ...]]] = {
    "turn/started": lambda _: (ServerTurnStarted(),),
    "turn/completed": _turn_ended,
    "turn/plan/updated": _plan,
    "item/started": _item_started,
    "item/completed": _item_completed,
    "item/agentMessage/delta": _delta,
    "item/mcpToolCall/progress": _hidden_progress,
    "error": _error,
    "thread/tokenUsage/updated": _tokens,
    "thread/closed": lambda _: (ThreadClosed(),),
    "thread/archived": lambda _: (ThreadClosed(),),
    "thread/deleted": lambda _: (ThreadClosed(),),
    "hook/started": _hidden_progress,
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
