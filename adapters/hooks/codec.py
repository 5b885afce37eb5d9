"""The hook format that Claude Code introduced and Codex adopted: payloads to events, decisions to outputs.

Invariant: field names that both clients share appear in this file, those of one client in its ``codec.py``, and nowhere
else. Decoding raises only ``ClientError``, whatever the payload is. Encoding emits only what the client's capability
table supports at that event, and only keys that the stricter client accepts: Codex drops an output with an unknown key
whole. ``degradations`` reports what the table lacks, so that no effect is assumed that nobody saw.

The fields are typed (command hooks, Codex's ``mcp_tool`` hooks) or text (Claude Code's ``mcp_tool`` hooks, where
objects are JSON text and a missing field is ``""``); the functions below accept both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from upbeat.core.contract import effect as effects
from upbeat.core.contract import event as events
from upbeat.core.errors import ClientError
from upbeat.core.json_fields import text_of
from upbeat.core.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from upbeat.core.sanitize.truncate import TextLimit

Payload = Mapping[str, Any]

SHELL_TOOL = "Bash"
"""The name of both clients' shell tool in hooks."""
PROMPT_SEPARATOR = "\n\n---\n\n"
"""Between prepended text and the prompt."""
MAIN_AGENT_EVENTS = frozenset({"SessionStart", "SessionEnd", "PreCompact", "Stop", "StopFailure", "Interrupt"})
"""In a subagent these events concern the subagent, not the session."""


@dataclass(frozen=True, slots=True)
class DelegationFields:
    """The fields of a tool's input for the subagent, its prompt and the title; empty for none.

    If the input has no text in ``prompt``, the prompt is hidden: neither read nor changed.
    """

    agent: str
    prompt: str = ""
    title: str = ""


EventDecoder = Callable[[Payload, events.EventSource], events.Event | None]
"""Returns the event of a payload; None if upbeat ignores it."""


class Channel(StrEnum):
    """How an effect is carried out."""

    CONTEXT = "context"
    """The model receives it as additional context."""
    MESSAGE = "message"
    """The user sees it."""
    DENIAL = "denial"
    """The call is blocked, and the model receives the reason."""
    QUESTION = "question"
    """The user decides whether the call runs."""
    APPROVAL = "approval"
    """The call runs without a question to the user."""
    INPUT = "input"
    """The call's input is replaced."""
    OUTPUT = "output"
    """The tool's output is replaced."""
    ANSWER = "answer"
    """The user sees it in place of the model's answer."""
    BLOCK = "block"
    """The turn continues with it as the next message."""


UNSUPPORTED = "the client cannot carry it out here"
DEGRADATIONS: Mapping[tuple[type[effects.Effect], Channel], str] = {
    (effects.RequestApproval, Channel.DENIAL): "denied, because the client cannot ask the user",
    (effects.RewriteInput, Channel.CONTEXT): "the model is instructed to change the input",
    (effects.RequestCompaction, Channel.MESSAGE): "the user sees a message",
}
"""Channels that carry out less than the effect asks for."""

EffectChannels = Mapping[type[effects.Effect], Channel]
Capabilities = Mapping[type[events.Event], EffectChannels]
"""Event -> effect -> the channel that carries it out; what is missing is not supported."""


_EVENT_NAMES: Mapping[type[events.Event], str] = {
    events.PromptSubmitted: "UserPromptSubmit",
    events.SessionStarted: "SessionStart",
    events.ToolStarting: "PreToolUse",
    events.UserQuestionRequested: "PreToolUse",
    events.SubagentRequested: "PreToolUse",
    events.ToolFinished: "PostToolUse",
    events.SubagentReturned: "PostToolUse",
    events.SubagentStarted: "SubagentStart",
    events.SubagentEnding: "SubagentStop",
    events.CompactionStarting: "PreCompact",
    events.TurnEnding: "Stop",
}


def shared_event_name(event: events.Event) -> str:
    """Return the name that both clients have for an event; empty if they have none."""
    return _EVENT_NAMES.get(type(event), "")


@dataclass(frozen=True, slots=True, eq=False)
class HookCodec:
    """One client's form of the format: what differs between clients is data."""

    client: events.ClientName
    cap: TextLimit
    """The longest text that reaches the model whole."""
    capabilities: Capabilities
    delegation_tools: Mapping[str, DelegationFields]
    """Tools that start a subagent."""
    describe_call: Callable[[events.Call, str], events.Call]
    """Returns the call with its kind, paths and edits; takes the working directory for relative paths."""
    agent_id_of: Callable[[Payload], str]
    """Returns the subagent of an event; empty for the main agent."""
    prompt_origin: Callable[[Payload, str, str], events.PromptOrigin]
    """Returns who wrote a prompt, from the payload, the prompt and the subagent's id."""
    own_decoders: Mapping[str, EventDecoder]
    """Decoders of events that only this client has, or that it reports in its own way."""
    rewrite_output: Callable[[events.ToolFinished, str], dict[str, Any]]
    """Returns the output that replaces the tool's text; empty if the client cannot."""
    rewrite_requires_allow: bool = False
    """Whether the client accepts a changed input only together with a permission."""
    answer_fields: Mapping[str, Any] = MappingProxyType({})
    """What the client's own output has with an answer to a prompt."""
    hook_event_name: Callable[[events.Event], str] = shared_event_name
    """Returns the client's name of an event; an output with another name is lost."""
    count_background_tasks: Callable[[Payload], int | None] = lambda _payload: None
    """Returns the number of background tasks that outlive the turn; None if the client does not report it."""
    relabel_options: Callable[[Mapping[str, Any], Mapping[str, str]], dict[str, Any]] = lambda _input, _labels: {}
    """Returns the fields of a question's input with the new labels."""

    def decode(self, payload: Payload) -> events.Event:
        """Return the event in ``payload``. Unknown fields are ignored; without a decoder it is an ``UnknownEvent``.

        Raises:
            ClientError: A required field is missing or has the wrong type.
        """
        name = required_text(payload, "hook_event_name")
        agent_id = self.agent_id_of(payload)
        cwd = required_text(payload, "cwd")
        if not cwd.startswith("/"):
            raise ClientError(f"cwd is {_json_excerpt(cwd)}, not an absolute path")
        session_id, transcript = text_of(payload, "session_id"), text_of(payload, "transcript_path")
        source = events.EventSource(self.client, cwd, session_id, agent_id, transcript)
        event: events.Event | None = None
        if agent_id and name in MAIN_AGENT_EVENTS:
            pass
        elif own := self.own_decoders.get(name):
            event = own(payload, source)
        elif shared := _SHARED_DECODERS.get(name):
            event = shared(payload, source, self)
        return event or events.UnknownEvent(source, name, tuple(sorted(map(str, payload))))

    def encode(self, event: events.Event, decision: effects.Decision) -> dict[str, Any]:
        """Return the hook output that carries out ``decision``; empty if there is nothing to output."""
        texts_by_channel: dict[Channel, list[str]] = {}
        for effect in decision.effects:
            if effect.text and (channel := self._channel(event, effect)):
                texts_by_channel.setdefault(channel, []).append(effect.text)
        # a lone surrogate would make a client's parser reject the whole output
        joined = {
            channel: "\n".join(texts).encode("utf-8", "replace").decode() for channel, texts in texts_by_channel.items()
        }
        output: dict[str, Any] = {}
        specific = _hook_specific_output(joined)
        if Channel.INPUT in joined and Channel.DENIAL not in joined:
            specific |= self._updated_input(event, decision)
        if (text := joined.get(Channel.OUTPUT)) and isinstance(event, events.ToolFinished):
            output = self.rewrite_output(event, text)
            specific |= output.pop("hookSpecificOutput", {})
        if Channel.ANSWER in joined:
            specific |= self.answer_fields
        if specific:
            output["hookSpecificOutput"] = {"hookEventName": self.hook_event_name(event)} | specific
        if reason := joined.get(Channel.BLOCK) or joined.get(Channel.ANSWER):
            output |= {"decision": "block", "reason": reason}
        if message := joined.get(Channel.MESSAGE):
            output["systemMessage"] = message
        return output

    def degradations(self, event: events.Event, decision: effects.Decision) -> tuple[str, ...]:
        """Return, for each effect of ``decision``, how the client falls short of it; empty if it does not."""
        shortfalls = []
        for effect in decision.effects:
            channel = self._channel(event, effect) if effect.text else Channel.CONTEXT
            shortfalls.append(UNSUPPORTED if channel is None else DEGRADATIONS.get((type(effect), channel), ""))
        return tuple(shortfalls)

    def _channel(self, event: events.Event, effect: effects.Effect) -> Channel | None:
        if isinstance(effect, effects.PrependPrompt) and (
            not isinstance(event, events.SubagentRequested) or event.is_prompt_hidden
        ):
            return None  # a replaced input would lose the hidden prompt
        if isinstance(effect, effects.RewriteOutput) and not (
            isinstance(event, events.ToolFinished) and self.rewrite_output(event, effect.text)
        ):
            return None
        return self.capabilities.get(type(event), {}).get(type(effect))

    def _updated_input(self, event: events.Event, decision: effects.Decision) -> dict[str, Any]:
        """Return the whole input with its changes; a client replaces all of it."""
        if not isinstance(event, events.ToolStarting | events.UserQuestionRequested | events.SubagentRequested):
            return {}
        changed: dict[str, Any] = {}
        for effect in decision.effects:
            if isinstance(effect, effects.RewriteInput) and self._channel(event, effect) is Channel.INPUT:
                changed |= effect.fields
            elif isinstance(effect, effects.RelabelOptions) and self._channel(event, effect) is Channel.INPUT:
                changed |= self.relabel_options(event.call.input, effect.new_labels)
        before = "\n".join(
            effect.text for effect in decision.effects if isinstance(effect, effects.PrependPrompt) and effect.text
        )
        if before and isinstance(event, events.SubagentRequested):
            field = self.delegation_tools[event.call.tool].prompt
            changed[field] = f"{before}{PROMPT_SEPARATOR}{event.prompt}"
        allowed = {"permissionDecision": "allow"} if self.rewrite_requires_allow else {}
        return allowed | {"updatedInput": dict(event.call.input) | changed} if changed else {}


def _hook_specific_output(texts: Mapping[Channel, str]) -> dict[str, Any]:
    specific: dict[str, Any] = {}
    if reason := texts.get(Channel.DENIAL):
        specific |= {"permissionDecision": "deny", "permissionDecisionReason": reason}
    elif question := texts.get(Channel.QUESTION):
        specific |= {"permissionDecision": "ask", "permissionDecisionReason": question}
    elif approval := texts.get(Channel.APPROVAL):
        specific |= {"permissionDecision": "allow", "permissionDecisionReason": approval}
    if context := texts.get(Channel.CONTEXT):
        specific["additionalContext"] = context
    return specific


def _decode_prompt(payload: Payload, source: events.EventSource, codec: HookCodec) -> events.Event:
    prompt = required_text(payload, "prompt")
    return events.PromptSubmitted(source, prompt, codec.prompt_origin(payload, prompt, source.agent_id))


def _decode_tool_start(payload: Payload, source: events.EventSource, codec: HookCodec) -> events.Event:
    call = codec.describe_call(decode_call(payload), source.cwd)
    if fields := codec.delegation_tools.get(call.tool):
        agent, prompt, title = (text_of(call.input, name) for name in (fields.agent, fields.prompt, fields.title))
        is_hidden = not isinstance(call.input.get(fields.prompt), str)
        return events.SubagentRequested(source, call, agent, prompt, title, is_hidden)
    if call.kind is events.ToolKind.ASK_USER:
        return events.UserQuestionRequested(source, call)
    return events.ToolStarting(source, call, shell_command_of(call))


def _decode_agent_start(payload: Payload, source: events.EventSource, _codec: HookCodec) -> events.Event | None:
    agent = text_of(payload, "agent_type")
    return events.SubagentStarted(source, text_of(payload, "agent_id"), agent) if agent else None


def _decode_agent_stop(payload: Payload, source: events.EventSource, _codec: HookCodec) -> events.Event | None:
    """Return None for a compaction, which Claude Code reports as an agent without a type."""
    agent = text_of(payload, "agent_type")
    if not agent:
        return None
    message = text_of(payload, "last_assistant_message")
    return events.SubagentEnding(
        source, text_of(payload, "agent_id"), agent, message, has_flag(payload, "stop_hook_active")
    )


def _decode_turn_end(payload: Payload, source: events.EventSource, codec: HookCodec) -> events.Event:
    message = text_of(payload, "last_assistant_message")
    is_planning = text_of(payload, "permission_mode") == "plan"
    return events.TurnEnding(
        source, message, has_flag(payload, "stop_hook_active"), codec.count_background_tasks(payload), is_planning
    )


_SHARED_DECODERS: Mapping[str, Callable[[Payload, events.EventSource, HookCodec], events.Event | None]] = {
    "UserPromptSubmit": _decode_prompt,
    "SessionStart": lambda payload, source, _: events.SessionStarted(source, text_of(payload, "source") or "startup"),
    "SessionEnd": lambda payload, source, _: events.SessionEnded(source, text_of(payload, "reason")),
    "PreToolUse": _decode_tool_start,
    "SubagentStart": _decode_agent_start,
    "SubagentStop": _decode_agent_stop,
    "PreCompact": lambda payload, source, _: events.CompactionStarting(source, text_of(payload, "trigger")),
    "Stop": _decode_turn_end,
}


def decode_call(payload: Payload) -> events.Call:
    """Return the tool call of the event."""
    return events.Call(
        text_of(payload, "tool_use_id"),
        required_text(payload, "tool_name"),
        as_mapping(payload.get("tool_input")),
    )


def shell_command_of(call: events.Call) -> str:
    """Return the command line of a shell call; empty for any other call."""
    return text_of(call.input, "command") if call.tool == SHELL_TOOL else ""


def required_text(payload: Payload, name: str) -> str:
    """Return the text in the field ``name``.

    Raises:
        ClientError: The field is missing or not a string.
    """
    value = payload.get(name)
    if not isinstance(value, str):
        raise ClientError(f"{name} is {_json_excerpt(value)}, not a string")
    return value


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
    texts = [text_of(block, "text") for block in blocks if isinstance(block, Mapping)]
    return "\n".join(filter(None, texts))


def _json_excerpt(value: object) -> str:
    """Return the beginning of ``value`` as JSON."""
    try:
        return json.dumps(value, default=str)[:80]
    except RecursionError:
        return f"a deep {type(value).__name__}"
