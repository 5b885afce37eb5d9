"""Every recorded payload of Claude Code is understood, by either route; what is not for us is left alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from case_files import read_json_groups
from recorded_hooks import claude_payloads
from wire_play import left_out_by

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.core.contract.effect import (
    AnswerPrompt,
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
    UnknownEvent,
)
from upbeat.core.sanitize.frame import frame_untrusted

PAYLOADS = claude_payloads()
CASES = read_json_groups(Path(__file__).with_name("cases.jsonl"))
HERE = EventSource(ClientName.CLAUDE_CODE, "/repo", "s")
PROMPT = {"hook_event_name": "UserPromptSubmit", "cwd": "/repo", "session_id": "s", "prompt": "fix it"}
TOOL = {"hook_event_name": "PostToolUse", "cwd": "/repo", "session_id": "s", "tool_use_id": "t"}


def as_text(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A payload of a command hook in the form in which an ``mcp_tool`` hook would pass it."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        for name, value in payload.items()
        if value is not None
    }


@pytest.mark.parametrize("name", PAYLOADS)
def test_both_routes_give_the_same_event(name: str) -> None:
    """A payload whose values are all text is the same event as the typed one."""
    typed, text = CLAUDE_CODEC.decode(PAYLOADS[name]), CLAUDE_CODEC.decode(as_text(PAYLOADS[name]))

    if not isinstance(typed, UnknownEvent):
        assert typed == text


@pytest.mark.parametrize(("name", "event_type", "fields"), CASES["recorded"])
def test_recorded_events(name: str, event_type: str, fields: dict[str, Any]) -> None:
    """Delegations, returns from them and prompts have their fields; an agent in the background was only started."""
    event = CLAUDE_CODEC.decode(PAYLOADS[name])

    assert event_type == type(event).__name__
    assert fields == {field: getattr(event, field) for field in fields}
    if isinstance(event, SubagentRequested):
        assert PAYLOADS[name]["tool_use_id"] == event.call.id
    if isinstance(event, PromptSubmitted):
        assert PAYLOADS[name]["prompt"] == event.prompt


@pytest.mark.parametrize(("fields", "expected"), CASES["tool_end"], ids=str)
def test_how_a_tool_ended(fields: dict[str, Any], expected: list[object]) -> None:
    """Only shell commands that ended by themselves have an exit code."""
    event = CLAUDE_CODEC.decode(TOOL | {"tool_name": "Bash", "tool_input": {"command": "make"}} | fields)

    assert isinstance(event, ToolFinished)
    assert expected == [event.output, event.exit_code, event.has_failed, event.was_interrupted]


@pytest.mark.parametrize(("start", "count"), [("1", 1), ("9", 0), ("", 1), ("${tool_response.file.startLine}", 1)])
def test_a_read_of_which_only_the_lines_are_known(start: str, count: int) -> None:
    """Over MCP a read comes without its text; one that starts after the last line has read no file."""
    fields = {"tool_response.file.startLine": start, "tool_response.file.totalLines": "7"}
    event = CLAUDE_CODEC.decode(TOOL | {"tool_name": "Read", "tool_input": {"file_path": "/a.py"}} | fields)

    assert isinstance(event, ToolFinished)
    assert count == len(event.call.paths)


def test_an_exit_code_with_too_many_digits_is_none() -> None:
    """Python would refuse to parse it."""
    failure = {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": "Exit code " + "9" * 5000}
    event = CLAUDE_CODEC.decode(TOOL | failure)

    assert isinstance(event, ToolFinished)
    assert event.exit_code is None


@pytest.mark.parametrize(("fields", "error"), [({}, "no"), ({"is_interrupt": True}, ""), ({"error": ""}, "")])
def test_an_agent_that_was_not_started(fields: dict[str, Any], error: str) -> None:
    """A failed call of the tool has no agent; the event has the error unless the user interrupted it."""
    failure = {"hook_event_name": "PostToolUseFailure", "tool_name": "Agent", "error": "no"}

    expected = SubagentReturned(HERE, Call("t", "Agent", {}, ToolKind.DELEGATE), has_failed=True, error=error)
    assert expected == CLAUDE_CODEC.decode(TOOL | failure | fields)


@pytest.mark.parametrize(("tasks", "running"), CASES["background_tasks"], ids=str)
def test_background_tasks_are_counted(tasks: object, running: int | None) -> None:
    """Running subagents and commands count; None if the client reports no tasks."""
    event = CLAUDE_CODEC.decode(PROMPT | {"hook_event_name": "Stop", "background_tasks": tasks})

    assert TurnEnding(HERE, "", background_task_count=running) == event


@pytest.mark.parametrize(("mode", "is_planning"), [("plan", True), ("default", False), ("", False)])
def test_the_end_of_a_turn_has_the_plan_mode(mode: str, is_planning: bool) -> None:
    """``permission_mode`` says whether the client only plans."""
    event = CLAUDE_CODEC.decode(PROMPT | {"hook_event_name": "Stop", "permission_mode": mode})

    assert TurnEnding(HERE, "", is_planning=is_planning) == event


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
def test_the_origin_of_a_prompt(fields: dict[str, str], origin: PromptOrigin) -> None:
    """Notifications, subagents and prepared prompts are not the user's; an empty field counts as missing."""
    event = CLAUDE_CODEC.decode(PROMPT | fields)

    assert isinstance(event, PromptSubmitted)
    assert origin is event.origin


CALL = Call("t", "Agent", {"description": "d", "prompt": "do it", "subagent_type": "upbeat:developer"})
DELEGATING = SubagentRequested(HERE, CALL, "upbeat:developer", "do it", "d")


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


REWRITTEN = {**CALL.input, "prompt": "first\n\n---\n\ndo it"}


@pytest.mark.parametrize(
    ("event", "effects", "output"),
    [
        (PromptSubmitted(HERE, "x"), [], {}),
        (PromptSubmitted(HERE, "x"), [InjectContext(""), NotifyUser("")], {}),
        (
            PromptSubmitted(HERE, "x"),
            [InjectContext("a"), NotifyUser("b"), InjectContext("c")],
            specific("UserPromptSubmit", additionalContext="a\nc") | {"systemMessage": "b"},
        ),
        (SessionStarted(HERE, "startup"), [InjectContext("a")], specific("SessionStart", additionalContext="a")),
        (
            PromptSubmitted(HERE, "/upbeat:why"),
            [AnswerPrompt("a\nb")],
            specific("UserPromptSubmit", suppressOriginalPrompt=True) | {"decision": "block", "reason": "a\nb"},
        ),
        (SessionStarted(HERE, "startup"), [NotifyUser("a"), NotifyUser("b")], {"systemMessage": "a\nb"}),
        (DELEGATING, [PrependPrompt("first")], specific("PreToolUse", updatedInput=REWRITTEN)),
        (
            DELEGATING,
            [Deny("not now"), PrependPrompt("first"), NotifyUser("b")],
            specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="not now")
            | {"systemMessage": "b"},
        ),
        (
            ToolStarting(HERE, CALL),
            [Deny("no")],
            specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"),
        ),
        (ToolFinished(HERE, CALL), [InjectContext("a")], specific("PostToolUse", additionalContext="a")),
        (
            ToolFinished(HERE, CALL, has_failed=True),
            [InjectContext("a")],
            specific("PostToolUseFailure", additionalContext="a"),
        ),
        (SubagentStarted(HERE, "a", "x"), [InjectContext("a")], specific("SubagentStart", additionalContext="a")),
        (SubagentEnding(HERE, "a", "x", "m"), [ContinueTurn("go")], specific("SubagentStop", additionalContext="go")),
        (
            TurnEnding(HERE, "m"),
            [ContinueTurn("go"), NotifyUser("b")],
            specific("Stop", additionalContext="go") | {"systemMessage": "b"},
        ),
        (TurnEnding(HERE, "m"), [InjectContext("a")], {}),
        (UnknownEvent(HERE, "Stop"), [InjectContext("a"), NotifyUser("b"), Deny("c")], {}),
    ],
)
def test_each_effect_has_its_output(event: Any, effects: list[Any], output: dict[str, Any]) -> None:
    """Without an effect, or without a text, there is no output."""
    assert output == CLAUDE_CODEC.encode(event, Decision(tuple(effects)))


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
def test_unsupported_effects_are_reported(event: Any, left_out: tuple[Any, ...]) -> None:
    """Each effect that the client cannot carry out at an event is named, except those without a text."""
    everything = Decision(
        (InjectContext("i"), NotifyUser("t"), Deny("d"), PrependPrompt("p"), ContinueTurn("k"), InjectContext(""))
    )

    assert left_out == left_out_by(CLAUDE_CODEC, event, everything)


@pytest.mark.parametrize(
    ("fields", "is_headless"),
    [
        ({"source": "startup", "model": "m"}, None),
        ({"source": "startup"}, True),
        ({"source": "resume"}, None),
        ({"source": "clear", "model": "m"}, None),
    ],
)
def test_only_the_terminal_program_names_its_model(fields: dict[str, str], is_headless: bool | None) -> None:
    """At a startup without a model nobody sees messages; at other starts it is not known."""
    event = CLAUDE_CODEC.decode({"hook_event_name": "SessionStart", "cwd": "/repo", "session_id": "s", **fields})

    assert isinstance(event, SessionStarted)
    assert is_headless is event.is_headless
