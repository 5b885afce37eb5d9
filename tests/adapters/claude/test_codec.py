"""Every recorded payload of Claude Code is understood, by either route; what is not for us is left alone."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_play import left_out_by

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.core.contract.effect import (
    EMPTY_DECISION,
    ContinueTurn,
    Decision,
    Deny,
    InjectContext,
    NotifyUser,
    PrependPrompt,
)
from upbeat.core.contract.event import (
    Call,
    ClientName,
    CompactionStarting,
    EventSource,
    PromptOrigin,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    SubagentEnding,
    SubagentRequested,
    SubagentReturned,
    SubagentStarted,
    ToolFinished,
    ToolKind,
    ToolStarting,
    TurnEnding,
    TurnFailed,
    UnknownEvent,
    UserQuestionRequested,
)
from upbeat.core.errors import ClientError
from upbeat.core.sanitize.frame import frame_untrusted

RECORDED = Path(__file__).parents[2] / "recorded"


def passed(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a recorded call, as our own handlers name them."""
    return {("hook_event_name" if name == "event" else name): value for name, value in arguments.items()}


PAYLOADS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["payload"]
    for path in sorted((RECORDED / "claude-code/hooks").glob("*.json"))
}
OVER_MCP = {
    f"{path.parent.name[-3:]}-{path.stem}": passed(call["params"]["arguments"])
    for path in sorted((RECORDED / "hooks_over_mcp").glob("claude-code-*/*.json"))
    if (call := json.loads(path.read_text(encoding="utf-8")).get("message", {})).get("method") == "tools/call"
    and "cwd" in call["params"]["arguments"]
}
HERE = EventSource(ClientName.CLAUDE_CODE, "/repo", "s")
PROMPT = {"hook_event_name": "UserPromptSubmit", "cwd": "/repo", "session_id": "s", "prompt": "fix it"}
TOOL = {"hook_event_name": "PostToolUse", "cwd": "/repo", "session_id": "s", "tool_use_id": "t"}

KINDS: Mapping[str, type] = {
    "PostToolUse": ToolFinished,
    "PostToolUse.Agent": SubagentReturned,
    "PostToolUseFailure": ToolFinished,
    "PreCompact": CompactionStarting,
    "PreToolUse": ToolStarting,
    "PreToolUse.Agent": SubagentRequested,
    "PreToolUse.AskUserQuestion": UserQuestionRequested,
    "SessionEnd": SessionEnded,
    "SessionStart": SessionStarted,
    "Stop": TurnEnding,
    "StopFailure": TurnFailed,
    "SubagentStart": SubagentStarted,
    "SubagentStop": SubagentEnding,
    "UserPromptSubmit": PromptSubmitted,
}


def kind_of(payload: Mapping[str, Any]) -> type:
    """What a payload is, from its event and tool."""
    name = payload["hook_event_name"]
    if name == "SubagentStop" and not payload["agent_type"]:
        return UnknownEvent
    return KINDS.get(f"{name}.{payload.get('tool_name')}", KINDS.get(name, UnknownEvent))


def as_text(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A payload of a command hook in the form in which an ``mcp_tool`` hook would pass it."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        for name, value in payload.items()
        if value is not None
    }


def test_there_are_payloads() -> None:
    """The recordings cover at least the client's events."""
    assert len(PAYLOADS) > 80
    assert len(OVER_MCP) > 20


@pytest.mark.parametrize("name", PAYLOADS)
def test_every_recorded_payload_decodes(name: str) -> None:
    """Each recorded payload is the event that its file is named after, at its place."""
    payload = PAYLOADS[name]
    event = CLAUDE_CODEC.decode(payload)
    place = (payload["cwd"], payload["session_id"], payload.get("agent_id", ""), payload["transcript_path"])

    assert kind_of(payload) is type(event)
    assert EventSource(ClientName.CLAUDE_CODE, *place) == event.source


@pytest.mark.parametrize("name", OVER_MCP)
def test_every_recorded_call_decodes(name: str) -> None:
    """Each recorded call of an ``mcp_tool`` hook is the event that it names, in either version."""
    payload = OVER_MCP[name]
    event = CLAUDE_CODEC.decode(payload)

    assert kind_of(payload) is type(event)
    assert (payload["session_id"], payload.get("agent_id", "")) == (event.source.session_id, event.source.agent_id)


@pytest.mark.parametrize("name", PAYLOADS)
def test_both_routes_tell_the_same(name: str) -> None:
    """A payload whose values are all text says the same as the typed one."""
    typed, text = CLAUDE_CODEC.decode(PAYLOADS[name]), CLAUDE_CODEC.decode(as_text(PAYLOADS[name]))

    if not isinstance(typed, UnknownEvent):
        assert typed == text


@pytest.mark.parametrize(
    ("name", "agent", "title", "prompt"),
    [
        ("PreToolUse.Agent.bg", "general-purpose", "do bg", "SUBPROMPT background please"),
        ("PreToolUse.Agent.fg", "general-purpose", "do sub", "SUBPROMPT please do it"),
    ],
)
def test_recorded_delegations(name: str, agent: str, title: str, prompt: str) -> None:
    """Who is asked to do what is read from the call."""
    event = CLAUDE_CODEC.decode(PAYLOADS[name])

    assert isinstance(event, SubagentRequested)
    assert (agent, title, prompt, False) == (event.agent_type, event.title, event.prompt, event.is_prompt_hidden)
    assert PAYLOADS[name]["tool_use_id"] == event.call.id


@pytest.mark.parametrize(
    ("name", "agent_id", "message"),
    [
        ("PostToolUse.Agent.bg", "a6eb1bee52a76ff80", None),
        ("PostToolUse.Agent.fg", "ac4816822896a18d6", "Sub final answer"),
    ],
)
def test_recorded_returns(name: str, agent_id: str, message: str | None) -> None:
    """An agent in the foreground has answered; one in the background was only started."""
    event = CLAUDE_CODEC.decode(PAYLOADS[name])

    assert isinstance(event, SubagentReturned)
    assert (agent_id, message, False) == (event.agent_id, event.message, event.has_failed)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("PostToolUse.Bash", ("p1", "echo p1", 0, False, False)),
        (
            "PostToolUseFailure.Bash",
            (
                "ls: cannot access '/nonexistent': No such file or directory",
                "ls /nonexistent; exit 3",
                3,
                True,
                False,
            ),
        ),
    ],
)
def test_recorded_commands(name: str, expected: tuple[object, ...]) -> None:
    """A command's line, output and exit code are told, whether it went well or not."""
    event = CLAUDE_CODEC.decode(PAYLOADS[name])

    assert isinstance(event, ToolFinished)
    assert expected == (event.output, event.command, event.exit_code, event.has_failed, event.was_interrupted)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tool_response": {"stdout": "a", "stderr": "b", "interrupted": False}}, ("a\nb", 0, False, False)),
        ({"tool_response": {"stdout": "", "stderr": "b"}}, ("b", 0, False, False)),
        ({"tool_response": {"stdout": "a", "interrupted": True}}, ("a", None, False, True)),
        ({"tool_response": {"stdout": "", "backgroundTaskId": "b1"}}, ("", None, False, False)),
        ({"tool_response": '{"stdout":"a","stderr":"","interrupted":true}'}, ("a", None, False, True)),
        ({"tool_response": ""}, ("", 0, False, False)),
        ({"tool_name": "Read", "tool_response": {"type": "text", "file": {}}}, ("", None, False, False)),
        ({"tool_name": "mcp__a__b", "tool_response": [{"type": "text", "text": "x"}]}, ("x", None, False, False)),
        ({"tool_name": "mcp__a__b", "tool_response": "plain"}, ("plain", None, False, False)),
        ({"tool_name": "Grep", "tool_response": {"mode": "content", "content": "a:1"}}, ("a:1", None, False, False)),
        ({"tool_name": "WebFetch", "tool_response": {"code": 200, "result": "page"}}, ("page", None, False, False)),
        ({"hook_event_name": "PostToolUseFailure", "error": "Exit code 3\nout"}, ("out", 3, True, False)),
        ({"hook_event_name": "PostToolUseFailure", "error": "Exit code 3"}, ("", 3, True, False)),
        ({"hook_event_name": "PostToolUseFailure", "error": "Exit code 3 x"}, ("Exit code 3 x", None, True, False)),
        ({"hook_event_name": "PostToolUseFailure", "error": "Exit code " + "9" * 5000}, (..., None, True, False)),
        (
            {"hook_event_name": "PostToolUseFailure", "error": "timed out", "is_interrupt": "true"},
            ("timed out", None, True, True),
        ),
        (
            {"hook_event_name": "PostToolUseFailure", "tool_name": "Edit", "error": "Exit code 1\nx"},
            ("Exit code 1\nx", None, True, False),
        ),
    ],
    ids=str,
)
def test_how_a_tool_ended(fields: dict[str, Any], expected: tuple[object, ...]) -> None:
    """An exit code is told for shell commands that ended by themselves, and for nothing else."""
    event = CLAUDE_CODEC.decode(TOOL | {"tool_name": "Bash", "tool_input": {"command": "make"}} | fields)

    assert isinstance(event, ToolFinished)
    output = ... if expected[0] is ... else event.output
    assert expected == (output, event.exit_code, event.has_failed, event.was_interrupted)


@pytest.mark.parametrize(("fields", "error"), [({}, "no"), ({"is_interrupt": True}, ""), ({"error": ""}, "")])
def test_an_agent_that_could_not_be_started(fields: dict[str, Any], error: str) -> None:
    """A failed call of the tool for agents has made none; why is told, unless its user broke it off."""
    failure = {"hook_event_name": "PostToolUseFailure", "tool_name": "Agent", "error": "no"}

    expected = SubagentReturned(HERE, Call("t", "Agent", {}, ToolKind.DELEGATE), has_failed=True, error=error)
    assert expected == CLAUDE_CODEC.decode(TOOL | failure | fields)


@pytest.mark.parametrize(
    ("tasks", "running"),
    [
        ([], 0),
        ("[]", 0),
        ([{"type": "subagent", "status": "running"}, {"type": "shell", "status": "running"}], 2),
        ('[{"type":"subagent","status":"running"},{"type":"subagent","status":"completed"}]', 1),
        ([{"type": "monitor", "status": "running"}, "odd", {}], 0),
        ("", None),
        (None, None),
        ({"a": 1}, None),
    ],
    ids=str,
)
def test_what_still_runs(tasks: object, running: int | None) -> None:
    """Subagents and commands in the background that still run are counted; None when nothing is told of them."""
    event = CLAUDE_CODEC.decode(PROMPT | {"hook_event_name": "Stop", "background_tasks": tasks})

    assert TurnEnding(HERE, "", background_task_count=running) == event


@pytest.mark.parametrize(("mode", "is_planning"), [("plan", True), ("default", False), ("", False)])
def test_the_mode_in_which_nothing_is_changed_yet(mode: str, is_planning: bool) -> None:
    """The end of a turn tells whether its client only plans."""
    event = CLAUDE_CODEC.decode(PROMPT | {"hook_event_name": "Stop", "permission_mode": mode})

    assert TurnEnding(HERE, "", is_planning=is_planning) == event


@pytest.mark.parametrize("name", ["PreCompact", "SessionStart", "Stop", "SessionEnd", "StopFailure"])
def test_a_subagents_own_life_is_not_the_sessions(name: str) -> None:
    """What happens to a subagent's conversation is no event of the session."""
    event = CLAUDE_CODEC.decode(PROMPT | {"hook_event_name": name, "agent_id": "a1"})

    assert isinstance(event, UnknownEvent)
    assert (name, "a1") == (event.name, event.source.agent_id)


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        ("UserPromptSubmit", PromptOrigin.USER),
        ("UserPromptSubmit@interactive", PromptOrigin.USER),
        ("UserPromptSubmit.task_notification", PromptOrigin.TASK_NOTIFICATION),
        ("UserPromptSubmit.task_notification@interactive", PromptOrigin.TASK_NOTIFICATION),
    ],
)
def test_recorded_prompts(name: str, origin: PromptOrigin) -> None:
    """A prompt arrives word for word, and a task notification is not the user's."""
    event = CLAUDE_CODEC.decode(PAYLOADS[name])

    assert isinstance(event, PromptSubmitted)
    assert (PAYLOADS[name]["prompt"], origin) == (event.prompt, event.origin)


@pytest.mark.parametrize("name", [name for name in PAYLOADS if name.startswith("SessionStart")])
def test_recorded_session_starts(name: str) -> None:
    """How a session began is kept."""
    event = CLAUDE_CODEC.decode(PAYLOADS[name])

    assert isinstance(event, SessionStarted)
    assert PAYLOADS[name]["source"] == event.trigger


@pytest.mark.parametrize(
    ("fields", "origin"),
    [
        ({}, PromptOrigin.USER),
        ({"agent_id": "", "source": ""}, PromptOrigin.USER),
        ({"agent_id": "a1"}, PromptOrigin.SUBAGENT),
        ({"source": "system"}, PromptOrigin.TASK_NOTIFICATION),
        ({"source": "user"}, PromptOrigin.USER),
        ({"prompt": " \n<task-notification>\n<task-id>x"}, PromptOrigin.TASK_NOTIFICATION),
        ({"prompt": "what is <task-notification>?"}, PromptOrigin.USER),
        ({"prompt": frame_untrusted("x", "ab12", source="search") + "\nfix it"}, PromptOrigin.WRAPPED),
        ({"prompt": "why does upbeat-data appear?"}, PromptOrigin.USER),
    ],
    ids=str,
)
def test_who_wrote_a_prompt(fields: dict[str, str], origin: PromptOrigin) -> None:
    """Notifications, subagents and prepared prompts are told from a user's; "" is as good as missing."""
    event = CLAUDE_CODEC.decode(PROMPT | fields)

    assert isinstance(event, PromptSubmitted)
    assert origin is event.origin


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        (PROMPT | {"new_field": {"a": 1}, "prompt": ""}, PromptSubmitted(HERE, "")),
        (
            {k: v for k, v in PROMPT.items() if k != "session_id"},
            PromptSubmitted(EventSource(ClientName.CLAUDE_CODE, "/repo"), "fix it"),
        ),
        (PROMPT | {"session_id": 5}, PromptSubmitted(EventSource(ClientName.CLAUDE_CODE, "/repo"), "fix it")),
        (PROMPT | {"hook_event_name": "SessionStart", "source": ""}, SessionStarted(HERE, "startup")),
        (
            {"hook_event_name": "Tea", "cwd": "/repo", "session_id": "s", "b": 1, "a": 2},
            UnknownEvent(HERE, "Tea", ("a", "b", "cwd", "hook_event_name", "session_id")),
        ),
    ],
    ids=["unknown fields", "no session", "odd session", "how is empty", "unknown event"],
)
def test_newer_and_odder_payloads(payload: dict[str, Any], event: object) -> None:
    """What a newer client adds is ignored; what may be missing has a default."""
    assert event == CLAUDE_CODEC.decode(payload)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({}, "hook_event_name is null, not a string"),
        ({"hook_event_name": 5}, "hook_event_name is 5, not a string"),
        ({"hook_event_name": "Stop"}, "cwd is null, not a string"),
        (PROMPT | {"hook_event_name": "PreToolUse"}, "tool_name is null, not a string"),
        (PROMPT | {"cwd": ["/repo"]}, 'cwd is ["/repo"], not a string'),
        (PROMPT | {"cwd": "repo"}, 'cwd is "repo", not an absolute path'),
        (PROMPT | {"cwd": ""}, 'cwd is "", not an absolute path'),
        (PROMPT | {"prompt": None}, "prompt is null, not a string"),
        (PROMPT | {"prompt": {"text": "x" * 200}}, 'prompt is {"text": "' + "x" * 70 + ", not a string"),
    ],
)
def test_what_is_missing_is_named(payload: dict[str, Any], message: str) -> None:
    """A payload without what the event needs is the client's fault, told by field and value."""
    with pytest.raises(ClientError) as caught:
        CLAUDE_CODEC.decode(payload)

    assert message == str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = (
    *("session_id", "transcript_path", "cwd", "agent_id", "agent_type", "prompt", "source", "tool_name", "tool_input"),
    *("tool_use_id", "tool_response", "error", "is_interrupt", "background_tasks", "stop_hook_active", "trigger"),
    *("last_assistant_message", "_meta"),
)
EVENTS = st.sampled_from(sorted({payload["hook_event_name"] for payload in PAYLOADS.values()}))
VALUES = JSON | JSON.map(json.dumps) | st.sampled_from(["/repo", "Agent", "Bash", "Exit code 7\n", "[", "{"])


@given(EVENTS, st.dictionaries(st.sampled_from(FIELDS), VALUES), st.booleans())
def test_decode_never_breaks(name: str, fields: dict[str, Any], is_placed: bool) -> None:
    """Whatever stands in the fields, decode gives an event or says what is wrong."""
    payload = fields | {"hook_event_name": name} | ({"cwd": "/repo"} if is_placed else {})
    with contextlib.suppress(ClientError):
        assert ClientName.CLAUDE_CODE is CLAUDE_CODEC.decode(payload).source.client


CALL = Call("t", "Agent", {"description": "d", "prompt": "do it", "subagent_type": "upbeat:developer"})
DELEGATING = SubagentRequested(HERE, CALL, "upbeat:developer", "do it", "d")
ASKED = {"hookEventName": "PreToolUse"}


@pytest.mark.parametrize(
    ("event", "decision", "output"),
    [
        (PromptSubmitted(HERE, "x"), EMPTY_DECISION, {}),
        (PromptSubmitted(HERE, "x"), Decision((InjectContext(""), NotifyUser(""))), {}),
        (
            PromptSubmitted(HERE, "x"),
            Decision((InjectContext("a"), NotifyUser("b"), InjectContext("c"))),
            {
                "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "a\nc"},
                "systemMessage": "b",
            },
        ),
        (
            SessionStarted(HERE, "startup"),
            Decision((InjectContext("a"),)),
            {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "a"}},
        ),
        (SessionStarted(HERE, "startup"), Decision((NotifyUser("a"), NotifyUser("b"))), {"systemMessage": "a\nb"}),
        (
            DELEGATING,
            Decision((PrependPrompt("first"),)),
            {"hookSpecificOutput": ASKED | {"updatedInput": {**CALL.input, "prompt": "first\n\n---\n\ndo it"}}},
        ),
        (
            DELEGATING,
            Decision((Deny("not now"), PrependPrompt("first"), NotifyUser("b"))),
            {
                "hookSpecificOutput": ASKED | {"permissionDecision": "deny", "permissionDecisionReason": "not now"},
                "systemMessage": "b",
            },
        ),
        (
            ToolStarting(HERE, CALL),
            Decision((Deny("no"),)),
            {"hookSpecificOutput": ASKED | {"permissionDecision": "deny", "permissionDecisionReason": "no"}},
        ),
        (
            ToolFinished(HERE, CALL),
            Decision((InjectContext("a"),)),
            {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "a"}},
        ),
        (
            ToolFinished(HERE, CALL, has_failed=True),
            Decision((InjectContext("a"),)),
            {"hookSpecificOutput": {"hookEventName": "PostToolUseFailure", "additionalContext": "a"}},
        ),
        (
            SubagentStarted(HERE, "a", "x"),
            Decision((InjectContext("a"),)),
            {"hookSpecificOutput": {"hookEventName": "SubagentStart", "additionalContext": "a"}},
        ),
        (
            SubagentEnding(HERE, "a", "x", "m"),
            Decision((ContinueTurn("go"),)),
            {"hookSpecificOutput": {"hookEventName": "SubagentStop", "additionalContext": "go"}},
        ),
        (
            TurnEnding(HERE, "m"),
            Decision((ContinueTurn("go"), NotifyUser("b"))),
            {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "go"}, "systemMessage": "b"},
        ),
        (TurnEnding(HERE, "m"), Decision((InjectContext("a"),)), {}),
        (UnknownEvent(HERE, "Stop"), Decision((InjectContext("a"), NotifyUser("b"), Deny("c"))), {}),
    ],
)
def test_encode(event: Any, decision: Decision, output: dict[str, Any]) -> None:
    """Each effect goes where it is carried out, and nothing is said where there is nothing to say."""
    assert output == CLAUDE_CODEC.encode(event, decision)


@pytest.mark.parametrize(
    ("event", "left_out"),
    [
        (PromptSubmitted(HERE, "x"), (Deny("d"), PrependPrompt("p"), ContinueTurn("k"))),
        (DELEGATING, (ContinueTurn("k"),)),
        (
            SubagentRequested(HERE, Call("t", "Agent", {}), "x", "", is_prompt_hidden=True),
            (PrependPrompt("p"), ContinueTurn("k")),
        ),
        (SubagentStarted(HERE, "a", "x"), (NotifyUser("t"), Deny("d"), PrependPrompt("p"), ContinueTurn("k"))),
        (SubagentEnding(HERE, "a", "x", "m"), (InjectContext("i"), NotifyUser("t"), Deny("d"), PrependPrompt("p"))),
        (TurnEnding(HERE, "m"), (InjectContext("i"), Deny("d"), PrependPrompt("p"))),
        (SessionEnded(HERE), (InjectContext("i"), NotifyUser("t"), Deny("d"), PrependPrompt("p"), ContinueTurn("k"))),
    ],
)
def test_what_is_left_out_is_told(event: Any, left_out: tuple[Any, ...]) -> None:
    """An effect that the client cannot carry out at an event is named; one without words is none."""
    everything = Decision(
        (InjectContext("i"), NotifyUser("t"), Deny("d"), PrependPrompt("p"), ContinueTurn("k"), InjectContext(""))
    )

    assert left_out == left_out_by(CLAUDE_CODEC, event, everything)


def test_the_cap_leaves_room() -> None:
    """The cap is below the 10,000 UTF-16 units at which the client cuts by itself."""
    assert ("utf16", True) == (CLAUDE_CODEC.cap.unit.value, 9000 < CLAUDE_CODEC.cap.max_length < 10000)
