"""The hook format that Claude Code introduced and Codex adopted: how to read an event of it.

Law: field names that both clients share appear in this file and in ``hook_output.py``, those of one client in
its ``wire.py``, and neither anywhere else. Reading raises ``ClientError`` and nothing else, whatever came in.

The same fields come typed (a command hook, Codex's ``mcp_tool`` hooks) or as text (Claude Code's ``mcp_tool``
hooks, where objects are JSON text and what the event lacks is ``""``); the readers below take both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.contract.event import (
    Act,
    AgentStarted,
    AgentStopped,
    AskingUser,
    Call,
    ClientName,
    Compacting,
    Delegating,
    Event,
    Origin,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    Source,
    ToolStarting,
    TurnEnding,
    UnknownEvent,
)
from ..core.errors import ClientError

Payload = Mapping[str, Any]

SHELL = "Bash"
"""Both clients' shell tool, in hooks."""


@dataclass(frozen=True, slots=True)
class Handing:
    """Which fields of a tool's input name the other agent, what it is to do, and the title; empty for none.

    Where ``prompt`` is no field of the input, or holds no text, the prompt is sealed: neither read nor changed.
    """

    agent: str
    prompt: str = ""
    title: str = ""


Reader = Callable[[Payload, Source], Event | None]
"""The event in a payload; None when this one is not for us."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one client reads differently from the other one."""

    client: ClientName
    handing: Mapping[str, Handing]
    """Tools that hand work to another agent."""
    agent_id: Callable[[Payload], str]
    """The subagent that the event happened in; empty for the main agent."""
    origin: Callable[[Payload, str, str], Origin]
    """Who wrote a prompt, from the payload, the prompt and the subagent's id."""
    running: Callable[[Payload], int | None] = lambda _payload: None
    """Background tasks that go on without the turn; None when the client does not tell."""
    describe: Callable[[Call, str], Call] = lambda call, _cwd: call
    """The call with what it does in words that belong to no client; the working directory for relative paths."""
    own: Mapping[str, Reader] = field(default_factory=dict)
    """Readers of the events that this client alone has, or tells in its own way."""


MAIN_AGENT_ONLY = frozenset({"SessionStart", "SessionEnd", "PreCompact", "Stop", "StopFailure", "Interrupt"})
"""Within a subagent these tell of the subagent's own life, and not of the session's."""


def decode(payload: Payload, dialect: Dialect) -> Event:
    """The event in ``payload``. Unknown fields are ignored; what is not for us is an ``UnknownEvent``.

    Raises:
        ClientError: a field that the event cannot do without is missing or no text.
    """
    name = required(payload, "hook_event_name")
    agent_id = dialect.agent_id(payload)
    source = Source(
        dialect.client,
        _absolute(required(payload, "cwd")),
        optional(payload, "session_id"),
        agent_id,
        optional(payload, "transcript_path"),
    )
    event: Event | None = None
    if agent_id and name in MAIN_AGENT_ONLY:
        pass
    elif reader := dialect.own.get(name):
        event = reader(payload, source)
    elif shared := _SHARED.get(name):
        event = shared(payload, source, dialect)
    return event or UnknownEvent(source, name, tuple(sorted(map(str, payload))))


def _prompt(payload: Payload, source: Source, dialect: Dialect) -> Event:
    prompt = required(payload, "prompt")
    return PromptSubmitted(source, prompt, dialect.origin(payload, prompt, source.agent_id))


def _session_start(payload: Payload, source: Source, _dialect: Dialect) -> Event:
    return SessionStarted(source, optional(payload, "source") or "startup")


def _session_end(payload: Payload, source: Source, _dialect: Dialect) -> Event:
    return SessionEnded(source, optional(payload, "reason"))


def _tool_start(payload: Payload, source: Source, dialect: Dialect) -> Event:
    call = dialect.describe(call_of(payload), source.cwd)
    if handing := dialect.handing.get(call.tool):
        agent, prompt, title = (optional(call.input, name) for name in (handing.agent, handing.prompt, handing.title))
        is_sealed = not isinstance(call.input.get(handing.prompt), str)
        return Delegating(source, call, agent, prompt, title, is_sealed)
    if call.act is Act.ASK:
        return AskingUser(source, call)
    return ToolStarting(source, call, command_of(call))


def _agent_start(payload: Payload, source: Source, _dialect: Dialect) -> Event | None:
    agent = optional(payload, "agent_type")
    return AgentStarted(source, optional(payload, "agent_id"), agent) if agent else None


def _agent_stop(payload: Payload, source: Source, _dialect: Dialect) -> Event | None:
    """None for a compaction, which Claude Code tells as an agent without a kind."""
    agent = optional(payload, "agent_type")
    if not agent:
        return None
    message = optional(payload, "last_assistant_message")
    return AgentStopped(source, optional(payload, "agent_id"), agent, message, flag(payload, "stop_hook_active"))


def _compacting(payload: Payload, source: Source, _dialect: Dialect) -> Event:
    return Compacting(source, optional(payload, "trigger"))


def _turn_end(payload: Payload, source: Source, dialect: Dialect) -> Event:
    message = optional(payload, "last_assistant_message")
    is_planning = optional(payload, "permission_mode") == "plan"
    return TurnEnding(source, message, flag(payload, "stop_hook_active"), dialect.running(payload), is_planning)


_SHARED: Mapping[str, Callable[[Payload, Source, Dialect], Event | None]] = {
    "UserPromptSubmit": _prompt,
    "SessionStart": _session_start,
    "SessionEnd": _session_end,
    "PreToolUse": _tool_start,
    "SubagentStart": _agent_start,
    "SubagentStop": _agent_stop,
    "PreCompact": _compacting,
    "Stop": _turn_end,
}


def call_of(payload: Payload) -> Call:
    """The call of a tool that the event is about."""
    return Call(optional(payload, "tool_use_id"), required(payload, "tool_name"), mapping(payload.get("tool_input")))


def command_of(call: Call) -> str:
    """The command line, when the call is one of the shell."""
    return optional(call.input, "command") if call.tool == SHELL else ""


def required(payload: Payload, name: str) -> str:
    """The text in the field ``name``; raises ``ClientError`` when there is none."""
    value = payload.get(name)
    if not isinstance(value, str):
        raise ClientError(f"{name} is {_shown(value)}, not a text")
    return value


def optional(payload: Payload, name: str) -> str:
    """The text in the field ``name``, or nothing."""
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def flag(payload: Payload, name: str) -> bool:
    """Whether the field ``name`` is true, as a boolean or as text."""
    return payload.get(name) in (True, "true")


def mapping(value: object) -> Mapping[str, Any]:
    """``value`` as an object: typed, or JSON text; empty when it is none."""
    found = structured(value)
    return found if isinstance(found, Mapping) else {}


def structured(value: object) -> object:
    """``value``, and what it says when it is the JSON text of an object or a list."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def texts(blocks: object) -> str:
    """The text of a list of content blocks, a line each; nothing when it is no such list."""
    if not isinstance(blocks, list):
        return ""
    found = [optional(block, "text") for block in blocks if isinstance(block, Mapping)]
    return "\n".join(text for text in found if text)


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ClientError(f"cwd is {_shown(path)}, not an absolute path")
    return path


def _shown(value: object) -> str:
    """The beginning of ``value`` as JSON."""
    try:
        return json.dumps(value, default=str)[:80]
    except RecursionError:
        return f"a deep {type(value).__name__}"
