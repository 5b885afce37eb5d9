"""What is put before a prompt changes that prompt and not one byte of anything else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_play import left_out_by

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.adapters.codex.codec import CODEX_CODEC
from upbeat.adapters.hooks.codec import PROMPT_SEPARATOR, HookCodec
from upbeat.core.contract.effect import Decision, PrependPrompt
from upbeat.core.contract.event import SubagentRequested

PLACE = {"hook_event_name": "PreToolUse", "cwd": "/repo", "session_id": "s", "tool_use_id": "c"}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
INPUTS = st.lists(st.tuples(TEXT, JSON), max_size=6)


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    ("codec", "tool", "field", "is_text"),
    [
        (CLAUDE_CODEC, "Agent", "prompt", False),
        (CLAUDE_CODEC, "Agent", "prompt", True),
        (CLAUDE_CODEC, "Task", "prompt", True),
        (CODEX_CODEC, "spawn_agent", "message", False),
    ],
    ids=["claude command", "claude mcp", "claude Task", "codex"],
)
@given(before=INPUTS, after=INPUTS, prompt=TEXT, text=TEXT.filter(bool))
def test_everything_else_stays(
    codec: HookCodec, tool: str, field: str, is_text: bool, before: Any, after: Any, prompt: str, text: str
) -> None:
    """Every other field of the input keeps its bytes and its place; the prompt stands whole behind the text."""
    given_input = dict(before) | {field: prompt} | {name: value for name, value in after if name != field}
    event = codec.decode(PLACE | {"tool_name": tool, "tool_input": written(given_input) if is_text else given_input})
    output = codec.encode(event, Decision((PrependPrompt(text),)))

    updated = output["hookSpecificOutput"]["updatedInput"]
    assert written(given_input | {field: f"{text}{PROMPT_SEPARATOR}{prompt}"}) == written(updated)


@pytest.mark.parametrize(
    "given_input", [{}, {"prompt": 5}, {"prompt": None}, {"message": 5}, {"items": []}, "no JSON", [1]]
)
@pytest.mark.parametrize(("codec", "tool"), [(CLAUDE_CODEC, "Agent"), (CODEX_CODEC, "spawn_agent")])
def test_an_input_without_its_prompt_is_left_alone(codec: HookCodec, tool: str, given_input: object) -> None:
    """Where there is no prompt to put something before, nothing is changed, and that is told."""
    event = codec.decode(PLACE | {"tool_name": tool, "tool_input": given_input})
    decision = Decision((PrependPrompt("first"),))

    assert isinstance(event, SubagentRequested)
    assert event.is_prompt_hidden
    assert ({}, decision.effects) == (codec.encode(event, decision), left_out_by(codec, event, decision))
