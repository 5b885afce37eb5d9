"""Decode a stored record into its event. Invariant: pure; a record that is not understood is no event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from upbeat.core.contract.event import (
    Call,
    ClientName,
    Event,
    EventSource,
    PromptOrigin,
    PromptSubmitted,
    SubagentRequested,
    SubagentReturned,
    ToolFinished,
    ToolKind,
    ToolStarting,
    TurnEnding,
    UserQuestionRequested,
)

REPLAYABLE_EVENTS = (
    "PromptSubmitted",
    "ToolStarting",
    "UserQuestionRequested",
    "SubagentRequested",
    "ToolFinished",
    "SubagentReturned",
    "TurnEnding",
)
"""The events that can be replayed; the others have nothing to evaluate."""


DescribeCall = Callable[[ClientName, Call, str], Call]
"""A client's call with what it does, from its input; the folder is where relative paths begin."""


def decode_event(body: Mapping[str, Any], describe_call: DescribeCall) -> Event | None:
    """The event of a stored record. What was cut or redacted in it stays so."""
    name, about = body.get("event"), body.get("event_fields")
    source = _source(body)
    if name not in REPLAYABLE_EVENTS or source is None or not isinstance(about, Mapping):
        return None
    if name == "PromptSubmitted":
        origin = _text(about, "origin")
        known = PromptOrigin(origin) if origin in set(PromptOrigin) else PromptOrigin.USER
        return PromptSubmitted(source, _text(about, "prompt"), known)
    if name == "TurnEnding":
        return TurnEnding(source, _text(about, "message"), about.get("was_continued") is True)
    call = describe_call(source.client, _call(about), source.cwd)
    match name:
        case "ToolStarting":
            return ToolStarting(source, call, _text(about, "command"))
        case "UserQuestionRequested":
            return UserQuestionRequested(source, call)
        case "SubagentRequested":
            return SubagentRequested(
                source, call, _text(about, "agent_type"), _text(about, "prompt"), _text(about, "title")
            )
        case "SubagentReturned":
            return SubagentReturned(source, call, _text(about, "agent_id"), has_failed=about.get("has_failed") is True)
    code = about.get("exit_code")
    return ToolFinished(
        source,
        call,
        _text(about, "output"),
        _text(about, "command"),
        code if isinstance(code, int) else None,
        about.get("has_failed") is True,
        about.get("was_interrupted") is True,
    )


def _source(body: Mapping[str, Any]) -> EventSource | None:
    client = _text(body, "client")
    if client not in set(ClientName):
        return None
    return EventSource(
        ClientName(client), _text(body, "root") or "/", _text(body, "session_id"), _text(body, "agent_id")
    )


def _call(about: Mapping[str, Any]) -> Call:
    given, act, paths = about.get("input"), _text(about, "tool_kind"), about.get("paths")
    return Call(
        _text(about, "call_id"),
        _text(about, "tool"),
        given if isinstance(given, Mapping) else {},
        ToolKind(act) if act in set(ToolKind) else ToolKind.OTHER,
        tuple(path for path in paths if isinstance(path, str)) if isinstance(paths, list) else (),
    )


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
