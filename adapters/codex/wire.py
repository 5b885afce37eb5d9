"""Codex's side of the hook format. Law: what only Codex says is known here and nowhere else.

Source: recorded payloads and output schemas of 0.169.0. Its output objects are closed: an answer with a key that
an event does not have is dropped whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...core.contract.effect import (
    Ask,
    Compact,
    Decision,
    Deny,
    Inject,
    KeepGoing,
    PutBefore,
    RewriteInput,
    RewriteOutput,
    Stop,
    TellUser,
)
from ...core.contract.event import (
    AgentStarted,
    AgentStopped,
    AskingUser,
    Call,
    ClientName,
    Compacting,
    Delegated,
    Delegating,
    Event,
    Origin,
    PromptSubmitted,
    SessionStarted,
    Source,
    ToolFinished,
    ToolStarting,
    TurnEnding,
    TurnInterrupted,
)
from ...core.turn.frame import is_framed
from ...core.turn.truncate import Cap, Unit
from .. import hook_format, hook_output
from ..hook_format import Dialect, Handing, Payload, call_of, command_of, mapping, optional, texts
from ..hook_output import Answers, Capabilities, Way, Ways
from .tools import describe

CLIENT = ClientName.CODEX_CLI
CAP = Cap(9800, Unit.UTF8)
"""Above 10,000 bytes the model gets a head, a tail and a path instead of the text."""

HANDING = {
    "spawn_agent": Handing(agent="agent_type", prompt="message"),
    "collaborationspawn_agent": Handing(agent="agent_type", title="task_name"),
}
"""The second one's ``message`` is declared as encrypted: whatever is in it is neither read nor changed. The first
one takes ``items`` instead of a ``message``, too; these are left alone."""

_NAME = re.compile(r"[\w/.-]{1,200}")
"""What Codex calls its agents."""

_BESIDE: Ways = {Inject: Way.CONTEXT, TellUser: Way.MESSAGE, Compact: Way.MESSAGE}
_BEFORE_A_CALL: Ways = {**_BESIDE, Deny: Way.DENIAL, Ask: Way.DENIAL, RewriteInput: Way.CONTEXT}
"""A question is none that Codex asks, so it denies and says what to weigh. A changed input comes only with a
permission, which is not ours to give; so the model is told what to change."""
_GOING_ON: Ways = {KeepGoing: Way.BLOCK, TellUser: Way.MESSAGE, Stop: Way.MESSAGE, Compact: Way.MESSAGE}
CAPABILITIES: Capabilities = {
    PromptSubmitted: _BESIDE,
    SessionStarted: _BESIDE,
    ToolStarting: _BEFORE_A_CALL,
    AskingUser: _BEFORE_A_CALL,
    Delegating: {**_BEFORE_A_CALL, PutBefore: Way.INPUT},
    ToolFinished: {**_BESIDE, RewriteOutput: Way.OUTPUT},
    Delegated: _BESIDE,
    AgentStarted: {Inject: Way.CONTEXT, TellUser: Way.MESSAGE},
    AgentStopped: {KeepGoing: Way.BLOCK, TellUser: Way.MESSAGE},
    Compacting: {TellUser: Way.MESSAGE},
    TurnEnding: _GOING_ON,
    TurnInterrupted: {TellUser: Way.MESSAGE},
}
"""Messages show in the terminal program and over app-server; ``codex exec`` prints none."""


def decode(payload: Payload) -> Event:
    """The event in ``payload``; raises ``ClientError`` when there is none."""
    return hook_format.decode(payload, _DIALECT)


def encode(event: Event, decision: Decision) -> dict[str, Any]:
    """The hook output that carries ``decision``; empty when there is nothing to say."""
    return hook_output.encode(event, decision, _ANSWERS)


def shortfalls(event: Event, decision: Decision) -> tuple[str, ...]:
    """For each effect of ``decision`` how far the client falls short of it at this event; empty where it does not."""
    return hook_output.shortfalls(event, decision, _ANSWERS)


def _agent_id(payload: Payload) -> str:
    """From the payload; over MCP from the thread that called, which is the root's own or a subagent's."""
    told = optional(payload, "agent_id")
    if told:
        return told
    meta = payload.get("_meta")
    thread = optional(meta, "threadId") if isinstance(meta, Mapping) else ""
    return thread if thread != optional(payload, "session_id") else ""


def _origin(_payload: Payload, prompt: str, agent_id: str) -> Origin:
    if agent_id:
        return Origin.SUBAGENT
    return Origin.WRAPPED if is_framed(prompt) else Origin.USER


def _tool_end(payload: Payload, source: Source) -> Event:
    """Codex tells no exit code; a command that fails ends like one that does not."""
    call, response = describe(call_of(payload), source.cwd), payload.get("tool_response")
    if call.tool in HANDING:
        return _delegated(source, call, mapping(response))
    output = response if isinstance(response, str) else texts(mapping(response).get("content"))
    return ToolFinished(source, call, output, command_of(call))


def _delegated(source: Source, call: Call, told: Payload) -> Event:
    """The older tool tells a thread, the newer one a path; another tool each goes on with it."""
    agent_id, path = optional(told, "agent_id"), optional(told, "task_name")
    resume = f'send_input with target "{agent_id}"' if _NAME.fullmatch(agent_id) else ""
    if not resume and _NAME.fullmatch(path):
        resume = f'followup_task with target "{path}"'
    return Delegated(source, call, agent_id, resume=resume)


def _interrupt(_payload: Payload, source: Source) -> Event:
    return TurnInterrupted(source)


def _rewritten(_event: ToolFinished, text: str) -> dict[str, Any]:
    """The reason of a block takes the place of what the tool said."""
    return {"decision": "block", "reason": text}


_DIALECT = Dialect(
    CLIENT,
    HANDING,
    agent_id=_agent_id,
    origin=_origin,
    describe=describe,
    own={"PostToolUse": _tool_end, "Interrupt": _interrupt},
)
_ANSWERS = Answers(
    CAPABILITIES, HANDING, event_name=hook_output.shared_name, rewriting_allows=True, rewrite_output=_rewritten
)
