"""Codex's dialect of the hook format.

Invariant: fields that only Codex has appear here and nowhere else. Source: recorded payloads and output schemas of
0.169.0. Its output objects are closed: an output with a key that the event does not have is dropped whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from upbeat.adapters.codex.tools import describe_call
from upbeat.adapters.hooks.codec import (
    Capabilities,
    Channel,
    DelegationFields,
    EffectChannels,
    HookCodec,
    Payload,
    as_mapping,
    decode_call,
    join_text_blocks,
    shell_command_of,
)
from upbeat.core.contract.effect import (
    AnswerPrompt,
    ContinueTurn,
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
    Event,
    EventSource,
    PromptOrigin,
    PromptSubmitted,
    SessionStarted,
    SubagentEnding,
    SubagentRequested,
    SubagentReturned,
    SubagentStarted,
    ToolFinished,
    ToolStarting,
    TurnEnding,
    TurnInterrupted,
    UserQuestionRequested,
)
from upbeat.core.json_fields import text_of
from upbeat.core.sanitize.frame import contains_frame
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit

CAP = TextLimit(9800, LengthUnit.UTF8)
"""Above 10,000 bytes the model gets a head, a tail and a path instead of the text."""

DELEGATION_TOOLS = {
    "spawn_agent": DelegationFields(agent="agent_type", prompt="message"),
    "collaborationspawn_agent": DelegationFields(agent="agent_type", title="task_name"),
}
"""The second tool's ``message`` is declared as encrypted, so it is neither read nor changed. The first tool also
accepts ``items`` instead of a ``message``; these are left alone."""

_AGENT_NAME = re.compile(r"[\w/.-]{1,200}")
"""The form of Codex's agent names."""

_COMMON_CHANNELS: EffectChannels = {
    InjectContext: Channel.CONTEXT,
    NotifyUser: Channel.MESSAGE,
    RequestCompaction: Channel.MESSAGE,
}
_PRE_CALL_CHANNELS: EffectChannels = {
    **_COMMON_CHANNELS,
    Deny: Channel.DENIAL,
    RequestApproval: Channel.DENIAL,
    RewriteInput: Channel.CONTEXT,
}
"""Codex cannot ask the user, so a request for approval becomes a denial with the reason. It accepts a changed input
only together with a permission, which is not upbeat's to grant, so the model is instructed to change the input."""
_TURN_END_CHANNELS: EffectChannels = {
    ContinueTurn: Channel.BLOCK,
    NotifyUser: Channel.MESSAGE,
    EndTurn: Channel.MESSAGE,
    RequestCompaction: Channel.MESSAGE,
}
CAPABILITIES: Capabilities = {
    PromptSubmitted: {**_COMMON_CHANNELS, AnswerPrompt: Channel.ANSWER},
    SessionStarted: _COMMON_CHANNELS,
    ToolStarting: _PRE_CALL_CHANNELS,
    UserQuestionRequested: _PRE_CALL_CHANNELS,
    SubagentRequested: {**_PRE_CALL_CHANNELS, PrependPrompt: Channel.INPUT},
    ToolFinished: {**_COMMON_CHANNELS, RewriteOutput: Channel.OUTPUT},
    SubagentReturned: _COMMON_CHANNELS,
    SubagentStarted: {InjectContext: Channel.CONTEXT, NotifyUser: Channel.MESSAGE},
    SubagentEnding: {ContinueTurn: Channel.BLOCK, NotifyUser: Channel.MESSAGE},
    CompactionStarting: {NotifyUser: Channel.MESSAGE},
    TurnEnding: _TURN_END_CHANNELS,
    TurnInterrupted: {NotifyUser: Channel.MESSAGE},
}
"""The terminal program and app-server clients show messages; ``codex exec`` does not."""


def _agent_id(payload: Payload) -> str:
    """Return the id from the payload or, over MCP, from the calling thread if it is not the root thread."""
    if agent_id := text_of(payload, "agent_id"):
        return agent_id
    meta = payload.get("_meta")
    thread = text_of(meta, "threadId") if isinstance(meta, Mapping) else ""
    return thread if thread != text_of(payload, "session_id") else ""


def _origin(_payload: Payload, prompt: str, agent_id: str) -> PromptOrigin:
    if agent_id:
        return PromptOrigin.SUBAGENT
    return PromptOrigin.WRAPPED if contains_frame(prompt) else PromptOrigin.USER


def _tool_finished(payload: Payload, source: EventSource) -> Event:
    """Codex reports no exit code; a failed command looks like a successful one."""
    call, response = describe_call(decode_call(payload), source.cwd), payload.get("tool_response")
    if call.tool in DELEGATION_TOOLS:
        return _subagent_returned(source, call, as_mapping(response))
    output = response if isinstance(response, str) else join_text_blocks(as_mapping(response).get("content"))
    return ToolFinished(source, call, output, shell_command_of(call))


def _subagent_returned(source: EventSource, call: Call, response: Payload) -> Event:
    """The older tool reports a thread id, the newer one a path; each is resumed with a different tool."""
    agent_id, path = text_of(response, "agent_id"), text_of(response, "task_name")
    resume = f'send_input with target "{agent_id}"' if _AGENT_NAME.fullmatch(agent_id) else ""
    if not resume and _AGENT_NAME.fullmatch(path):
        resume = f'followup_task with target "{path}"'
    return SubagentReturned(source, call, agent_id, resume_call=resume)


CODEX_CODEC = HookCodec(
    client=ClientName.CODEX_CLI,
    cap=CAP,
    capabilities=CAPABILITIES,
    delegation_tools=DELEGATION_TOOLS,
    describe_call=describe_call,
    agent_id_of=_agent_id,
    prompt_origin=_origin,
    own_decoders={"PostToolUse": _tool_finished, "Interrupt": lambda _payload, source: TurnInterrupted(source)},
    # the reason of a block replaces the tool's output
    rewrite_output=lambda _event, text: {"decision": "block", "reason": text},
    rewrite_requires_allow=True,
)
