"""Claude Code's dialect of the hook format.

Invariant: fields that only Claude Code has appear here and nowhere else. The same fields arrive from a command hook
(typed JSON on stdin) and from an ``mcp_tool`` hook (interpolated into the tool's arguments, where every value is text
and a field that the event lacks is ``""``). Source: recorded payloads of 2.1.197 and 2.1.329.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from upbeat.adapters.claude.tools import describe_call, relabel_questions, replace_response_text, with_response
from upbeat.adapters.hooks.codec import (
    SHELL_TOOL,
    Capabilities,
    Channel,
    DelegationFields,
    EffectChannels,
    HookCodec,
    Payload,
    as_mapping,
    decode_call,
    has_flag,
    join_text_blocks,
    optional_text,
    parse_embedded_json,
    shared_event_name,
    shell_command_of,
)
from upbeat.core.contract.effect import (
    ContinueTurn,
    Deny,
    EndTurn,
    InjectContext,
    NotifyUser,
    PrependPrompt,
    RelabelOptions,
    RequestApproval,
    RequestCompaction,
    RewriteInput,
    RewriteOutput,
)
from upbeat.core.contract.event import (
    ClientName,
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
    TurnFailed,
    UnknownEvent,
    UserQuestionRequested,
)
from upbeat.core.errors import ClientError
from upbeat.core.sanitize.frame import contains_frame
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit

CAP = TextLimit(9800, LengthUnit.UTF16)
"""Above 10,000 UTF-16 units the model gets a 2 KB preview and a path instead of the text."""

_AGENT_FIELDS = DelegationFields(agent="subagent_type", prompt="prompt", title="description")
DELEGATION_TOOLS = {"Agent": _AGENT_FIELDS, "Task": _AGENT_FIELDS}
"""The current name, and ``Task``, the tool's former name."""

_COMMON_CHANNELS: EffectChannels = {
    InjectContext: Channel.CONTEXT,
    NotifyUser: Channel.MESSAGE,
    RequestCompaction: Channel.MESSAGE,
}
_PRE_CALL_CHANNELS: EffectChannels = {
    **_COMMON_CHANNELS,
    Deny: Channel.DENIAL,
    RequestApproval: Channel.QUESTION,
    RewriteInput: Channel.INPUT,
}
CAPABILITIES: Capabilities = {
    PromptSubmitted: _COMMON_CHANNELS,
    SessionStarted: _COMMON_CHANNELS,
    ToolStarting: _PRE_CALL_CHANNELS,
    UserQuestionRequested: {**_PRE_CALL_CHANNELS, RelabelOptions: Channel.INPUT},
    SubagentRequested: {**_PRE_CALL_CHANNELS, PrependPrompt: Channel.INPUT},
    ToolFinished: {**_COMMON_CHANNELS, RewriteOutput: Channel.OUTPUT},
    SubagentReturned: _COMMON_CHANNELS,
    SubagentStarted: {InjectContext: Channel.CONTEXT},
    SubagentEnding: {ContinueTurn: Channel.CONTEXT},
    TurnEnding: {
        ContinueTurn: Channel.CONTEXT,
        NotifyUser: Channel.MESSAGE,
        EndTurn: Channel.MESSAGE,
        RequestCompaction: Channel.MESSAGE,
    },
}
"""Context at the end of a turn makes it go on, as ``decision: block`` does, but is not shown as a problem, and
reaches the model once: 2.1.329 sends the reason of a block twice, the second time with the hook's name."""

_REFUSED = re.compile(r"\s*<tool_use_error>(.{0,4000}?)(?:</tool_use_error>|\Z)", re.DOTALL)
_EXIT_CODE = re.compile(r"Exit code (\d{1,9})(?:\n|$)")


def _origin(payload: Payload, prompt: str, agent_id: str) -> PromptOrigin:
    if prompt.lstrip().startswith("<task-notification>") or optional_text(payload, "source") == "system":
        return PromptOrigin.TASK_NOTIFICATION
    if agent_id:
        return PromptOrigin.SUBAGENT
    return PromptOrigin.WRAPPED if contains_frame(prompt) else PromptOrigin.USER


def _running_tasks(payload: Payload) -> int | None:
    """Count the running subagents and shell commands; other tasks (schedules, monitors) never end on their own."""
    tasks = parse_embedded_json(payload.get("background_tasks"))
    if not isinstance(tasks, list):
        return None
    return sum(
        optional_text(task, "status") == "running" and optional_text(task, "type") in ("subagent", "shell")
        for task in tasks
        if isinstance(task, Mapping)
    )


def _tool_finished(payload: Payload, source: EventSource) -> Event:
    call, response = describe_call(decode_call(payload), source.cwd), parse_embedded_json(payload.get("tool_response"))
    if call.tool in DELEGATION_TOOLS:
        return _subagent_returned(payload, source)
    call = with_response(call, response)
    fields = response if isinstance(response, Mapping) else {}
    is_interrupted = has_flag(fields, "interrupted")
    is_over = not is_interrupted and not optional_text(fields, "backgroundTaskId")
    return ToolFinished(
        source,
        call,
        _output(response),
        shell_command_of(call),
        exit_code=0 if call.tool == SHELL_TOOL and is_over else None,
        was_interrupted=is_interrupted,
        raw=response,
    )


def _subagent_returned(payload: Payload, source: EventSource) -> Event:
    """Return the event without a message if the agent was only launched in the background.

    The event has no resume call: Claude Code itself tells the model how to resume an agent.
    """
    response = as_mapping(payload.get("tool_response"))
    content = response.get("content")
    is_done = isinstance(content, list) and optional_text(response, "status") != "async_launched"
    message = join_text_blocks(content) if is_done else None
    return SubagentReturned(
        source, describe_call(decode_call(payload), source.cwd), optional_text(response, "agentId"), message
    )


def _tool_failed(payload: Payload, source: EventSource) -> Event:
    """A shell command with a nonzero exit code is a failed tool call whose error is the output."""
    call, error = describe_call(decode_call(payload), source.cwd), optional_text(payload, "error")
    if call.tool in DELEGATION_TOOLS:
        return SubagentReturned(source, call, has_failed=True, error="" if has_flag(payload, "is_interrupt") else error)
    match = _EXIT_CODE.match(error) if call.tool == SHELL_TOOL else None
    return ToolFinished(
        source,
        call,
        error[match.end() :] if match else error,
        shell_command_of(call),
        exit_code=int(match[1]) if match else None,
        has_failed=True,
        was_interrupted=has_flag(payload, "is_interrupt"),
    )


def _output(response: object) -> str:
    """Return a tool's response as text; empty for structured results, such as that of a file write."""
    if isinstance(response, str):
        return response
    if isinstance(response, Mapping):
        streams = [optional_text(response, name) for name in ("stdout", "stderr", "content", "result")]
        return "\n".join(stream for stream in streams if stream) or join_text_blocks(response.get("content"))
    return join_text_blocks(response)


def _turn_failed(payload: Payload, source: EventSource) -> Event:
    error = optional_text(payload, "error") or "unknown"
    return TurnFailed(source, error, optional_text(payload, "last_assistant_message"))


def _refused_in_batch(payload: Payload, source: EventSource) -> Event:
    """Return the first rejected call of a batch: no other event reports it. All other calls had their own events."""
    calls = parse_embedded_json(payload.get("tool_calls"))
    for item in calls if isinstance(calls, list) else ():
        response = item.get("tool_response") if isinstance(item, Mapping) else None
        refusal = _REFUSED.match(response if isinstance(response, str) else join_text_blocks(response))
        if not refusal or not refusal[1]:
            continue
        try:
            call = describe_call(decode_call(item), source.cwd)
        except ClientError:
            continue
        if call.tool in DELEGATION_TOOLS:
            return SubagentReturned(source, call, has_failed=True, error=refusal[1], was_rejected=True)
        return ToolFinished(source, call, refusal[1], shell_command_of(call), has_failed=True, was_rejected=True)
    return UnknownEvent(source, "PostToolBatch", is_noise=True)


def _event_name(event: Event) -> str:
    if isinstance(event, ToolFinished | SubagentReturned) and event.was_rejected:
        return "PostToolBatch"
    if isinstance(event, ToolFinished | SubagentReturned) and event.has_failed:
        return "PostToolUseFailure"
    return shared_event_name(event)


def _rewrite_output(event: ToolFinished, text: str) -> dict[str, Any]:
    """Return nothing if the tool's response has an unknown form: Claude Code silently ignores what does not fit."""
    response = None if event.has_failed else replace_response_text(event.call.tool, event.raw, text)
    return {} if response is None else {"hookSpecificOutput": {"updatedToolOutput": response}}


CLAUDE_CODEC = HookCodec(
    client=ClientName.CLAUDE_CODE,
    cap=CAP,
    capabilities=CAPABILITIES,
    delegation_tools=DELEGATION_TOOLS,
    describe_call=describe_call,
    agent_id_of=lambda payload: optional_text(payload, "agent_id"),
    prompt_origin=_origin,
    own_decoders={
        "PostToolUse": _tool_finished,
        "PostToolUseFailure": _tool_failed,
        "StopFailure": _turn_failed,
        "PostToolBatch": _refused_in_batch,
    },
    rewrite_output=_rewrite_output,
    hook_event_name=_event_name,
    count_background_tasks=_running_tasks,
    relabel_options=relabel_questions,
)
