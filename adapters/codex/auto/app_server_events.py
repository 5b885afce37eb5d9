"""What ``codex app-server`` tells, as events of a turn. Law: ``decode`` is total; what it does not know is nothing.

Source: recordings and the JSON schema of 0.169.0. Field names of the protocol stand here and in the modules
beside this one that say what they send, nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .app_server_rpc import Fields
from .failures import sharpened
from .transport import (
    Began,
    Change,
    CommandRun,
    Compacted,
    ContextUsed,
    Delta,
    Event,
    Failed,
    FileChange,
    Message,
    Planned,
    Reasoning,
    Step,
    ToolCall,
    Trouble,
    Usage,
    Warned,
    Why,
)


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """A turn runs on the thread."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over: completed, interrupted, or failed with ``failure``."""

    status: str
    failure: Failed | None = None


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens of the whole thread so far."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Closed:
    """The server does not hold the thread any more."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Something goes on that is not shown."""


Told = Event | TurnBegan | TurnEnded | Used | Closed | Progress


@dataclass(frozen=True, slots=True)
class News:
    """What one notification says, and of which thread and turn; both may be empty."""

    thread_id: str
    turn_id: str
    told: tuple[Told, ...]


def decode(method: str, fields: Fields) -> News:
    """What the notification ``method`` with ``fields`` says."""
    turn = _inner(fields, "turn")
    thread_id, turn_id = _text(fields, "threadId"), _text(fields, "turnId") or _text(turn, "id")
    reader = _READERS.get(method)
    return News(thread_id, turn_id, reader(fields) if reader else ())


def why_of(info: Any) -> Why:
    """Why a turn failed; ``info`` is the protocol's ``codexErrorInfo``, of any type."""
    name, status = _kind_and_status(info)
    if name in _BY_NAME:
        return _BY_NAME[name]
    if status is not None:
        return _BY_STATUS.get(status, Why.PROVIDER if status >= 500 else Why.TURN)
    return _CONNECTION.get(name, Why.TURN)


def changes_of(item: Fields) -> tuple[Change, ...]:
    """The files that an item of type ``fileChange`` is about."""
    raw = item.get("changes")
    found = [one for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []
    return tuple(Change(_text(_inner(one, "kind"), "type"), _text(one, "path"), _text(one, "diff")) for one in found)


# --- failures ---

_BY_NAME = {
    "contextWindowExceeded": Why.CONTEXT_FULL,
    "sessionBudgetExceeded": Why.QUOTA,
    "usageLimitExceeded": Why.QUOTA,
    "rateLimitExceeded": Why.RATE_LIMIT,
    "flexUnavailable": Why.PROVIDER,
    "serverOverloaded": Why.PROVIDER,
    "policyCapacityUnavailable": Why.PROVIDER,
    "internalServerError": Why.PROVIDER,
    "unauthorized": Why.UNAUTHORIZED,
    "badRequest": Why.BAD_REQUEST,
    "modelNotFound": Why.BAD_REQUEST,
}
_BY_STATUS = {
    400: Why.BAD_REQUEST,
    401: Why.UNAUTHORIZED,
    402: Why.QUOTA,
    403: Why.UNAUTHORIZED,
    404: Why.BAD_REQUEST,
    429: Why.RATE_LIMIT,
}
_CONNECTION = {
    "httpConnectionFailed": Why.PROVIDER,
    "responseStreamConnectionFailed": Why.PROVIDER,
    "responseTooManyFailedAttempts": Why.PROVIDER,
    "responseStreamDisconnected": Why.CUT,
}


def _kind_and_status(info: Any) -> tuple[str, int | None]:
    """The name of the error, and the HTTP status that it carries, if any."""
    if isinstance(info, dict) and info:
        name = next(iter(info))
        status = _inner(info, name).get("httpStatusCode")
        return str(name), status if isinstance(status, int) and not isinstance(status, bool) else None
    return (info, None) if isinstance(info, str) else ("", None)


def _failure(error: Fields) -> Failed:
    text = "\n".join(part for part in (_text(error, "message"), _text(error, "additionalDetails")) if part)
    return sharpened(Failed(why_of(error.get("codexErrorInfo")), text))


# --- notifications ---


def _turn_ended(fields: Fields) -> tuple[Told, ...]:
    turn = _inner(fields, "turn")
    status = _text(turn, "status")
    return (TurnEnded(status, _failure(_inner(turn, "error")) if status == "failed" else None),)


def _error(fields: Fields) -> tuple[Told, ...]:
    """Trouble while Codex tries again; the last one comes with the end of the turn."""
    if fields.get("willRetry") is not True:
        return ()
    error = _inner(fields, "error")
    return (Trouble(" · ".join(part for part in (_text(error, "message"), _text(error, "additionalDetails")) if part)),)


def _delta(fields: Fields) -> tuple[Told, ...]:
    return (Delta(_text(fields, "itemId"), _text(fields, "delta")),)


def _tokens(fields: Fields) -> tuple[Told, ...]:
    usage = _inner(fields, "tokenUsage")
    total, last = _inner(usage, "total"), _inner(usage, "last")
    used = Usage(_count(total, "inputTokens"), _count(total, "cachedInputTokens"), _count(total, "outputTokens"))
    return (Used(used), ContextUsed(_count(last, "totalTokens"), _count(usage, "modelContextWindow")))


def _plan(fields: Fields) -> tuple[Told, ...]:
    raw = fields.get("plan")
    steps = [one for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []
    return (Planned(tuple(Step(_text(one, "step"), _text(one, "status")) for one in steps)),)


def _hook(fields: Fields) -> tuple[Told, ...]:
    """What a hook wants said. Its context is for the model, and is not shown."""
    run = _inner(fields, "run")
    raw = run.get("entries")
    entries = [one for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []
    said = [_text(one, "text") for one in entries if _text(one, "kind") != "context"]
    return tuple(Warned(f"hook {_text(run, 'eventName')}: {text}") for text in said if text)


def _rerouted(fields: Fields) -> tuple[Told, ...]:
    return (Warned(f"model {_text(fields, 'fromModel')} → {_text(fields, 'toModel')} ({_text(fields, 'reason')})"),)


def _server_status(fields: Fields) -> tuple[Told, ...]:
    if _text(fields, "status") != "failed":
        return ()
    return (Warned(f"MCP server {_text(fields, 'name')} did not start: {_text(fields, 'error')}"),)


def _warning(*names: str) -> Callable[[Fields], tuple[Told, ...]]:
    """A reader of a notification whose fields ``names`` are for people."""

    def read(fields: Fields) -> tuple[Told, ...]:
        text = " ".join(part for part in (_text(fields, name) for name in names) if part)
        return (Warned(text),) if text else ()

    return read


def _nothing_shown(_fields: Fields) -> tuple[Told, ...]:
    return (Progress(),)


# --- items ---


def _begun(fields: Fields) -> tuple[Told, ...]:
    item = _inner(fields, "item")
    kind, number = _text(item, "type"), _text(item, "id")
    match kind:
        case "commandExecution":
            return (Began(number, _text(item, "command")),)
        case "mcpToolCall" | "dynamicToolCall" | "collabAgentToolCall" | "webSearch":
            return (Began(number, _tool(item)),)
        case "fileChange":
            return (Began(number, ""),)
        case _:
            return (Progress(),)


def _done(fields: Fields) -> tuple[Told, ...]:
    item = _inner(fields, "item")
    kind, number = _text(item, "type"), _text(item, "id")
    match kind:
        case "agentMessage" | "plan":
            return (Message(_text(item, "text"), number),)
        case "reasoning":
            text = "\n".join(_texts(item.get("summary")) or _texts(item.get("content")))
            return (Reasoning(text),) if text else (Progress(),)
        case "commandExecution":
            return (_command(number, item),)
        case "fileChange":
            return (FileChange(number, changes_of(item), _text(item, "status") in ("failed", "declined")),)
        case "mcpToolCall" | "dynamicToolCall" | "collabAgentToolCall" | "webSearch":
            return (ToolCall(number, _tool(item), _problem(item)),)
        case "contextCompaction":
            return (Compacted(),)
        case _:
            return (Progress(),)


def _command(number: str, item: Fields) -> CommandRun:
    code = item.get("exitCode")
    return CommandRun(
        number,
        _text(item, "command"),
        _text(item, "aggregatedOutput"),
        code if isinstance(code, int) and not isinstance(code, bool) else None,
        declined=_text(item, "status") == "declined",
    )


def _tool(item: Fields) -> str:
    if _text(item, "type") == "webSearch":
        return f"web_search {json.dumps(_text(item, 'query'), ensure_ascii=False)}"
    parts = (_text(item, "server") or _text(item, "namespace"), _text(item, "tool"))
    return ".".join(part for part in parts if part)


def _problem(item: Fields) -> str:
    message = _text(_inner(item, "error"), "message")
    return message or ("failed" if _text(item, "status") == "failed" else "")


# --- fields ---


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _texts(raw: Any) -> list[str]:
    return [one for one in raw if isinstance(one, str) and one] if isinstance(raw, list) else []


def _inner(fields: Fields, name: str) -> Fields:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _count(fields: Fields, name: str) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


_READERS: dict[str, Callable[[Fields], tuple[Told, ...]]] = {
    "turn/started": lambda _: (TurnBegan(),),
    "turn/completed": _turn_ended,
    "turn/plan/updated": _plan,
    "item/started": _begun,
    "item/completed": _done,
    "item/agentMessage/delta": _delta,
    "item/mcpToolCall/progress": _nothing_shown,
    "error": _error,
    "thread/tokenUsage/updated": _tokens,
    "thread/closed": lambda _: (Closed(),),
    "thread/archived": lambda _: (Closed(),),
    "thread/deleted": lambda _: (Closed(),),
    "hook/started": _nothing_shown,
    "hook/completed": _hook,
    "model/rerouted": _rerouted,
    "mcpServer/startupStatus/updated": _server_status,
    "warning": _warning("message"),
    "guardianWarning": _warning("message"),
    "configWarning": _warning("summary", "details"),
    "deprecationNotice": _warning("summary", "details"),
    "modelProvider/authRecoveryStarted": _warning("message"),
}

KNOWN = frozenset(_READERS)
"""The notifications that mean something here."""

UNWANTED = (
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
"""Notifications that may be many, and that the server is asked to keep to itself."""
