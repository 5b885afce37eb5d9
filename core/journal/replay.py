"""A stored record as the event that it tells of. Law: pure, and what is not understood is no event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..contract.event import (
    Act,
    AskingUser,
    Call,
    ClientName,
    Delegated,
    Delegating,
    Event,
    Origin,
    PromptSubmitted,
    Source,
    ToolFinished,
    ToolStarting,
    TurnEnding,
)

REPLAYED = ("PromptSubmitted", "ToolStarting", "AskingUser", "Delegating", "ToolFinished", "Delegated", "TurnEnding")
"""The events that can be told again; the others have nothing that one could ask about."""


Describe = Callable[[ClientName, Call, str], Call]
"""A client's call with what it does, from its input; the folder is where relative paths begin."""


def event_in(body: Mapping[str, Any], describe: Describe) -> Event | None:
    """The event of a stored record. What was cut or redacted in it stays so."""
    name, about = body.get("event"), body.get("about")
    source = _source(body)
    if name not in REPLAYED or source is None or not isinstance(about, Mapping):
        return None
    if name == "PromptSubmitted":
        origin = _text(about, "origin")
        known = Origin(origin) if origin in set(Origin) else Origin.USER
        return PromptSubmitted(source, _text(about, "prompt"), known)
    if name == "TurnEnding":
        return TurnEnding(source, _text(about, "message"), about.get("continued") is True)
    call = describe(source.client, _call(about), source.cwd)
    match name:
        case "ToolStarting":
            return ToolStarting(source, call, _text(about, "command"))
        case "AskingUser":
            return AskingUser(source, call)
        case "Delegating":
            return Delegating(source, call, _text(about, "agent"), _text(about, "prompt"), _text(about, "title"))
        case "Delegated":
            return Delegated(source, call, _text(about, "agent_id"), failed=about.get("failed") is True)
    code = about.get("exit_code")
    return ToolFinished(
        source,
        call,
        _text(about, "output"),
        _text(about, "command"),
        code if isinstance(code, int) else None,
        about.get("failed") is True,
        about.get("interrupted") is True,
    )


def _source(body: Mapping[str, Any]) -> Source | None:
    client = _text(body, "client")
    if client not in set(ClientName):
        return None
    return Source(ClientName(client), _text(body, "root") or "/", _text(body, "session_id"), _text(body, "agent_id"))


def _call(about: Mapping[str, Any]) -> Call:
    given, act, paths = about.get("input"), _text(about, "act"), about.get("paths")
    return Call(
        _text(about, "call_id"),
        _text(about, "tool"),
        given if isinstance(given, Mapping) else {},
        Act(act) if act in set(Act) else Act.OTHER,
        tuple(path for path in paths if isinstance(path, str)) if isinstance(paths, list) else (),
    )


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
