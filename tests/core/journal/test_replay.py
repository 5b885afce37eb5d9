"""Stored records become the events that they record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from upbeat.core.contract import event as events
from upbeat.core.journal.replay import REPLAYABLE_EVENTS, decode_event

SOURCE = events.EventSource(events.ClientName.CLAUDE_CODE, "/repo", "s", "agent")
FIELDS = {"call_id": "c", "tool": "Bash", "tool_kind": "shell", "input": {"command": "ls"}, "paths": ["/repo/a", 1]}
CALL = events.Call("c", "Bash", {"command": "ls"}, events.ToolKind.SHELL, ("/repo/a",))
DESCRIBED = replace(CALL, option_labels=("/repo",))


def describe(client: events.ClientName, call: events.Call, folder: str) -> events.Call:
    """Describe a call by the folder that it is made in."""
    assert events.ClientName.CLAUDE_CODE is client
    return replace(call, option_labels=(folder,))


def decode(event: str, event_fields: Any, client: str = "claude-code") -> events.Event | None:
    """Decode a record of one agent."""
    body = {"client": client, "root": "/repo", "session_id": "s", "agent_id": "agent"}
    return decode_event({**body, "event": event, "event_fields": event_fields}, describe)


EVENTS: list[tuple[dict[str, Any], events.Event]] = [
    ({"prompt": "hi", "origin": "subagent"}, events.PromptSubmitted(SOURCE, "hi", events.PromptOrigin.SUBAGENT)),
    ({"prompt": "hi", "origin": "oracle"}, events.PromptSubmitted(SOURCE, "hi")),
    ({"message": "Done.", "was_continued": True}, events.TurnEnding(SOURCE, "Done.", True)),
    ({**FIELDS, "command": "ls"}, events.ToolStarting(SOURCE, DESCRIBED, "ls")),
    (FIELDS, events.UserQuestionRequested(SOURCE, DESCRIBED)),
    (
        {**FIELDS, "agent_type": "Explore", "prompt": "look", "title": "t", "is_prompt_hidden": True},
        events.SubagentRequested(SOURCE, DESCRIBED, "Explore", "look", "t", True),
    ),
    ({**FIELDS, "agent_id": "a", "has_failed": True}, events.SubagentReturned(SOURCE, DESCRIBED, "a", has_failed=True)),
    (
        {**FIELDS, "output": "x", "command": "ls", "exit_code": 1, "has_failed": True, "was_rejected": True},
        events.ToolFinished(SOURCE, DESCRIBED, "x", "ls", 1, True, was_rejected=True),
    ),
]


@pytest.mark.parametrize(("event_fields", "event"), EVENTS, ids=lambda value: type(value).__name__)
def test_events(event_fields: dict[str, Any], event: events.Event) -> None:
    """Each replayable event has the fields of its record, and its call is described in the recorded folder."""
    assert event == decode(type(event).__name__, event_fields)


def test_every_replayable_event_is_tested() -> None:
    """The cases cover every event that can be replayed."""
    assert set(REPLAYABLE_EVENTS) == {type(event).__name__ for _fields, event in EVENTS}


@pytest.mark.parametrize(
    ("event", "event_fields", "client"),
    [
        ("SessionStarted", {}, "claude-code"),
        ("TurnEnding", {}, "unknown"),
        ("TurnEnding", ["not", "an", "object"], "claude-code"),
    ],
)
def test_a_record_that_is_no_event(event: str, event_fields: Any, client: str) -> None:
    """A record of another event, of an unknown client or with unreadable fields decodes to None."""
    assert None is decode(event, event_fields, client)


def test_unreadable_fields_of_a_call() -> None:
    """Fields of the wrong type are read as empty."""
    spoilt = {"call_id": 1, "tool": None, "tool_kind": "magic", "input": "ls", "paths": "a", "exit_code": "0"}

    assert events.ToolFinished(SOURCE, events.Call("", "", {}, option_labels=("/repo",)), "", "", None) == decode(
        "ToolFinished", spoilt
    )
