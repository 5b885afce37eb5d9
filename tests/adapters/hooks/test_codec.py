"""What holds for both clients: every recorded payload is its event, and an input keeps every byte beside its prompt."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from case_files import read_cases, read_json_groups
from hypothesis import given
from hypothesis import strategies as st
from recorded_hooks import Payloads, claude_payloads, codex_payloads, mcp_payloads
from wire_play import left_out_by

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.adapters.codex.codec import CODEX_CODEC
from upbeat.adapters.hooks.codec import PROMPT_SEPARATOR, HookCodec
from upbeat.core.contract import event as events
from upbeat.core.contract.effect import Decision, PrependPrompt
from upbeat.core.errors import ClientError

PLACE = {"hook_event_name": "PreToolUse", "cwd": "/repo", "session_id": "s", "tool_use_id": "c"}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
INPUTS = st.lists(st.tuples(TEXT, JSON), max_size=6)


CODECS: dict[str, HookCodec] = {"claude-code": CLAUDE_CODEC, "codex": CODEX_CODEC}
COMMAND_PAYLOADS = {"claude-code": claude_payloads(), "codex": codex_payloads()}
MCP_PAYLOADS = {client: mcp_payloads(client) for client in CODECS}
HERE = events.EventSource(events.ClientName.CLAUDE_CODE, "/repo", "s")
PROMPT = {"hook_event_name": "UserPromptSubmit", "cwd": "/repo", "session_id": "s", "prompt": "fix it"}
ERRORS = read_json_groups(Path(__file__).with_name("cases.jsonl"))["error"]
EVENT_BY_NAME = dict(read_cases(Path(__file__).with_name("events.tsv")))
"""A hook's event, and its tool where that matters, with upbeat's event for it."""
FIELDS = (
    *("session_id", "transcript_path", "cwd", "agent_id", "agent_type", "prompt", "source", "tool_name", "tool_input"),
    *("tool_use_id", "tool_response", "error", "is_interrupt", "background_tasks", "stop_hook_active", "trigger"),
    *("last_assistant_message", "_meta", "reason"),
)
ODD_VALUES = st.sampled_from(["/repo", "Agent", "spawn_agent", "Bash", "Exit code 7\n", {"threadId": "x"}, "[", "{"])


def each(payloads: Mapping[str, Payloads]) -> list[Any]:
    """The payloads of both clients, as parameters."""
    return [
        pytest.param(client, payload, id=f"{client}-{name}")
        for client, by_name in payloads.items()
        for name, payload in by_name.items()
    ]


def expected_event(payload: Mapping[str, Any]) -> str:
    """The type of a payload's event, from its name and tool; a subagent without a type is a compaction's."""
    name = payload["hook_event_name"]
    if name == "SubagentStop" and not payload["agent_type"]:
        return "UnknownEvent"
    return EVENT_BY_NAME.get(f"{name}.{payload.get('tool_name')}", EVENT_BY_NAME.get(name, "UnknownEvent"))


def test_the_recordings_cover_the_clients() -> None:
    """There are payloads of both clients by both routes."""
    assert all(len(payloads) > 70 for payloads in COMMAND_PAYLOADS.values())
    assert len(MCP_PAYLOADS["claude-code"]) > 20
    assert MCP_PAYLOADS["codex"]


@pytest.mark.parametrize(("client", "payload"), each(COMMAND_PAYLOADS))
def test_every_recorded_payload_decodes(client: str, payload: dict[str, Any]) -> None:
    """Each payload of a command hook is the event that it names, at its place, with its prompt or trigger."""
    event = CODECS[client].decode(payload)
    place = (payload["cwd"], payload["session_id"], payload.get("agent_id", ""), payload["transcript_path"] or "")

    assert expected_event(payload) == type(event).__name__
    assert events.EventSource(CODECS[client].client, *place) == event.source
    if isinstance(event, events.PromptSubmitted):
        assert payload["prompt"] == event.prompt
    if isinstance(event, events.SessionStarted):
        assert payload["source"] == event.trigger


@pytest.mark.parametrize(("client", "payload"), each(MCP_PAYLOADS))
def test_every_recorded_call_decodes(client: str, payload: dict[str, Any]) -> None:
    """Each call of an ``mcp_tool`` hook is its event; in Codex the calling thread tells the subagent."""
    event = CODECS[client].decode(payload)
    agent_id = payload.get("agent_id", "")
    if client == "codex":
        thread = payload["_meta"]["threadId"]
        agent_id = "" if thread == payload["session_id"] else thread

    assert expected_event(payload) == type(event).__name__
    assert (payload["session_id"], agent_id) == (event.source.session_id, event.source.agent_id)


@pytest.mark.parametrize("name", ["PreCompact", "SessionStart", "Stop", "SessionEnd", "StopFailure", "Interrupt"])
@pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)
def test_what_happens_to_a_subagent_does_not_happen_to_the_session(codec: HookCodec, name: str) -> None:
    """Events of a subagent's own conversation are no events of the session."""
    by_thread = {"_meta": {"threadId": "a1"}} if codec is CODEX_CODEC else {"agent_id": "a1"}
    event = codec.decode(PROMPT | {"hook_event_name": name} | by_thread)

    assert isinstance(event, events.UnknownEvent)
    assert (name, "a1") == (event.name, event.source.agent_id)


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        (PROMPT | {"new_field": {"a": 1}, "prompt": ""}, events.PromptSubmitted(HERE, "")),
        (
            {k: v for k, v in PROMPT.items() if k != "session_id"},
            events.PromptSubmitted(events.EventSource(events.ClientName.CLAUDE_CODE, "/repo"), "fix it"),
        ),
        (
            PROMPT | {"session_id": 5},
            events.PromptSubmitted(events.EventSource(events.ClientName.CLAUDE_CODE, "/repo"), "fix it"),
        ),
        (
            PROMPT | {"hook_event_name": "SessionStart", "source": ""},
            events.SessionStarted(HERE, "startup", is_headless=True),
        ),
        (
            {"hook_event_name": "Tea", "cwd": "/repo", "session_id": "s", "b": 1, "a": 2},
            events.UnknownEvent(HERE, "Tea", ("a", "b", "cwd", "hook_event_name", "session_id")),
        ),
    ],
    ids=["unknown fields", "no session", "odd session", "how is empty", "unknown event"],
)
def test_unknown_fields_are_ignored_and_missing_ones_have_defaults(payload: dict[str, Any], event: object) -> None:
    """Fields of a newer client change nothing, and an unknown event keeps the names of its fields."""
    assert event == CLAUDE_CODEC.decode(payload)


@pytest.mark.parametrize(("payload", "message"), ERRORS)
def test_a_missing_required_field_is_an_error(payload: dict[str, Any], message: str) -> None:
    """The error names the field and its value."""
    with pytest.raises(ClientError) as caught:
        CLAUDE_CODEC.decode(payload)

    assert message == str(caught.value)


@pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)
@given(
    name=st.sampled_from(sorted({name.partition(".")[0] for name in EVENT_BY_NAME})),
    fields=st.dictionaries(st.sampled_from(FIELDS), JSON | JSON.map(json.dumps) | ODD_VALUES),
    has_cwd=st.booleans(),
)
def test_decoding_raises_only_client_errors(codec: HookCodec, name: str, fields: dict[str, Any], has_cwd: bool) -> None:
    """Whatever the fields contain, decoding returns an event or says what is wrong."""
    payload = fields | {"hook_event_name": name} | ({"cwd": "/repo"} if has_cwd else {})
    with contextlib.suppress(ClientError):
        assert codec.client is codec.decode(payload).source.client


def test_the_cap_is_below_the_clients_own() -> None:
    """A text of this length is not cut at the clients' 10,000 UTF-16 units and bytes."""
    assert ["utf16", "utf8"] == [codec.cap.unit.value for codec in CODECS.values()]
    assert all(9000 < codec.cap.max_length < 10_000 for codec in CODECS.values())


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

    assert isinstance(event, events.SubagentRequested)
    assert event.is_prompt_hidden
    assert ({}, decision.effects) == (codec.encode(event, decision), left_out_by(codec, event, decision))
