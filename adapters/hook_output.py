"""The hook format that Claude Code introduced and Codex adopted: how to answer an event of it.

Law: ``encode`` emits only what the client's table of capabilities says it carries out at that event, and only
keys that the stricter client accepts: Codex drops an answer with an unknown key whole. What the table lacks is
told by ``shortfalls``, so that nobody believes in an effect that nobody saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..core.contract.effect import Ask, Compact, Decision, Effect, PutBefore, Relabel, RewriteInput, RewriteOutput
from ..core.contract.event import (
    AgentStarted,
    AgentStopped,
    AskingUser,
    Compacting,
    Delegated,
    Delegating,
    Event,
    PromptSubmitted,
    SessionStarted,
    ToolFinished,
    ToolStarting,
    TurnEnding,
)
from .hook_format import Handing

RULE = "\n\n---\n\n"
"""Between what is put before a prompt and the prompt."""


class Way(StrEnum):
    """How an effect is carried out."""

    CONTEXT = "context"
    """The model reads it beside the conversation."""
    MESSAGE = "message"
    """The person sees it."""
    DENIAL = "denial"
    """The call does not happen, and the model reads why."""
    QUESTION = "question"
    """The person decides whether the call happens."""
    INPUT = "input"
    """The call's input is replaced."""
    OUTPUT = "output"
    """What the tool said is replaced."""
    BLOCK = "block"
    """The turn goes on with it as the next message."""


LEFT_OUT = "the client cannot carry it out here"
_WEAKER: Mapping[tuple[type[Effect], Way], str] = {
    (Ask, Way.DENIAL): "denied, because the client asks nobody",
    (RewriteInput, Way.CONTEXT): "the model is told what to change",
    (Compact, Way.MESSAGE): "the person is told",
}
"""Ways that are less than what was wanted."""

Ways = Mapping[type[Effect], Way]
Capabilities = Mapping[type[Event], Ways]
"""What a client carries out, and how. What is not in it, it cannot."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What one client wants of an answer."""

    capabilities: Capabilities
    handing: Mapping[str, Handing]
    event_name: Callable[[Event], str]
    """The client's name of an event: an answer with another one is lost."""
    rewriting_allows: bool
    """Whether the client takes a changed input only together with a permission."""
    rewrite_output: Callable[[ToolFinished, str], dict[str, Any]]
    """The answer that shows the model another text than the tool's; empty where the client cannot."""
    relabel: Callable[[Mapping[str, Any], Mapping[str, str]], dict[str, Any]] = lambda _input, _labels: {}
    """The fields of a question's input in which other labels stand."""


_NAMES: Mapping[type[Event], str] = {
    PromptSubmitted: "UserPromptSubmit",
    SessionStarted: "SessionStart",
    ToolStarting: "PreToolUse",
    AskingUser: "PreToolUse",
    Delegating: "PreToolUse",
    ToolFinished: "PostToolUse",
    Delegated: "PostToolUse",
    AgentStarted: "SubagentStart",
    AgentStopped: "SubagentStop",
    Compacting: "PreCompact",
    TurnEnding: "Stop",
}


def shared_name(event: Event) -> str:
    """The name that both clients have for an event; empty when they have none."""
    return _NAMES.get(type(event), "")


def encode(event: Event, decision: Decision, answers: Answers) -> dict[str, Any]:
    """The hook output that carries ``decision``; empty when there is nothing to say."""
    said: dict[Way, list[str]] = {}
    for effect in decision.effects:
        if effect.text and (way := _way(event, effect, answers)):
            said.setdefault(way, []).append(effect.text)
    joined = {way: _whole("\n".join(texts)) for way, texts in said.items()}
    output: dict[str, Any] = {}
    specific = _specific(joined) | _new_input(event, decision, joined, answers)
    if (text := joined.get(Way.OUTPUT)) and isinstance(event, ToolFinished):
        output = answers.rewrite_output(event, text)
        specific |= output.pop("hookSpecificOutput", {})
    if specific:
        output["hookSpecificOutput"] = {"hookEventName": answers.event_name(event)} | specific
    if reason := joined.get(Way.BLOCK):
        output |= {"decision": "block", "reason": reason}
    if told := joined.get(Way.MESSAGE):
        output["systemMessage"] = told
    return output


def _whole(text: str) -> str:
    """``text`` without half characters, which a client's own parser would refuse with all of the answer."""
    return text.encode("utf-8", "replace").decode()


def shortfalls(event: Event, decision: Decision, answers: Answers) -> tuple[str, ...]:
    """For each effect how far the client falls short of it at this event; empty where it does not."""
    return tuple(_shortfall(event, effect, answers) if effect.text else "" for effect in decision.effects)


def _shortfall(event: Event, effect: Effect, answers: Answers) -> str:
    way = _way(event, effect, answers)
    return LEFT_OUT if way is None else _WEAKER.get((type(effect), way), "")


def _way(event: Event, effect: Effect, answers: Answers) -> Way | None:
    if isinstance(effect, PutBefore) and (not isinstance(event, Delegating) or event.is_sealed):
        return None  # an input without the prompt that we know would lose what it had
    if isinstance(effect, RewriteOutput):
        can = isinstance(event, ToolFinished) and answers.rewrite_output(event, effect.text)
        return answers.capabilities.get(type(event), {}).get(RewriteOutput) if can else None
    return answers.capabilities.get(type(event), {}).get(type(effect))


def _specific(said: Mapping[Way, str]) -> dict[str, Any]:
    specific: dict[str, Any] = {}
    if reason := said.get(Way.DENIAL):
        specific |= {"permissionDecision": "deny", "permissionDecisionReason": reason}
    elif question := said.get(Way.QUESTION):
        specific |= {"permissionDecision": "ask", "permissionDecisionReason": question}
    if context := said.get(Way.CONTEXT):
        specific["additionalContext"] = context
    return specific


def _new_input(event: Event, decision: Decision, said: Mapping[Way, str], answers: Answers) -> dict[str, Any]:
    """The whole input with what is changed in it; a client replaces all of it."""
    if Way.INPUT not in said or Way.DENIAL in said or not isinstance(event, ToolStarting | AskingUser | Delegating):
        return {}
    changed: dict[str, Any] = {}
    for effect in decision.effects:
        if isinstance(effect, RewriteInput) and _way(event, effect, answers) is Way.INPUT:
            changed |= effect.fields
        elif isinstance(effect, Relabel) and _way(event, effect, answers) is Way.INPUT:
            changed |= answers.relabel(event.call.input, effect.labels)
    before = "\n".join(one.text for one in decision.effects if isinstance(one, PutBefore) and one.text)
    if before and isinstance(event, Delegating):
        changed[answers.handing[event.call.tool].prompt] = f"{before}{RULE}{event.prompt}"
    allowed = {"permissionDecision": "allow"} if answers.rewriting_allows else {}
    return allowed | {"updatedInput": dict(event.call.input) | changed} if changed else {}
