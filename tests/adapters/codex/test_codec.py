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
from upbeat.core.contract import effect
from upbeat.core.contract import event as events
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.engine.handle import handle_event
from upbeat.core.sanitize.frame import frame_untrusted

RECORDED = Path(__file__).parents[2] / "recorded/codex"
PAYLOADS = codex_payloads()
SCHEMAS = {
    path.name.partition(".")[0]: jsonschema_rs.validator_for(json.loads(path.read_text(encoding="utf-8")))
    for path in (RECORDED / "hook_schemas").glob("*.output.json")
}
HERE = events.EventSource(events.ClientName.CODEX_CLI, "/repo", "s")
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
            lambda call: events.SubagentRequested(HERE, call, "upbeat:tester", "do it"),
        ),
        (
            {"tool_name": "spawn_agent", "tool_input": {"items": [{"type": "text", "text": "do it"}]}},
            lambda call: events.SubagentRequested(HERE, call, "", "", is_prompt_hidden=True),
        ),
        (
            {"tool_name": "collaborationspawn_agent", "tool_input": {"message": "gAAAA", "task_name": "upbeat_tester"}},
            lambda call: events.SubagentRequested(HERE, call, "", "", "upbeat_tester", is_prompt_hidden=True),
        ),
        (
            {"tool_name": "Bash", "tool_input": {"command": "make"}},
            lambda call: events.ToolStarting(HERE, call, "make"),
        ),
        (
            {"tool_name": "request_user_input", "tool_input": {"questions": []}},
            lambda call: events.UserQuestionRequested(HERE, call),
        ),
        (
            {"tool_name": "apply_patch", "tool_input": {"command": "*** Begin Patch"}},
            lambda call: events.ToolStarting(HERE, call),
        ),
    ],
    ids=["v1", "v1 with items", "v2", "shell", "question", "patch"],
)
def test_delegations_and_other_calls(fields: dict[str, Any], event: Callable[[events.Call], object]) -> None:
    """The tool tells a delegation; a prompt that is not plain text is hidden."""
    call = describe_call(events.Call("c", fields["tool_name"], fields["tool_input"]), HERE.cwd)

    assert event(call) == CODEX_CODEC.decode(PROMPT | {"hook_event_name": "PreToolUse", "tool_use_id": "c"} | fields)


@pytest.mark.parametrize(
    ("fields", "event"),
    [
        (
            {"tool_name": "spawn_agent", "tool_response": '{"agent_id":"a1","nickname":"Newton"}'},
            lambda call: events.SubagentReturned(HERE, call, "a1", resume_call='send_input with target "a1"'),
        ),
        (
            {"tool_name": "collaborationspawn_agent", "tool_response": '{"task_name":"/root/x"}'},
            lambda call: events.SubagentReturned(HERE, call, resume_call='followup_task with target "/root/x"'),
        ),
        (
            {"tool_name": "spawn_agent", "tool_response": {"agent_id": "a b"}},
            lambda call: events.SubagentReturned(HERE, call, "a b"),
        ),
        ({"tool_name": "spawn_agent", "tool_response": None}, lambda call: events.SubagentReturned(HERE, call)),
        (
            {"tool_name": "Bash", "tool_response": '{"agent_id": 1}\n'},
            lambda call: events.ToolFinished(HERE, call, '{"agent_id": 1}\n', "make"),
        ),
        (
            {"tool_name": "mcp__a__b", "tool_response": {"content": [{"type": "text", "text": "x"}]}},
            lambda call: events.ToolFinished(HERE, call, "x"),
        ),
    ],
    ids=["v1", "v2", "an odd name", "nothing told", "shell output that is JSON", "MCP"],
)
def test_results_of_calls(fields: dict[str, Any], event: Callable[[events.Call], object]) -> None:
    """No event has an exit code, because Codex reports none."""
    payload = PROMPT | {"hook_event_name": "PostToolUse", "tool_use_id": "c", "tool_input": {"command": "make"}}

    assert event(
        describe_call(events.Call("c", fields["tool_name"], {"command": "make"}), HERE.cwd)
    ) == CODEX_CODEC.decode(payload | fields)


def test_the_recordings_have_prompts_of_subagents() -> None:
    """There are prompts of a user, too."""
    origins = {
        event.origin
        for payload in PAYLOADS.values()
        if isinstance(event := CODEX_CODEC.decode(payload), events.PromptSubmitted)
    }

    assert {events.PromptOrigin.USER, events.PromptOrigin.SUBAGENT} == origins


@pytest.mark.parametrize(
    ("fields", "origin"),
    [
        ({}, events.PromptOrigin.USER),
        ({"agent_id": "a1"}, events.PromptOrigin.SUBAGENT),
        ({"_meta": {"threadId": "s"}}, events.PromptOrigin.USER),
        ({"_meta": {"threadId": ""}}, events.PromptOrigin.USER),
        ({"_meta": {}}, events.PromptOrigin.USER),
        ({"_meta": None}, events.PromptOrigin.USER),
        ({"_meta": "s"}, events.PromptOrigin.USER),
        ({"_meta": {"threadId": "another"}}, events.PromptOrigin.SUBAGENT),
        ({"prompt": frame_untrusted("x", "ab12", source="search") + "\nfix it"}, events.PromptOrigin.WRAPPED),
        ({"prompt": "<task-notification>"}, events.PromptOrigin.USER),
    ],
    ids=str,
)
def test_the_origin_of_a_prompt(fields: dict[str, Any], origin: events.PromptOrigin) -> None:
    """A subagent is known by its id or its thread, a prepared prompt by its frame."""
    event = CODEX_CODEC.decode(PROMPT | fields)

    assert isinstance(event, events.PromptSubmitted)
    assert origin is event.origin


CALL = events.Call("c", "spawn_agent", {"message": "do it", "agent_type": "upbeat:tester"})
SEALED = events.SubagentRequested(
    HERE, events.Call("c", "collaborationspawn_agent", {"message": "gAAAA"}), "", "", "t", is_prompt_hidden=True
)
EVENTS = [
    (events.PromptSubmitted(HERE, "x"), "user-prompt-submit"),
    (events.SessionStarted(HERE, "startup"), "session-start"),
    (events.ToolStarting(HERE, events.Call("c", "Bash", {"command": "make"}), "make"), "pre-tool-use"),
    (events.UserQuestionRequested(HERE, events.Call("c", "request_user_input", {})), "pre-tool-use"),
    (events.SubagentRequested(HERE, CALL, "upbeat:tester", "do it"), "pre-tool-use"),
    (SEALED, "pre-tool-use"),
    (events.ToolFinished(HERE, CALL), "post-tool-use"),
    (events.SubagentReturned(HERE, CALL, "a1"), "post-tool-use"),
    (events.SubagentStarted(HERE, "a1", "default"), "subagent-start"),
    (events.SubagentEnding(HERE, "a1", "default", "m"), "subagent-stop"),
    (events.CompactionStarting(HERE, "auto"), "pre-compact"),
    (events.TurnEnding(HERE, "m"), "stop"),
    (events.TurnInterrupted(HERE), "interrupt"),
]
ONE_OF_EACH = [
    effect.InjectContext("a"),
    effect.NotifyUser('quote " and \u2028 and 仓库'),
    effect.Deny("no"),
    effect.PrependPrompt("p"),
    effect.ContinueTurn("go"),
]
OTHERS = [
    effect.RequestApproval("sure?"),
    effect.RewriteInput("r", {"x": 1}),
    effect.RewriteOutput("short"),
    effect.EndTurn("enough"),
    effect.RequestCompaction("now"),
]


@pytest.mark.parametrize(("event", "schema"), EVENTS, ids=lambda value: getattr(type(value), "__name__", value))
@given(effects=st.lists(st.sampled_from(ONE_OF_EACH + OTHERS), max_size=4))
def test_codex_accepts_every_output(event: Any, schema: str, effects: list[Any]) -> None:
    """Every output is valid under Codex's own schemas, which drop unknown keys with everything else."""
    decision = effect.Decision(tuple(effects))
    output = CODEX_CODEC.encode(event, decision)

    SCHEMAS[schema].validate(output)
    assert bool(output) == (len(effects) > len(left_out_by(CODEX_CODEC, event, decision)))


@pytest.mark.parametrize(
    ("event", "effects", "output"),
    [
        (
            events.SubagentRequested(HERE, CALL, "upbeat:tester", "do it"),
            (effect.PrependPrompt("first"), effect.NotifyUser("b")),
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow",
                    "updatedInput": {"message": "first\n\n---\n\ndo it", "agent_type": "upbeat:tester"},
                },
                "systemMessage": "b",
            },
        ),
        (SEALED, (effect.PrependPrompt("first"),), {}),
        (events.ToolStarting(HERE, CALL), (effect.PrependPrompt("first"), effect.ContinueTurn("go")), {}),
        (
            events.ToolStarting(HERE, CALL),
            (effect.Deny("no"), effect.InjectContext("a")),
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": "no",
                    "additionalContext": "a",
                }
            },
        ),
        (
            events.TurnEnding(HERE, "m"),
            (effect.ContinueTurn("go"), effect.InjectContext("a")),
            {"decision": "block", "reason": "go"},
        ),
        (
            events.SubagentEnding(HERE, "a", "x", "m"),
            (effect.ContinueTurn("go"),),
            {"decision": "block", "reason": "go"},
        ),
        (events.SessionEnded(HERE), tuple(ONE_OF_EACH), {}),
        (events.UnknownEvent(HERE, "Stop"), tuple(ONE_OF_EACH), {}),
    ],
    ids=str,
)
def test_each_effect_has_its_output(event: Any, effects: tuple[Any, ...], output: dict[str, Any]) -> None:
    """No call but a delegation is ever allowed by upbeat."""
    assert output == CODEX_CODEC.encode(event, effect.Decision(effects))


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
