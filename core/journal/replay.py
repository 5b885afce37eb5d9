"""Decode a stored record into its event. Invariant: pure; a record that is not understood is no event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_type_hints

from upbeat.core.contract import event as events
from upbeat.core.contract.event import Call, ClientName, Event, EventSource, PromptOrigin, ToolKind
from upbeat.core.json_fields import mapping_of, text_of, texts_of

_EVENT_TYPES: tuple[type[Event], ...] = (
    events.PromptSubmitted,
    events.ToolStarting,
    events.UserQuestionRequested,
    events.SubagentRequested,
    events.ToolFinished,
    events.SubagentReturned,
    events.TurnEnding,
)
REPLAYABLE_EVENTS = {event.__name__: event for event in _EVENT_TYPES}
"""The events that can be replayed, by name; the others have nothing to evaluate."""

DescribeCall = Callable[[ClientName, Call, str], Call]
"""Return a client's call with what it does, from its input; relative paths begin in the folder."""


def decode_event(body: Mapping[str, Any], describe_call: DescribeCall) -> Event | None:
    """Return the event of a stored record; None if it cannot be replayed. What was cut or redacted stays so."""
    event_type, client = REPLAYABLE_EVENTS.get(text_of(body, "event")), text_of(body, "client")
    if event_type is None or client not in set(ClientName) or not isinstance(body.get("event_fields"), Mapping):
        return None
    source = EventSource(
        ClientName(client), text_of(body, "root") or "/", text_of(body, "session_id"), text_of(body, "agent_id")
    )
    stored = mapping_of(body, "event_fields")
    values: dict[str, Any] = {"source": source}
    for name, hint in _field_types(event_type.__name__).items():
        if hint is Call:
            values[name] = describe_call(source.client, _decode_call(stored), source.cwd)
        elif hint is PromptOrigin:
            origin = text_of(stored, name)
            values[name] = PromptOrigin(origin) if origin in set(PromptOrigin) else PromptOrigin.USER
        elif hint is not EventSource and hint is not Any:
            value, empty = stored.get(name), hint() if isinstance(hint, type) else None
            values[name] = value if isinstance(value, hint) else empty
    return event_type(**values)


@cache
def _field_types(event_name: str) -> dict[str, Any]:
    return get_type_hints(REPLAYABLE_EVENTS[event_name])


def _decode_call(stored: Mapping[str, Any]) -> Call:
    kind = text_of(stored, "tool_kind")
    return Call(
        text_of(stored, "call_id"),
        text_of(stored, "tool"),
        mapping_of(stored, "input"),
        ToolKind(kind) if kind in set(ToolKind) else ToolKind.OTHER,
        tuple(texts_of(stored, "paths")),
    )
