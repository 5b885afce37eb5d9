"""Every recorded payload of Codex is understood, every answer is one that Codex accepts, and both clients are equal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from fakes.context import repo_context
from fakes.runtime import fake_world
from hypothesis import given
from hypothesis import strategies as st
from recorded_hooks import codex_payloads
from wire_play import left_out_by

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.adapters.codex.codec import CODEX_CODEC
from upbeat.adapters.codex.tools import describe_call
from upbeat.core.contract.effect import (
    ContinueTurn,
    Decision,
    Deny,
    EndTurn,
    InjectContext,
    NotifyUser,
    PrependPrompt,
    RequestApproval,
    RequestCompaction,
    RewriteInput,
    RewriteOutput,
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
    ToolStarting,
    TurnEnding,
    TurnInterrupted,
    UnknownEvent,
    UserQuestionRequested,
)
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.engine.handle import handle_event
from upbeat.core.sanitize.frame import frame_untrusted

RECORDED = Path(__file__).parents[2] / "recorded/codex"
PAYLOADS = codex_payloads()
SCHEMAS = {
    path.name.partition(".")[0]: jsonschema_rs.validator_for(json.loads(path.read_text(encoding="utf-8")))
    for path in (RECORDED / "hook_schemas").glob("*.output.json")
}
HERE = EventSource(ClientName.CODEX_CLI, "/repo", "s")
PROMPT = {
    "hook_event_name": "UserPromptSubmit",
    "cwd": "/repo",
    "session_id": "s",
    "prompt": "how does send_with_retry work?",
}
FINDING = Finding("a.py", "t", "s", start_line=1, score=1.0, text="x")


@pytest.mark.parametrize(
    ("fields", "event"),
    [
        (
            {"tool_name": "spawn_agent", "tool_input": {"message": "do it", "agent_type": "upbeat:tester"}},
            lambda call: SubagentRequested(HERE, call, "upbeat:tester", "do it"),
        ),
        (
            {"tool_name": "spawn_agent", "tool_input": {"items": [{"type": "text", "text": "do it"}]}},
            lambda call: SubagentRequested(HERE, call, "", "", is_prompt_hidden=True),
        ),
        (
            {"tool_name": "collaborationspawn_agent", "tool_input": {"message": "gAAAA", "task_name": "upbeat_tester"}},
            lambda call: SubagentRequested(HERE, call, "", "", "upbeat_tester", is_prompt_hidden=True),
        ),
        (
            {"tool_name": "Bash", "tool_input": {"command": "make"}},
            lambda call: ToolStarting(HERE, call, "make"),
        ),
        (
            {"tool_name": "request_user_input", "tool_input": {"questions": []}},
            lambda call: UserQuestionRequested(HERE, call),
        ),
        (
            {"tool_name": "apply_patch", "tool_input": {"command": "*** Begin Patch"}},
            lambda call: ToolStarting(HERE, call),
        ),
    ],
    ids=["v1", "v1 with items", "v2", "shell", "question", "patch"],
)
def test_delegations_and_other_calls(fields: dict[str, Any], event: Callable[[Call], object]) -> None:
    """The tool tells a delegation; a prompt that is not plain text is hidden."""
    call = describe_call(Call("c", fields["tool_name"], fields["tool_input"]), HERE.cwd)

    assert event(call) == CODEX_CODEC.decode(PROMPT | {"hook_event_name": "PreToolUse", "tool_use_id": "c"} | fields)


@pytest.mark.parametrize(
    ("fields", "event"),
    [
        (
            {"tool_name": "spawn_agent", "tool_response": '{"agent_id":"a1","nickname":"Newton"}'},
            lambda call: SubagentReturned(HERE, call, "a1", resume_call='send_input with target "a1"'),
        ),
        (
            {"tool_name": "collaborationspawn_agent", "tool_response": '{"task_name":"/root/x"}'},
            lambda call: SubagentReturned(HERE, call, resume_call='followup_task with target "/root/x"'),
        ),
        (
            {"tool_name": "spawn_agent", "tool_response": {"agent_id": "a b"}},
            lambda call: SubagentReturned(HERE, call, "a b"),
        ),
        ({"tool_name": "spawn_agent", "tool_response": None}, lambda call: SubagentReturned(HERE, call)),
        (
            {"tool_name": "Bash", "tool_response": '{"agent_id": 1}\n'},
            lambda call: ToolFinished(HERE, call, '{"agent_id": 1}\n', "make"),
        ),
        (
            {"tool_name": "mcp__a__b", "tool_response": {"content": [{"type": "text", "text": "x"}]}},
            lambda call: ToolFinished(HERE, call, "x"),
        ),
    ],
    ids=["v1", "v2", "an odd name", "nothing told", "shell output that is JSON", "MCP"],
)
def test_results_of_calls(fields: dict[str, Any], event: Callable[[Call], object]) -> None:
    """No event has an exit code, because Codex reports none."""
    payload = PROMPT | {"hook_event_name": "PostToolUse", "tool_use_id": "c", "tool_input": {"command": "make"}}

    assert event(describe_call(Call("c", fields["tool_name"], {"command": "make"}), HERE.cwd)) == CODEX_CODEC.decode(
        payload | fields
    )


def test_the_recordings_have_prompts_of_subagents() -> None:
    """There are prompts of a user, too."""
    origins = {
        event.origin
        for payload in PAYLOADS.values()
        if isinstance(event := CODEX_CODEC.decode(payload), PromptSubmitted)
    }

    assert {PromptOrigin.USER, PromptOrigin.SUBAGENT} == origins


@pytest.mark.parametrize(
    ("fields", "origin"),
    [
        ({}, PromptOrigin.USER),
        ({"agent_id": "a1"}, PromptOrigin.SUBAGENT),
        ({"_meta": {"threadId": "s"}}, PromptOrigin.USER),
        ({"_meta": {"threadId": ""}}, PromptOrigin.USER),
        ({"_meta": {}}, PromptOrigin.USER),
        ({"_meta": None}, PromptOrigin.USER),
        ({"_meta": "s"}, PromptOrigin.USER),
        ({"_meta": {"threadId": "another"}}, PromptOrigin.SUBAGENT),
        ({"prompt": frame_untrusted("x", "ab12", source="search") + "\nfix it"}, PromptOrigin.WRAPPED),
        ({"prompt": "<task-notification>"}, PromptOrigin.USER),
    ],
    ids=str,
)
def test_the_origin_of_a_prompt(fields: dict[str, Any], origin: PromptOrigin) -> None:
    """A subagent is known by its id or its thread, a prepared prompt by its frame."""
    event = CODEX_CODEC.decode(PROMPT | fields)

    assert isinstance(event, PromptSubmitted)
    assert origin is event.origin


CALL = Call("c", "spawn_agent", {"message": "do it", "agent_type": "upbeat:tester"})
SEALED = SubagentRequested(
    HERE, Call("c", "collaborationspawn_agent", {"message": "gAAAA"}), "", "", "t", is_prompt_hidden=True
)
EVENTS = [
    (PromptSubmitted(HERE, "x"), "user-prompt-submit"),
    (SessionStarted(HERE, "startup"), "session-start"),
    (ToolStarting(HERE, Call("c", "Bash", {"command": "make"}), "make"), "pre-tool-use"),
    (UserQuestionRequested(HERE, Call("c", "request_user_input", {})), "pre-tool-use"),
    (SubagentRequested(HERE, CALL, "upbeat:tester", "do it"), "pre-tool-use"),
    (SEALED, "pre-tool-use"),
    (ToolFinished(HERE, CALL), "post-tool-use"),
    (SubagentReturned(HERE, CALL, "a1"), "post-tool-use"),
    (SubagentStarted(HERE, "a1", "default"), "subagent-start"),
    (SubagentEnding(HERE, "a1", "default", "m"), "subagent-stop"),
    (CompactionStarting(HERE, "auto"), "pre-compact"),
    (TurnEnding(HERE, "m"), "stop"),
    (TurnInterrupted(HERE), "interrupt"),
]
ONE_OF_EACH = [
    InjectContext("a"),
    NotifyUser('quote " and \u2028 and 仓库'),
    Deny("no"),
    PrependPrompt("p"),
    ContinueTurn("go"),
]
OTHERS = [
    RequestApproval("sure?"),
    RewriteInput("r", {"x": 1}),
    RewriteOutput("short"),
    EndTurn("enough"),
    RequestCompaction("now"),
]


@pytest.mark.parametrize(("event", "schema"), EVENTS, ids=lambda value: getattr(type(value), "__name__", value))
@given(effects=st.lists(st.sampled_from(ONE_OF_EACH + OTHERS), max_size=4))
def test_codex_accepts_every_output(event: Any, schema: str, effects: list[Any]) -> None:
    """Every output is valid under Codex's own schemas, which drop unknown keys with everything else."""
    decision = Decision(tuple(effects))
    output = CODEX_CODEC.encode(event, decision)

    SCHEMAS[schema].validate(output)
    assert bool(output) == (len(effects) > len(left_out_by(CODEX_CODEC, event, decision)))


@pytest.mark.parametrize(
    ("event", "effects", "output"),
    [
        (
            SubagentRequested(HERE, CALL, "upbeat:tester", "do it"),
            (PrependPrompt("first"), NotifyUser("b")),
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow",
                    "updatedInput": {"message": "first\n\n---\n\ndo it", "agent_type": "upbeat:tester"},
                },
                "systemMessage": "b",
            },
        ),
        (SEALED, (PrependPrompt("first"),), {}),
        (ToolStarting(HERE, CALL), (PrependPrompt("first"), ContinueTurn("go")), {}),
        (
            ToolStarting(HERE, CALL),
            (Deny("no"), InjectContext("a")),
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": "no",
                    "additionalContext": "a",
                }
            },
        ),
        (TurnEnding(HERE, "m"), (ContinueTurn("go"), InjectContext("a")), {"decision": "block", "reason": "go"}),
        (SubagentEnding(HERE, "a", "x", "m"), (ContinueTurn("go"),), {"decision": "block", "reason": "go"}),
        (SessionEnded(HERE), tuple(ONE_OF_EACH), {}),
        (UnknownEvent(HERE, "Stop"), tuple(ONE_OF_EACH), {}),
    ],
    ids=str,
)
def test_each_effect_has_its_output(event: Any, effects: tuple[Any, ...], output: dict[str, Any]) -> None:
    """No call but a delegation is ever allowed by upbeat."""
    assert output == CODEX_CODEC.encode(event, Decision(effects))


@pytest.mark.parametrize(
    "prompt",
    [
        PROMPT["prompt"],
        "hello",
        "fix the bug in a.py",
        "请解释 parse 函数的作用",
        frame_untrusted("x", "ab", source="s"),
    ],
)
def test_equal_prompts_give_equal_decisions(prompt: str) -> None:
    """The same prompt leads to the same effects, limits and plan in both clients."""
    decisions = []
    for codec in (CLAUDE_CODEC, CODEX_CODEC):
        world = fake_world(repo_context(), {"ci_search": ToolOutput("1 file", (FINDING,))})
        decision = handle_event(codec.decode(PROMPT | {"prompt": prompt}), world.runtime, codec.cap)
        report = decision.report and (decision.report.limits, decision.report.tool_plan.tools, decision.report.inputs)
        decisions.append((decision.effects, decision.skip_reason, report))

    assert decisions[0] == decisions[1]
