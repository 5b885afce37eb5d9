"""Encode decisions in the hook format that Claude Code introduced and Codex adopted.

Invariant: ``encode`` emits only what the client's capability table supports at that event, and only keys that the
stricter client accepts: Codex drops an output with an unknown key whole. ``degradations`` reports what the table lacks,
so that no effect is assumed that nobody saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from upbeat.adapters.hooks.event_format import DelegationFields
from upbeat.core.contract.effect import (
    Decision,
    Effect,
    PrependPrompt,
    RelabelOptions,
    RequestApproval,
    RequestCompaction,
    RewriteInput,
    RewriteOutput,
)
from upbeat.core.contract.event import (
    CompactionStarting,
    Event,
    PromptSubmitted,
    SessionStarted,
    SubagentEnding,
    SubagentRequested,
    SubagentReturned,
    SubagentStarted,
    ToolFinished,
    ToolStarting,
    TurnEnding,
    UserQuestionRequested,
)

PROMPT_SEPARATOR = "\n\n---\n\n"
"""Between prepended text and the prompt."""


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
    INPUT = "input"
    """The call's input is replaced."""
    OUTPUT = "output"
    """The tool's output is replaced."""
    BLOCK = "block"
    """The turn continues with it as the next message."""


UNSUPPORTED = "the client cannot carry it out here"
DEGRADATIONS: Mapping[tuple[type[Effect], Channel], str] = {
    (RequestApproval, Channel.DENIAL): "denied, because the client cannot ask the user",
    (RewriteInput, Channel.CONTEXT): "the model is instructed to change the input",
    (RequestCompaction, Channel.MESSAGE): "the user sees a message",
}
"""Channels that carry out less than the effect asks for."""

EffectChannels = Mapping[type[Effect], Channel]
Capabilities = Mapping[type[Event], EffectChannels]
"""Event -> effect -> the channel that carries it out; what is missing is not supported."""


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """The form of output that one client accepts."""

    capabilities: Capabilities
    delegation_tools: Mapping[str, DelegationFields]
    hook_event_name: Callable[[Event], str]
    """Returns the client's name of an event; an output with another name is lost."""
    rewrite_requires_allow: bool
    """Whether the client accepts a changed input only together with a permission."""
    rewrite_output: Callable[[ToolFinished, str], dict[str, Any]]
    """Returns the output that replaces the tool's text; empty if the client cannot."""
    relabel_options: Callable[[Mapping[str, Any], Mapping[str, str]], dict[str, Any]] = lambda _input, _labels: {}
    """Returns the fields of a question's input with the new labels."""


_EVENT_NAMES: Mapping[type[Event], str] = {
    PromptSubmitted: "UserPromptSubmit",
    SessionStarted: "SessionStart",
    ToolStarting: "PreToolUse",
    UserQuestionRequested: "PreToolUse",
    SubagentRequested: "PreToolUse",
    ToolFinished: "PostToolUse",
    SubagentReturned: "PostToolUse",
    SubagentStarted: "SubagentStart",
    SubagentEnding: "SubagentStop",
    CompactionStarting: "PreCompact",
    TurnEnding: "Stop",
}


def shared_event_name(event: Event) -> str:
    """Return the name that both clients have for an event; empty if they have none."""
    return _EVENT_NAMES.get(type(event), "")


def encode(event: Event, decision: Decision, spec: OutputSpec) -> dict[str, Any]:
    """Return the hook output that carries out ``decision``; empty if there is nothing to output."""
    texts_by_channel: dict[Channel, list[str]] = {}
    for effect in decision.effects:
        if effect.text and (channel := _channel(event, effect, spec)):
            texts_by_channel.setdefault(channel, []).append(effect.text)
    joined = {channel: _replace_surrogates("\n".join(texts)) for channel, texts in texts_by_channel.items()}
    output: dict[str, Any] = {}
    specific = _hook_specific_output(joined) | _updated_input(event, decision, joined, spec)
    if (text := joined.get(Channel.OUTPUT)) and isinstance(event, ToolFinished):
        output = spec.rewrite_output(event, text)
        specific |= output.pop("hookSpecificOutput", {})
    if specific:
        output["hookSpecificOutput"] = {"hookEventName": spec.hook_event_name(event)} | specific
    if reason := joined.get(Channel.BLOCK):
        output |= {"decision": "block", "reason": reason}
    if message := joined.get(Channel.MESSAGE):
        output["systemMessage"] = message
    return output


def _replace_surrogates(text: str) -> str:
    """Return ``text`` without lone surrogates, because of which a client's parser would reject the whole output."""
    return text.encode("utf-8", "replace").decode()


def degradations(event: Event, decision: Decision, spec: OutputSpec) -> tuple[str, ...]:
    """Return, for each effect, how the client falls short of it at this event; empty if it does not."""
    return tuple(_degradation(event, effect, spec) if effect.text else "" for effect in decision.effects)


def _degradation(event: Event, effect: Effect, spec: OutputSpec) -> str:
    way = _channel(event, effect, spec)
    return UNSUPPORTED if way is None else DEGRADATIONS.get((type(effect), way), "")


def _channel(event: Event, effect: Effect, spec: OutputSpec) -> Channel | None:
    if isinstance(effect, PrependPrompt) and (not isinstance(event, SubagentRequested) or event.is_prompt_hidden):
        return None  # a replaced input would lose the hidden prompt
    if isinstance(effect, RewriteOutput):
        is_possible = isinstance(event, ToolFinished) and spec.rewrite_output(event, effect.text)
        return spec.capabilities.get(type(event), {}).get(RewriteOutput) if is_possible else None
    return spec.capabilities.get(type(event), {}).get(type(effect))


def _hook_specific_output(texts: Mapping[Channel, str]) -> dict[str, Any]:
    specific: dict[str, Any] = {}
    if reason := texts.get(Channel.DENIAL):
        specific |= {"permissionDecision": "deny", "permissionDecisionReason": reason}
    elif question := texts.get(Channel.QUESTION):
        specific |= {"permissionDecision": "ask", "permissionDecisionReason": question}
    if context := texts.get(Channel.CONTEXT):
        specific["additionalContext"] = context
    return specific


def _updated_input(event: Event, decision: Decision, texts: Mapping[Channel, str], spec: OutputSpec) -> dict[str, Any]:
    """Return the whole input with its changes; a client replaces all of it."""
    if (
        Channel.INPUT not in texts
        or Channel.DENIAL in texts
        or not isinstance(event, ToolStarting | UserQuestionRequested | SubagentRequested)
    ):
        return {}
    changed: dict[str, Any] = {}
    for effect in decision.effects:
        if isinstance(effect, RewriteInput) and _channel(event, effect, spec) is Channel.INPUT:
            changed |= effect.fields
        elif isinstance(effect, RelabelOptions) and _channel(event, effect, spec) is Channel.INPUT:
            changed |= spec.relabel_options(event.call.input, effect.new_labels)
    before = "\n".join(effect.text for effect in decision.effects if isinstance(effect, PrependPrompt) and effect.text)
    if before and isinstance(event, SubagentRequested):
        changed[spec.delegation_tools[event.call.tool].prompt] = f"{before}{PROMPT_SEPARATOR}{event.prompt}"
    allowed = {"permissionDecision": "allow"} if spec.rewrite_requires_allow else {}
    return allowed | {"updatedInput": dict(event.call.input) | changed} if changed else {}
