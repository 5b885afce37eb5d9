"""Claude Code's dialect of the hook format.

Invariant: fields that only Claude Code has appear here and nowhere else. The same fields arrive from a command hook
(typed JSON on stdin) and from an ``mcp_tool`` hook (interpolated into the tool's arguments, where every value is text
and a field that the event lacks is ``""``). Source: recorded payloads of 2.1.197 and 2.1.329.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from upbeat.adapters.claude.tools import (
    READ_FIELDS,
    describe_call,
    relabel_questions,
    replace_response_text,
    with_response,
)
from upbeat.adapters.hooks import codec as hooks
from upbeat.core import lazy_re as re
from upbeat.core.contract import effect as effects
from upbeat.core.contract import event as events
from upbeat.core.errors import ClientError
from upbeat.core.json_fields import text_of
from upbeat.core.sanitize.frame import contains_frame
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit

CAP = TextLimit(9800, LengthUnit.UTF16)
"""Above 10,000 UTF-16 units the model gets a 2 KB preview and a path instead of the text."""

_AGENT_FIELDS = hooks.DelegationFields(agent="subagent_type", prompt="prompt", title="description")
DELEGATION_TOOLS = {"Agent": _AGENT_FIELDS, "Task": _AGENT_FIELDS}
"""The current name, and ``Task``, the tool's former name."""

_COMMON_CHANNELS: hooks.EffectChannels = {
    effects.InjectContext: hooks.Channel.CONTEXT,
    effects.NotifyUser: hooks.Channel.MESSAGE,
    effects.RequestCompaction: hooks.Channel.MESSAGE,
}
_PRE_CALL_CHANNELS: hooks.EffectChannels = {
    **_COMMON_CHANNELS,
    effects.Deny: hooks.Channel.DENIAL,
    effects.RequestApproval: hooks.Channel.QUESTION,
    effects.RewriteInput: hooks.Channel.INPUT,
}
CAPABILITIES: hooks.Capabilities = {
    events.PromptSubmitted: {**_COMMON_CHANNELS, effects.AnswerPrompt: hooks.Channel.ANSWER},
    events.SessionStarted: _COMMON_CHANNELS,
    events.ToolStarting: {**_PRE_CALL_CHANNELS, effects.ApproveCall: hooks.Channel.APPROVAL},
    events.UserQuestionRequested: {**_PRE_CALL_CHANNELS, effects.RelabelOptions: hooks.Channel.INPUT},
    events.SubagentRequested: {**_PRE_CALL_CHANNELS, effects.PrependPrompt: hooks.Channel.INPUT},
    events.ToolFinished: {**_COMMON_CHANNELS, effects.RewriteOutput: hooks.Channel.OUTPUT},
    events.SubagentReturned: _COMMON_CHANNELS,
    events.SubagentStarted: {effects.InjectContext: hooks.Channel.CONTEXT},
    events.SubagentEnding: {effects.ContinueTurn: hooks.Channel.CONTEXT},
    events.TurnEnding: {
        effects.ContinueTurn: hooks.Channel.CONTEXT,
        effects.NotifyUser: hooks.Channel.MESSAGE,
        effects.EndTurn: hooks.Channel.MESSAGE,
        effects.RequestCompaction: hooks.Channel.MESSAGE,
    },
}
"""Context at the end of a turn makes it go on, as ``decision: block`` does, but is not shown as a problem, and
reaches the model once: 2.1.329 sends the reason of a block twice, the second time with the hook's name."""

_REFUSED = re.compile(r"\s*<tool_use_error>(.{0,4000}?)(?:</tool_use_error>|\Z)", re.DOTALL)
_EXIT_CODE = re.compile(r"Exit code (\d{1,9})(?:\n|$)")


def _origin(payload: hooks.Payload, prompt: str, agent_id: str) -> events.PromptOrigin:
    if prompt.lstrip().startswith("<task-notification>") or text_of(payload, "source") == "system":
        return events.PromptOrigin.TASK_NOTIFICATION
    if agent_id:
        return events.PromptOrigin.SUBAGENT
    return events.PromptOrigin.WRAPPED if contains_frame(prompt) else events.PromptOrigin.USER


def _running_tasks(payload: hooks.Payload) -> int | None:
    """Count the running subagents and shell commands; other tasks (schedules, monitors) never end on their own."""
    tasks = hooks.parse_embedded_json(payload.get("background_tasks"))
    if not isinstance(tasks, list):
        return None
    return sum(
        text_of(task, "status") == "running" and text_of(task, "type") in ("subagent", "shell")
        for task in tasks
        if isinstance(task, Mapping)
    )


def _session_started(payload: hooks.Payload, source: events.EventSource) -> events.Event:
    """At a startup, only the terminal program names its model; ``-p`` shows no message of this event."""
    trigger = text_of(payload, "source") or "startup"
    return events.SessionStarted(source, trigger, (trigger == "startup" and "model" not in payload) or None)


def _tool_finished(payload: hooks.Payload, source: events.EventSource) -> events.Event:
    call, response = (
        describe_call(hooks.decode_call(payload), source.cwd),
        hooks.parse_embedded_json(payload.get("tool_response")),
    )
    if call.tool in DELEGATION_TOOLS:
        return _subagent_returned(payload, source)
    start, total = (text_of(payload, name) for name in READ_FIELDS)
    lines = {"startLine": int(start), "totalLines": int(total)} if start.isdecimal() and total.isdecimal() else {}
    call = with_response(call, {"file": lines} if lines else response)
    fields = response if isinstance(response, Mapping) else {}
    is_interrupted = hooks.has_flag(fields, "interrupted")
    is_over = not is_interrupted and not text_of(fields, "backgroundTaskId")
    return events.ToolFinished(
        source,
        call,
        _output(response),
        hooks.shell_command_of(call),
        exit_code=0 if call.tool == hooks.SHELL_TOOL and is_over else None,
        was_interrupted=is_interrupted,
        raw=response,
    )


def _subagent_returned(payload: hooks.Payload, source: events.EventSource) -> events.Event:
    """Return the event without a message if the agent was only launched in the background.

    The event has no resume call: Claude Code itself tells the model how to resume an agent.
    """
    response = hooks.as_mapping(payload.get("tool_response"))
    content = response.get("content")
    is_done = isinstance(content, list) and text_of(response, "status") != "async_launched"
    message = hooks.join_text_blocks(content) if is_done else None
    return events.SubagentReturned(
        source, describe_call(hooks.decode_call(payload), source.cwd), text_of(response, "agentId"), message
    )


def _tool_failed(payload: hooks.Payload, source: events.EventSource) -> events.Event:
    """A shell command with a nonzero exit code is a failed tool call whose error is the output."""
    call, error = describe_call(hooks.decode_call(payload), source.cwd), text_of(payload, "error")
    if call.tool in DELEGATION_TOOLS:
        return events.SubagentReturned(
            source, call, has_failed=True, error="" if hooks.has_flag(payload, "is_interrupt") else error
        )
    match = _EXIT_CODE.match(error) if call.tool == hooks.SHELL_TOOL else None
    return events.ToolFinished(
        source,
        call,
        error[match.end() :] if match else error,
        hooks.shell_command_of(call),
        exit_code=int(match[1]) if match else None,
        has_failed=True,
        was_interrupted=hooks.has_flag(payload, "is_interrupt"),
    )


def _output(response: object) -> str:
    """Return a tool's response as text; empty for structured results, such as that of a file write."""
    if isinstance(response, str):
        return response
    if isinstance(response, Mapping):
        streams = [text_of(response, name) for name in ("stdout", "stderr", "content", "result")]
        return "\n".join(stream for stream in streams if stream) or hooks.join_text_blocks(response.get("content"))
    return hooks.join_text_blocks(response)


def _turn_failed(payload: hooks.Payload, source: events.EventSource) -> events.Event:
    error = text_of(payload, "error") or "unknown"
    return events.TurnFailed(source, error, text_of(payload, "last_assistant_message"))


def _refused_in_batch(payload: hooks.Payload, source: events.EventSource) -> events.Event:
    """Return the first rejected call of a batch: no other event reports it. All other calls had their own events."""
    calls = hooks.parse_embedded_json(payload.get("tool_calls"))
    for item in calls if isinstance(calls, list) else ():
        response = item.get("tool_response") if isinstance(item, Mapping) else None
        refusal = _REFUSED.match(response if isinstance(response, str) else hooks.join_text_blocks(response))
        if not refusal or not refusal[1]:
            continue
        try:
            call = describe_call(hooks.decode_call(item), source.cwd)
        except ClientError:
            continue
        if call.tool in DELEGATION_TOOLS:
            return events.SubagentReturned(source, call, has_failed=True, error=refusal[1], was_rejected=True)
        return events.ToolFinished(
            source, call, refusal[1], hooks.shell_command_of(call), has_failed=True, was_rejected=True
        )
    return events.UnknownEvent(source, "PostToolBatch", is_noise=True)


def _event_name(event: events.Event) -> str:
    if isinstance(event, events.ToolFinished | events.SubagentReturned) and event.was_rejected:
        return "PostToolBatch"
    if isinstance(event, events.ToolFinished | events.SubagentReturned) and event.has_failed:
        return "PostToolUseFailure"
    return hooks.shared_event_name(event)


def _rewrite_output(event: events.ToolFinished, text: str) -> dict[str, Any]:
    """Return nothing if the tool's response has an unknown form: Claude Code silently ignores what does not fit."""
    response = None if event.has_failed else replace_response_text(event.call.tool, event.raw, text)
    return {} if response is None else {"hookSpecificOutput": {"updatedToolOutput": response}}


CLAUDE_CODEC = hooks.HookCodec(
    client=events.ClientName.CLAUDE_CODE,
    cap=CAP,
    capabilities=CAPABILITIES,
    delegation_tools=DELEGATION_TOOLS,
    describe_call=describe_call,
    agent_id_of=lambda payload: text_of(payload, "agent_id"),
    prompt_origin=_origin,
    own_decoders={
        "SessionStart": _session_started,
        "PostToolUse": _tool_finished,
        "PostToolUseFailure": _tool_failed,
        "StopFailure": _turn_failed,
        "PostToolBatch": _refused_in_batch,
    },
    rewrite_output=_rewrite_output,
    answer_fields={"suppressOriginalPrompt": True},
    hook_event_name=_event_name,
    count_background_tasks=_running_tasks,
    relabel_options=relabel_questions,
)
