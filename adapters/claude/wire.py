"""Claude Code's side of the hook format. Law: what only Claude Code says is known here and nowhere else.

The same fields arrive from a command hook (typed JSON on stdin) and from an ``mcp_tool`` hook (interpolated
into the tool's arguments, where everything is text and what the event lacks is ``""``).
Source: recorded payloads of 2.1.197 and 2.1.329.
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
    Relabel,
    RewriteInput,
    RewriteOutput,
    Stop,
    TellUser,
)
from ...core.contract.event import (
    AgentStarted,
    AgentStopped,
    AskingUser,
    ClientName,
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
    TurnFailed,
    UnknownEvent,
)
from ...core.errors import ClientError
from ...core.turn.frame import is_framed
from ...core.turn.truncate import Cap, Unit
from .. import hook_format, hook_output
from ..hook_format import (
    SHELL,
    Dialect,
    Handing,
    Payload,
    call_of,
    command_of,
    flag,
    mapping,
    optional,
    structured,
    texts,
)
from ..hook_output import Answers, Capabilities, Way, Ways
from .tools import answered, describe, relabelled, shown_instead

CLIENT = ClientName.CLAUDE_CODE
CAP = Cap(9800, Unit.UTF16)
"""Above 10,000 UTF-16 units the model gets a 2 KB preview and a path instead of the text."""

_AGENT = Handing(agent="subagent_type", prompt="prompt", title="description")
HANDING = {"Agent": _AGENT, "Task": _AGENT}
"""Hooks say ``Agent``; ``Task`` is what the tool was called before."""

_BESIDE: Ways = {Inject: Way.CONTEXT, TellUser: Way.MESSAGE, Compact: Way.MESSAGE}
_BEFORE_A_CALL: Ways = {**_BESIDE, Deny: Way.DENIAL, Ask: Way.QUESTION, RewriteInput: Way.INPUT}
CAPABILITIES: Capabilities = {
    PromptSubmitted: _BESIDE,
    SessionStarted: _BESIDE,
    ToolStarting: _BEFORE_A_CALL,
    AskingUser: {**_BEFORE_A_CALL, Relabel: Way.INPUT},
    Delegating: {**_BEFORE_A_CALL, PutBefore: Way.INPUT},
    ToolFinished: {**_BESIDE, RewriteOutput: Way.OUTPUT},
    Delegated: _BESIDE,
    AgentStarted: {Inject: Way.CONTEXT},
    AgentStopped: {KeepGoing: Way.CONTEXT},
    TurnEnding: {KeepGoing: Way.CONTEXT, TellUser: Way.MESSAGE, Stop: Way.MESSAGE, Compact: Way.MESSAGE},
}
"""Context at the end of a turn makes it go on, as ``decision: block`` does, but is not shown as a problem, and
reaches the model once: 2.1.329 sends the reason of a block twice, the second time with the hook's name."""

_REFUSED = re.compile(r"\s*<tool_use_error>(.{0,4000}?)(?:</tool_use_error>|\Z)", re.DOTALL)
_EXIT_CODE = re.compile(r"Exit code (\d{1,9})(?:\n|$)")


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
    return optional(payload, "agent_id")


def _origin(payload: Payload, prompt: str, agent_id: str) -> Origin:
    if prompt.lstrip().startswith("<task-notification>") or optional(payload, "source") == "system":
        return Origin.TASK_NOTIFICATION
    if agent_id:
        return Origin.SUBAGENT
    return Origin.WRAPPED if is_framed(prompt) else Origin.USER


def _running(payload: Payload) -> int | None:
    """Subagents and shell commands that still run; other tasks (schedules, monitors) never end by themselves."""
    tasks = structured(payload.get("background_tasks"))
    if not isinstance(tasks, list):
        return None
    return sum(
        optional(task, "status") == "running" and optional(task, "type") in ("subagent", "shell")
        for task in tasks
        if isinstance(task, Mapping)
    )


def _tool_end(payload: Payload, source: Source) -> Event:
    call, response = describe(call_of(payload), source.cwd), structured(payload.get("tool_response"))
    if call.tool in HANDING:
        return _delegated(payload, source)
    call = answered(call, response)
    told = response if isinstance(response, Mapping) else {}
    is_interrupted = flag(told, "interrupted")
    is_over = not is_interrupted and not optional(told, "backgroundTaskId")
    return ToolFinished(
        source,
        call,
        _output(response),
        command_of(call),
        exit_code=0 if call.tool == SHELL and is_over else None,
        interrupted=is_interrupted,
        raw=response,
    )


def _delegated(payload: Payload, source: Source) -> Event:
    """An agent that works in the background answers later: its launch has no message.

    How it is gone on with is not told: Claude Code says so itself, at the end of its answer and of a launch.
    """
    told = mapping(payload.get("tool_response"))
    content = told.get("content")
    is_done = isinstance(content, list) and optional(told, "status") != "async_launched"
    message = texts(content) if is_done else None
    return Delegated(source, describe(call_of(payload), source.cwd), optional(told, "agentId"), message)


def _tool_failure(payload: Payload, source: Source) -> Event:
    """A shell command that ends with another code than 0 is a failure of the tool, and its output the error."""
    call, error = describe(call_of(payload), source.cwd), optional(payload, "error")
    if call.tool in HANDING:
        return Delegated(source, call, failed=True, error="" if flag(payload, "is_interrupt") else error)
    ended = _EXIT_CODE.match(error) if call.tool == SHELL else None
    return ToolFinished(
        source,
        call,
        error[ended.end() :] if ended else error,
        command_of(call),
        exit_code=int(ended[1]) if ended else None,
        failed=True,
        interrupted=flag(payload, "is_interrupt"),
    )


def _output(response: object) -> str:
    """What a tool said, as text; nothing for results that are data, such as a file that was written."""
    if isinstance(response, str):
        return response
    if isinstance(response, Mapping):
        streams = [optional(response, name) for name in ("stdout", "stderr", "content", "result")]
        return "\n".join(stream for stream in streams if stream) or texts(response.get("content"))
    return texts(response)


def _turn_failure(payload: Payload, source: Source) -> Event:
    return TurnFailed(source, optional(payload, "error") or "unknown", optional(payload, "last_assistant_message"))


def _batch(payload: Payload, source: Source) -> Event:
    """The first call of a batch that was refused: of such a call nothing else tells. All others were told before."""
    calls = structured(payload.get("tool_calls"))
    for one in calls if isinstance(calls, list) else ():
        if isinstance(one, Mapping) and (refusal := _refusal(one.get("tool_response"))):
            try:
                call = describe(call_of(one), source.cwd)
            except ClientError:
                continue
            if call.tool in HANDING:
                return Delegated(source, call, failed=True, error=refusal, refused=True)
            return ToolFinished(source, call, refusal, command_of(call), failed=True, refused=True)
    return UnknownEvent(source, "PostToolBatch", is_noise=True)


def _refusal(response: object) -> str:
    """Why a call was refused, from its answer as the model reads it; empty for every other answer."""
    text = response if isinstance(response, str) else texts(response)
    found = _REFUSED.match(text)
    return found[1] if found else ""


def _event_name(event: Event) -> str:
    if isinstance(event, ToolFinished | Delegated) and event.refused:
        return "PostToolBatch"
    if isinstance(event, ToolFinished | Delegated) and event.failed:
        return "PostToolUseFailure"
    return hook_output.shared_name(event)


def _rewritten(event: ToolFinished, text: str) -> dict[str, Any]:
    """Nothing where the form of the tool's answer is not known: what does not fit is silently ignored."""
    found = None if event.failed else shown_instead(event.call.tool, event.raw, text)
    return {} if found is None else {"hookSpecificOutput": {"updatedToolOutput": found}}


_DIALECT = Dialect(
    CLIENT,
    HANDING,
    agent_id=_agent_id,
    origin=_origin,
    running=_running,
    describe=describe,
    own={
        "PostToolUse": _tool_end,
        "PostToolUseFailure": _tool_failure,
        "StopFailure": _turn_failure,
        "PostToolBatch": _batch,
    },
)
_ANSWERS = Answers(
    CAPABILITIES, HANDING, event_name=_event_name, rewriting_allows=False, rewrite_output=_rewritten, relabel=relabelled
)
