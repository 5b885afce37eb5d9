"""Both clients tell the same things in the same words: the table of what happens, as each of them tells it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from case_files import read_json_groups
from fakes.context import repo_context
from fakes.runtime import fake_world

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.adapters.codex.codec import CODEX_CODEC
from upbeat.adapters.hooks.codec import UNSUPPORTED
from upbeat.core.contract.effect import Decision, Effect, RelabelOptions, RewriteInput
from upbeat.core.contract.event import (
    Call,
    ClientName,
    Event,
    EventSource,
    SessionStarted,
    SubagentReturned,
    ToolFinished,
    TurnEnding,
)
from upbeat.core.engine.handle import handle_event

PLACE = {"session_id": "s", "cwd": "/repo", "transcript_path": "/t.jsonl", "permission_mode": "default"}
IN_CLAUDE = {**PLACE, "prompt_id": "p", "effort": {"level": "medium"}}
IN_CODEX = {**PLACE, "turn_id": "u", "model": "gpt-5.5", "_meta": {"threadId": "s", "progressToken": 1}}
Fields = Mapping[str, Any]
PAIRS = read_json_groups(Path(__file__).with_name("payload_pairs.jsonl"))
"""Hook, its fields in Claude Code and in Codex: single ``events``, and the ``course`` of a session."""
EACH_EVENT = pytest.mark.parametrize(
    ("name", "in_claude", "in_codex"), PAIRS["events"], ids=[pair[0] for pair in PAIRS["events"]]
)


def alike(event: Event) -> Event:
    """``event`` without the client's own names, and without what only one of the clients tells."""
    event = replace(event, source=replace(event.source, client=ClientName.CLI))
    if hasattr(event, "call") and event.call.tool != "Bash":
        event = replace(event, call=Call(event.call.id, "", {}))
    if isinstance(event, ToolFinished):  # Codex tells no exit code
        event = replace(event, exit_code=None)
    if isinstance(event, TurnEnding):  # nor what still runs
        event = replace(event, background_task_count=None)
    if isinstance(event, SubagentReturned):  # Claude Code tells its model itself how an agent is gone on with
        event = replace(event, resume_call="")
    if isinstance(event, SessionStarted):  # and only its payload tells that nobody sees a message
        event = replace(event, is_headless=None)
    return event


def over_mcp(fields: Fields) -> dict[str, Any]:
    """A payload as Claude Code passes it over MCP: all text."""
    given = {name: value for name, value in fields.items() if value is not None}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}


@EACH_EVENT
def test_the_same_happening_is_the_same_event(name: str, in_claude: Fields, in_codex: Fields) -> None:
    """What both clients know decodes to equal events, by each route."""
    theirs = CODEX_CODEC.decode({**IN_CODEX, **in_codex, "hook_event_name": name})
    ours = CLAUDE_CODEC.decode({**IN_CLAUDE, **in_claude, "hook_event_name": name})
    text = CLAUDE_CODEC.decode(over_mcp({**IN_CLAUDE, **in_claude, "hook_event_name": name}))

    assert ClientName.CODEX_CLI is theirs.source.client
    assert alike(theirs) == alike(ours)
    assert ours == text


EFFECTS: tuple[type[Effect], ...] = get_args(Effect)
GIVEN: Mapping[type[Effect], Effect] = {
    RewriteInput: RewriteInput("words", {"x": 1}),
    RelabelOptions: RelabelOptions("words", {"A": "B"}),
}
"""What changes nothing without its fields."""
DIFFERENT = {
    ("UserQuestionRequested", "RelabelOptions"): "Codex takes no changed input of a question",
    ("ToolStarting", "ApproveCall"): "Codex asks nobody about reading files",
    ("SubagentStarted", "NotifyUser"): "Claude Code shows no message of this event",
    ("SubagentEnding", "NotifyUser"): "Claude Code shows no message of this event",
    ("CompactionStarting", "NotifyUser"): "Claude Code would put the answer into the summary",
    ("TurnInterrupted", "NotifyUser"): "Claude Code does not tell of an interrupt",
}
"""What one client carries out and the other one cannot."""


def test_both_clients_carry_out_the_same() -> None:
    """The tables of capabilities are equal but for what is listed."""
    of_claude, of_codex = (
        {(event.__name__, effect.__name__) for event, ways in codec.capabilities.items() for effect in ways}
        for codec in (CLAUDE_CODEC, CODEX_CODEC)
    )

    assert set(DIFFERENT) == of_claude ^ of_codex


@EACH_EVENT
def test_an_effect_is_carried_out_or_told(name: str, in_claude: Fields, in_codex: Fields) -> None:
    """Each effect at each event either has an output or is degraded, and in both clients the same."""
    for effect in EFFECTS:
        _is_carried_out_or_told(name, in_claude, in_codex, effect)


def _is_carried_out_or_told(name: str, in_claude: Fields, in_codex: Fields, effect: type[Effect]) -> None:
    told = []
    for codec, fields in ((CLAUDE_CODEC, {**IN_CLAUDE, **in_claude}), (CODEX_CODEC, {**IN_CODEX, **in_codex})):
        event = codec.decode({**fields, "hook_event_name": name})
        decision = Decision((GIVEN.get(effect) or effect("words"),))
        is_degraded = codec.degradations(event, decision) == (UNSUPPORTED,)
        assert is_degraded is not bool(codec.encode(event, decision)), effect
        told.append(is_degraded)

    assert (len(set(told)) == 1) is ((type(event).__name__, effect.__name__) not in DIFFERENT), effect


def test_source_is_alike() -> None:
    """Where an event happened is told by both in the same way."""
    here = EventSource(ClientName.CLI, "/repo", "s", "a1", "/t.jsonl")
    [(_, in_claude, in_codex)] = PAIRS["call of an agent"]

    assert here == alike(CLAUDE_CODEC.decode({**IN_CLAUDE, **in_claude})).source
    assert here == alike(CODEX_CODEC.decode({**IN_CODEX, **in_codex})).source


def test_the_same_course_has_the_same_decisions() -> None:
    """A workflow through either client comes to the same effects, event by event."""
    decided: list[list[tuple[str, tuple[Effect, ...]]]] = []
    for codec, shared, column in ((CLAUDE_CODEC, IN_CLAUDE, 1), (CODEX_CODEC, IN_CODEX, 2)):
        runtime = fake_world(repo_context()).runtime
        effects = []
        for step in PAIRS["course"]:
            event = codec.decode({**shared, **step[column], "hook_event_name": step[0]})
            effects.append((step[0], handle_event(event, runtime, codec.cap).effects))
        decided.append(effects)

    assert decided[0] == decided[1]
    kinds = [[type(effect).__name__ for effect in effects] for _, effects in decided[0]]
    assert ["Deny"] == kinds[2]
    assert ["PrependPrompt"] == kinds[3]
    assert "ContinueTurn" in kinds[7]
    assert [] == [kind for kind in kinds[11] if kind == "ContinueTurn"]
