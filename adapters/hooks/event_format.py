"""Decode events of the hook format that Claude Code introduced and Codex adopted.

Invariant: field names that both clients share appear in this file and in ``output_format.py``, those of one client in
its ``codec.py``, and nowhere else. Decoding raises only ``ClientError``, whatever the payload is.

The fields are typed (command hooks, Codex's ``mcp_tool`` hooks) or text (Claude Code's ``mcp_tool`` hooks, where
objects are JSON text and a missing field is ``""``); the functions below accept both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from upbeat.core.contract.event import (
    Call,
    ClientName,
    CompactionStarting,
    Event,
    EventSource,
    PromptOrigin,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    SubagentEnding,
    SubagentRequested,
    SubagentStarted,
    ToolKind,
    ToolStarting,
    TurnEnding,
    UnknownEvent,
    UserQuestionRequested,
)
from upbeat.core.errors import ClientError

Payload = Mapping[str, Any]

SHELL_TOOL = "Bash"
"""The name of both clients' shell tool in hooks."""


@dataclass(frozen=True, slots=True)
class DelegationFields:
    """The fields of a tool's input for the subagent, its prompt and the title; empty for none.

    If the input has no text in ``prompt``, the prompt is hidden: neither read nor changed.
    """

    agent: str
    prompt: str = ""
    title: str = ""


EventDecoder = Callable[[Payload, EventSource], Event | None]
"""Returns the event of a payload; None if upbeat ignores it."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The part of the format that differs between clients."""

    client: ClientName
    delegation_tools: Mapping[str, DelegationFields]
    """Tools that start a subagent."""
    agent_id_of: Callable[[Payload], str]
    """Returns the subagent of an event; empty for the main agent."""
    prompt_origin: Callable[[Payload, str, str], PromptOrigin]
    """Returns who wrote a prompt, from the payload, the prompt and the subagent's id."""
    count_background_tasks: Callable[[Payload], int | None] = lambda _payload: None
    """Returns the number of background tasks that outlive the turn; None if the client does not report it."""
    describe_call: Callable[[Call, str], Call] = lambda call, _cwd: call
    """Returns the call with its client-independent fields; takes the working directory for relative paths."""
    own_decoders: Mapping[str, EventDecoder] = field(default_factory=dict)
    """Decoders of events that only this client has, or that it reports in its own way."""


MAIN_AGENT_EVENTS = frozenset({"SessionStart", "SessionEnd", "PreCompact", "Stop", "StopFailure", "Interrupt"})
"""In a subagent these events concern the subagent, not the session."""


def decode(payload: Payload, dialect: Dialect) -> Event:
    """Return the event in ``payload``. Unknown fields are ignored; an event without a decoder is an ``UnknownEvent``.

    Raises:
        ClientError: A required field is missing or not a string.
    """
    name = required_text(payload, "hook_event_name")
    agent_id = dialect.agent_id_of(payload)
    source = EventSource(
        dialect.client,
        _require_absolute(required_text(payload, "cwd")),
        optional_text(payload, "session_id"),
        agent_id,
        optional_text(payload, "transcript_path"),
    )
    event: Event | None = None
    if agent_id and name in MAIN_AGENT_EVENTS:
        pass
    elif own := dialect.own_decoders.get(name):
        event = own(payload, source)
    elif shared := _SHARED_DECODERS.get(name):
        event = shared(payload, source, dialect)
    return event or UnknownEvent(source, name, tuple(sorted(map(str, payload))))


def _decode_prompt(payload: Payload, source: EventSource, dialect: Dialect) -> Event:
    prompt = required_text(payload, "prompt")
    return PromptSubmitted(source, prompt, dialect.prompt_origin(payload, prompt, source.agent_id))


def _decode_session_start(payload: Payload, source: EventSource, _dialect: Dialect) -> Event:
    return SessionStarted(source, optional_text(payload, "source") or "startup")


def _decode_session_end(payload: Payload, source: EventSource, _dialect: Dialect) -> Event:
    return SessionEnded(source, optional_text(payload, "reason"))


def _decode_tool_start(payload: Payload, source: EventSource, dialect: Dialect) -> Event:
    call = dialect.describe_call(decode_call(payload), source.cwd)
    if fields := dialect.delegation_tools.get(call.tool):
        agent, prompt, title = (optional_text(call.input, name) for name in (fields.agent, fields.prompt, fields.title))
        is_hidden = not isinstance(call.input.get(fields.prompt), str)
        return SubagentRequested(source, call, agent, prompt, title, is_hidden)
    if call.kind is ToolKind.ASK_USER:
        return UserQuestionRequested(source, call)
    return ToolStarting(source, call, shell_command_of(call))


def _decode_agent_start(payload: Payload, source: EventSource, _dialect: Dialect) -> Event | None:
    agent = optional_text(payload, "agent_type")
    return SubagentStarted(source, optional_text(payload, "agent_id"), agent) if agent else None


def _decode_agent_stop(payload: Payload, source: EventSource, _dialect: Dialect) -> Event | None:
    """Return None for a compaction, which Claude Code reports as an agent without a type."""
    agent = optional_text(payload, "agent_type")
    if not agent:
        return None
    message = optional_text(payload, "last_assistant_message")
    return SubagentEnding(
        source, optional_text(payload, "agent_id"), agent, message, has_flag(payload, "stop_hook_active")
    )


def _decode_compacting(payload: Payload, source: EventSource, _dialect: Dialect) -> Event:
    return CompactionStarting(source, optional_text(payload, "trigger"))


def _decode_turn_end(payload: Payload, source: EventSource, dialect: Dialect) -> Event:
    message = optional_text(payload, "last_assistant_message")
    is_planning = optional_text(payload, "permission_mode") == "plan"
    return TurnEnding(
        source, message, has_flag(payload, "stop_hook_active"), dialect.count_background_tasks(payload), is_planning
    )


_SHARED_DECODERS: Mapping[str, Callable[[Payload, EventSource, Dialect], Event | None]] = {
    "UserPromptSubmit": _decode_prompt,
    "SessionStart": _decode_session_start,
    "SessionEnd": _decode_session_end,
    "PreToolUse": _decode_tool_start,
    "SubagentStart": _decode_agent_start,
    "SubagentStop": _decode_agent_stop,
    "PreCompact": _decode_compacting,
    "Stop": _decode_turn_end,
}


def decode_call(payload: Payload) -> Call:
    """Return the tool call of the event."""
    return Call(
        optional_text(payload, "tool_use_id"),
        required_text(payload, "tool_name"),
        as_mapping(payload.get("tool_input")),
    )


def shell_command_of(call: Call) -> str:
    """Return the command line of a shell call; empty for any other call."""
    return optional_text(call.input, "command") if call.tool == SHELL_TOOL else ""


def required_text(payload: Payload, name: str) -> str:
    """Return the text in the field ``name``.

    Raises:
        ClientError: The field is missing or not a string.
    """
    value = payload.get(name)
    if not isinstance(value, str):
        raise ClientError(f"{name} is {_json_excerpt(value)}, not a string")
    return value


def optional_text(payload: Payload, name: str) -> str:
    """Return the text in the field ``name``; empty if there is none."""
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def has_flag(payload: Payload, name: str) -> bool:
    """Return whether the field ``name`` is true, as a boolean or as text."""
    return payload.get(name) in (True, "true")


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return ``value``, typed or as JSON text, as a mapping; empty if it is none."""
    parsed = parse_embedded_json(value)
    return parsed if isinstance(parsed, Mapping) else {}


def parse_embedded_json(value: object) -> object:
    """Return ``value``, parsed if it is the JSON text of an object or a list."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def join_text_blocks(blocks: object) -> str:
    """Return the texts of a list of content blocks, one per line; empty for anything else."""
    if not isinstance(blocks, list):
        return ""
    texts = [optional_text(block, "text") for block in blocks if isinstance(block, Mapping)]
    return "\n".join(filter(None, texts))


def _require_absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ClientError(f"cwd is {_json_excerpt(path)}, not an absolute path")
    return path


def _json_excerpt(value: object) -> str:
    """Return the beginning of ``value`` as JSON."""
    try:
        return json.dumps(value, default=str)[:80]
    except RecursionError:
        return f"a deep {type(value).__name__}"
