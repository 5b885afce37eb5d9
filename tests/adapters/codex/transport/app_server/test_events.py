"""Notifications of the app-server become events; whatever else comes becomes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport.app_server.events import (
    KNOWN_METHODS,
    OPT_OUT_METHODS,
    DecodedNotification,
    HiddenProgress,
    ServerTurnEnded,
    ServerTurnStarted,
    ThreadClosed,
    TokenUsageUpdated,
    decode,
    failure_reason_from_info,
)
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
    WarningIssued,
    WindowUsage,
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
PLAN = [{"step": "look", "status": "completed"}, {"step": "fix", "status": "inProgress"}]
HOOK = {
    "eventName": "userPromptSubmit",
    "status": "completed",
    "entries": [{"kind": "context", "text": "not shown"}, {"kind": "warning", "text": "mind"}],
}
DONE = {"id": "u", "items": [], "status": "completed", "error": None}

SAID = [
    ("turn/started", {"threadId": "t", "turn": {**DONE, "status": "inProgress"}}, (ServerTurnStarted(),)),
    ("turn/completed", {"threadId": "t", "turn": DONE}, (ServerTurnEnded("completed"),)),
    ("turn/completed", {"threadId": "t", "turn": {**DONE, "status": "interrupted"}}, (ServerTurnEnded("interrupted"),)),
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
        (ServerTurnEnded("failed", Failed(FailureReason.CONTEXT_FULL, "too long")),),
    ),
    (
        "turn/completed",
        {
            "threadId": "t",
            "turn": {**DONE, "status": "failed", "error": {"message": "Missing environment variable: `K`."}},
        },
        (ServerTurnEnded("failed", Failed(FailureReason.MISSING_KEY, "Missing environment variable: `K`.")),),
    ),
    ("item/agentMessage/delta", {"itemId": "i", "delta": "hal", **PLACE}, (Delta("i", "hal"),)),
    ("item/started", item("commandExecution", **COMMAND), (ItemStarted("i", "/bin/bash -lc ls"),)),
    (
        "item/started",
        item("mcpToolCall", server="mem", tool="save", status="inProgress"),
        (ItemStarted("i", "mem.save"),),
    ),
    ("item/started", item("fileChange", changes=CHANGES, status="inProgress"), (ItemStarted("i", ""),)),
    ("item/started", item("agentMessage", text=""), (HiddenProgress(),)),
    ("item/completed", item("agentMessage", text="all"), (Message("all", "i"),)),
    ("item/completed", item("reasoning", summary=["a", "b"], content=[]), (Reasoning("a\nb"),)),
    ("item/completed", item("reasoning", summary=[], content=["raw"]), (Reasoning("raw"),)),
    ("item/completed", item("reasoning"), (HiddenProgress(),)),
    (
        "item/completed",
        item("commandExecution", command="ls", aggregatedOutput="hi\n", exitCode=3, status="failed"),
        (CommandFinished("i", "ls", "hi\n", 3),),
    ),
    (
        "item/completed",
        item("commandExecution", command="ls", aggregatedOutput=None, exitCode=None, status="declined"),
        (CommandFinished("i", "ls", "", None, is_declined=True),),
    ),
    (
        "item/completed",
        item("fileChange", changes=CHANGES, status="completed"),
        (FilesChanged("i", (FileDiff("add", "/p/a.txt", "hi\n"),)),),
    ),
    ("item/completed", item("fileChange", changes=[], status="declined"), (FilesChanged("i", (), has_failed=True),)),
    (
        "item/completed",
        item("mcpToolCall", server="mem", tool="save", error={"message": "no"}, status="failed"),
        (ToolCall("i", "mem.save", "no"),),
    ),
    ("item/completed", item("dynamicToolCall", tool="x", status="failed"), (ToolCall("i", "x", "failed"),)),
    ("item/completed", item("webSearch", query="who"), (ToolCall("i", 'web_search "who"'),)),
    ("item/completed", item("contextCompaction"), (ThreadCompacted(),)),
    ("item/completed", item("somethingNew"), (HiddenProgress(),)),
    (
        "thread/tokenUsage/updated",
        {"tokenUsage": TOKENS, **PLACE},
        (TokenUsageUpdated(TokenUsage(19942, 7, 20)), WindowUsage(10019, 258400)),
    ),
    (
        "turn/plan/updated",
        {"plan": PLAN, **PLACE},
        (PlanUpdated((PlanStep("look", "completed"), PlanStep("fix", "inProgress"))),),
    ),
    ("hook/completed", {"run": HOOK, **PLACE}, (WarningIssued("hook userPromptSubmit: mind"),)),
    (
        "error",
        {"error": {"message": "Reconnecting... 1/5", "additionalDetails": "401"}, "willRetry": True, **PLACE},
        (Reconnecting("Reconnecting... 1/5 · 401"),),
    ),
    ("error", {"error": {"message": "over"}, "willRetry": False, **PLACE}, ()),
    ("warning", {"message": "unknown model", **PLACE}, (WarningIssued("unknown model"),)),
    ("warning", {"message": "", **PLACE}, ()),
    (
        "configWarning",
        {"summary": "no bubblewrap.", "details": "get it", **PLACE},
        (WarningIssued("no bubblewrap. get it"),),
    ),
    (
        "model/rerouted",
        {"fromModel": "a", "toModel": "b", "reason": "busy", **PLACE},
        (WarningIssued("model a → b (busy)"),),
    ),
    (
        "mcpServer/startupStatus/updated",
        {"name": "mem", "status": "failed", "error": "gone", **PLACE},
        (WarningIssued("MCP server mem did not start: gone"),),
    ),
    ("mcpServer/startupStatus/updated", {"name": "mem", "status": "ready", **PLACE}, ()),
    ("thread/closed", PLACE, (ThreadClosed(),)),
    ("somethingNew", PLACE, ()),
]

FAILURES = [
    ("contextWindowExceeded", FailureReason.CONTEXT_FULL),
    ("usageLimitExceeded", FailureReason.QUOTA_EXCEEDED),
    ("rateLimitExceeded", FailureReason.RATE_LIMITED),
    ("serverOverloaded", FailureReason.PROVIDER_ERROR),
    ("unauthorized", FailureReason.UNAUTHORIZED),
    ("badRequest", FailureReason.BAD_REQUEST),
    ({"httpConnectionFailed": {"httpStatusCode": 401}}, FailureReason.UNAUTHORIZED),
    ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, FailureReason.RATE_LIMITED),
    ({"responseTooManyFailedAttempts": {"httpStatusCode": 503}}, FailureReason.PROVIDER_ERROR),
    ({"responseTooManyFailedAttempts": {"httpStatusCode": 418}}, FailureReason.TURN_FAILED),
    ({"responseStreamDisconnected": {"httpStatusCode": None}}, FailureReason.STREAM_DISCONNECTED),
    ({"httpConnectionFailed": {}}, FailureReason.PROVIDER_ERROR),
    ("other", FailureReason.TURN_FAILED),
    ("cyberPolicy", FailureReason.TURN_FAILED),
    (None, FailureReason.TURN_FAILED),
    ({}, FailureReason.TURN_FAILED),
    ({"somethingNew": 3}, FailureReason.TURN_FAILED),
    ([1], FailureReason.TURN_FAILED),
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
    assert told == decode(method, fields).events


def test_thread_and_turn_are_read() -> None:
    """News belong to a thread and a turn, wherever the turn stands."""
    assert DecodedNotification("t", "u", (ServerTurnStarted(),)) == decode(
        "turn/started", {"threadId": "t", "turn": {"id": "u"}}
    )
    assert DecodedNotification("t", "u", (Delta("", ""),)) == decode("item/agentMessage/delta", PLACE)
    assert DecodedNotification("", "", ()) == decode("error", {})


@pytest.mark.parametrize(("info", "why"), FAILURES, ids=json.dumps)
def test_why_a_turn_failed(info: object, why: FailureReason) -> None:
    """The protocol's error names and HTTP codes become reasons with a remedy."""
    assert why is failure_reason_from_info(info)


@given(
    st.sampled_from(sorted(KNOWN_METHODS)) | st.text(),
    st.dictionaries(st.sampled_from(NAMES), JSON | st.dictionaries(st.sampled_from(NAMES), JSON)),
)
def test_decode_is_total(method: str, fields: dict[str, Any]) -> None:
    """Any notification with any fields is news of some kind."""
    assert isinstance(decode(method, fields), DecodedNotification)


def test_nothing_that_is_read_is_unwanted() -> None:
    """The server is not asked to keep to itself what is shown."""
    assert set() == KNOWN_METHODS & set(OPT_OUT_METHODS)
