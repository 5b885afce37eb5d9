"""Notifications of the app-server become events; whatever else comes becomes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.auto.app_server_events import (
    KNOWN,
    UNWANTED,
    Closed,
    News,
    Progress,
    TurnBegan,
    TurnEnded,
    Used,
    decode,
    why_of,
)
from upbeat.adapters.codex.auto.transport import (
    Began,
    Change,
    CommandRun,
    Compacted,
    ContextUsed,
    Delta,
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

PLACE = {"threadId": "t", "turnId": "u"}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"item": {"type": kind, "id": "i", **fields}, **PLACE}


COMMAND = {"command": "/bin/bash -lc ls", "aggregatedOutput": None, "exitCode": None, "status": "inProgress"}
CHANGES = [{"path": "/p/a.txt", "kind": {"type": "add"}, "diff": "hi\n"}]
TOKENS = {
    "total": {"totalTokens": 19962, "inputTokens": 19942, "cachedInputTokens": 7, "outputTokens": 20},
    "last": {"totalTokens": 10019, "inputTokens": 10009, "cachedInputTokens": 0, "outputTokens": 10},
    "modelContextWindow": 258400,
}
PLAN = [{"step": "look", "status": "completed"}, {"step": "mend", "status": "inProgress"}]
HOOK = {
    "eventName": "userPromptSubmit",
    "status": "completed",
    "entries": [{"kind": "context", "text": "not shown"}, {"kind": "warning", "text": "mind"}],
}
DONE = {"id": "u", "items": [], "status": "completed", "error": None}

SAID = [
    ("turn/started", {"threadId": "t", "turn": {**DONE, "status": "inProgress"}}, (TurnBegan(),)),
    ("turn/completed", {"threadId": "t", "turn": DONE}, (TurnEnded("completed"),)),
    ("turn/completed", {"threadId": "t", "turn": {**DONE, "status": "interrupted"}}, (TurnEnded("interrupted"),)),
    (
        "turn/completed",
        {
            "threadId": "t",
            "turn": {
                **DONE,
                "status": "failed",
                "error": {"message": "too long", "codexErrorInfo": "contextWindowExceeded", "additionalDetails": None},
            },
        },
        (TurnEnded("failed", Failed(Why.CONTEXT_FULL, "too long")),),
    ),
    (
        "turn/completed",
        {
            "threadId": "t",
            "turn": {**DONE, "status": "failed", "error": {"message": "Missing environment variable: `K`."}},
        },
        (TurnEnded("failed", Failed(Why.MISSING_KEY, "Missing environment variable: `K`.")),),
    ),
    ("item/agentMessage/delta", {"itemId": "i", "delta": "hal", **PLACE}, (Delta("i", "hal"),)),
    ("item/started", item("commandExecution", **COMMAND), (Began("i", "/bin/bash -lc ls"),)),
    ("item/started", item("mcpToolCall", server="mem", tool="save", status="inProgress"), (Began("i", "mem.save"),)),
    ("item/started", item("fileChange", changes=CHANGES, status="inProgress"), (Began("i", ""),)),
    ("item/started", item("agentMessage", text=""), (Progress(),)),
    ("item/completed", item("agentMessage", text="all"), (Message("all", "i"),)),
    ("item/completed", item("reasoning", summary=["a", "b"], content=[]), (Reasoning("a\nb"),)),
    ("item/completed", item("reasoning", summary=[], content=["raw"]), (Reasoning("raw"),)),
    ("item/completed", item("reasoning"), (Progress(),)),
    (
        "item/completed",
        item("commandExecution", command="ls", aggregatedOutput="hi\n", exitCode=3, status="failed"),
        (CommandRun("i", "ls", "hi\n", 3),),
    ),
    (
        "item/completed",
        item("commandExecution", command="ls", aggregatedOutput=None, exitCode=None, status="declined"),
        (CommandRun("i", "ls", "", None, declined=True),),
    ),
    (
        "item/completed",
        item("fileChange", changes=CHANGES, status="completed"),
        (FileChange("i", (Change("add", "/p/a.txt", "hi\n"),)),),
    ),
    ("item/completed", item("fileChange", changes=[], status="declined"), (FileChange("i", (), failed=True),)),
    (
        "item/completed",
        item("mcpToolCall", server="mem", tool="save", error={"message": "no"}, status="failed"),
        (ToolCall("i", "mem.save", "no"),),
    ),
    ("item/completed", item("dynamicToolCall", tool="x", status="failed"), (ToolCall("i", "x", "failed"),)),
    ("item/completed", item("webSearch", query="who"), (ToolCall("i", 'web_search "who"'),)),
    ("item/completed", item("contextCompaction"), (Compacted(),)),
    ("item/completed", item("somethingNew"), (Progress(),)),
    (
        "thread/tokenUsage/updated",
        {"tokenUsage": TOKENS, **PLACE},
        (Used(Usage(19942, 7, 20)), ContextUsed(10019, 258400)),
    ),
    ("turn/plan/updated", {"plan": PLAN, **PLACE}, (Planned((Step("look", "completed"), Step("mend", "inProgress"))),)),
    ("hook/completed", {"run": HOOK, **PLACE}, (Warned("hook userPromptSubmit: mind"),)),
    (
        "error",
        {"error": {"message": "Reconnecting... 1/5", "additionalDetails": "401"}, "willRetry": True, **PLACE},
        (Trouble("Reconnecting... 1/5 · 401"),),
    ),
    ("error", {"error": {"message": "over"}, "willRetry": False, **PLACE}, ()),
    ("warning", {"message": "unknown model", **PLACE}, (Warned("unknown model"),)),
    ("warning", {"message": "", **PLACE}, ()),
    ("configWarning", {"summary": "no bubblewrap.", "details": "get it", **PLACE}, (Warned("no bubblewrap. get it"),)),
    (
        "model/rerouted",
        {"fromModel": "a", "toModel": "b", "reason": "busy", **PLACE},
        (Warned("model a → b (busy)"),),
    ),
    (
        "mcpServer/startupStatus/updated",
        {"name": "mem", "status": "failed", "error": "gone", **PLACE},
        (Warned("MCP server mem did not start: gone"),),
    ),
    ("mcpServer/startupStatus/updated", {"name": "mem", "status": "ready", **PLACE}, ()),
    ("thread/closed", PLACE, (Closed(),)),
    ("somethingNew", PLACE, ()),
]

FAILURES = [
    ("contextWindowExceeded", Why.CONTEXT_FULL),
    ("usageLimitExceeded", Why.QUOTA),
    ("rateLimitExceeded", Why.RATE_LIMIT),
    ("serverOverloaded", Why.PROVIDER),
    ("unauthorized", Why.UNAUTHORIZED),
    ("badRequest", Why.BAD_REQUEST),
    ({"httpConnectionFailed": {"httpStatusCode": 401}}, Why.UNAUTHORIZED),
    ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, Why.RATE_LIMIT),
    ({"responseTooManyFailedAttempts": {"httpStatusCode": 503}}, Why.PROVIDER),
    ({"responseTooManyFailedAttempts": {"httpStatusCode": 418}}, Why.TURN),
    ({"responseStreamDisconnected": {"httpStatusCode": None}}, Why.CUT),
    ({"httpConnectionFailed": {}}, Why.PROVIDER),
    ("other", Why.TURN),
    ("cyberPolicy", Why.TURN),
    (None, Why.TURN),
    ({}, Why.TURN),
    ({"somethingNew": 3}, Why.TURN),
    ([1], Why.TURN),
]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
NAMES = ["turn", "item", "tokenUsage", "run", "plan", "error", "changes", "type", "id", "status", "summary", "entries"]


@pytest.mark.parametrize(("method", "fields", "told"), SAID, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_told(method: str, fields: dict[str, Any], told: tuple[object, ...]) -> None:
    """Each notification as the events that it stands for."""
    assert told == decode(method, fields).told


def test_thread_and_turn_are_read() -> None:
    """News belong to a thread and a turn, wherever the turn stands."""
    assert News("t", "u", (TurnBegan(),)) == decode("turn/started", {"threadId": "t", "turn": {"id": "u"}})
    assert News("t", "u", (Delta("", ""),)) == decode("item/agentMessage/delta", PLACE)
    assert News("", "", ()) == decode("error", {})


@pytest.mark.parametrize(("info", "why"), FAILURES, ids=json.dumps)
def test_why_a_turn_failed(info: object, why: Why) -> None:
    """The protocol's error names and HTTP codes become reasons with a way out."""
    assert why is why_of(info)


@given(
    st.sampled_from(sorted(KNOWN)) | st.text(),
    st.dictionaries(st.sampled_from(NAMES), JSON | st.dictionaries(st.sampled_from(NAMES), JSON)),
)
def test_decode_is_total(method: str, fields: dict[str, Any]) -> None:
    """Any notification with any fields is news of some kind."""
    assert isinstance(decode(method, fields), News)


def test_nothing_that_is_read_is_unwanted() -> None:
    """The server is not asked to keep to itself what is shown."""
    assert set() == KNOWN & set(UNWANTED)
