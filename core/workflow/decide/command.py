"""Parse workflow commands in prompts.

A command starts the prompt (``/upbeat:standard add retries``; ``$upbeat:standard …`` in clients without slash commands
of plugins), or names a workflow in brackets (``[workflow:standard]``, ``[goal: …]``) outside code and quotes. While
something would continue the turn, a prompt in any words may stop or pause it (``core/dialogue``). Invariant: anything
ambiguous is an ordinary prompt.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from enum import StrEnum

from upbeat.core.dialogue.stops import StopKind, find_stop
from upbeat.core.prompt.quoted_spans import clip_prompt, mask_prompt
from upbeat.core.workflow.verdict.marker import find_promises


class Verb(StrEnum):
    """The requested action."""

    START = "start"
    STOP = "stop"
    PAUSE = "pause"
    """Stop until the user says to continue."""
    CONTINUE = "continue"
    OTHER = "other"
    """A command of upbeat that does not concern the workflow."""


@dataclass(frozen=True, slots=True)
class WorkflowCommand:
    """A command. ``workflow`` and ``goal`` are as written and belong to ``START``."""

    verb: Verb
    workflow: str = ""
    goal: str = ""


CONTINUE_PHRASES = (
    *("continue", "go on", "carry on", "keep going", "resume", "/continue"),
    *("继续", "繼續", "接着做", "接著做", "继续做", "繼續做"),
)

_SLASH = re.compile(r"\s*[/$](?:upbeat:)(?:source-command-)?([\w-]+)[ \t]*(.*)", re.DOTALL | re.ASCII)
_BRACKETED_WORKFLOW = re.compile(r"\[workflow:\s*([\w-]+)\s*\]", re.IGNORECASE)
_BRACKETED_GOAL = re.compile(r"\[goal:([^\[\]]{1,4000})\]", re.IGNORECASE)
_MAX_GOAL_PREFIX_CHARS = 400
ULTRAWORK = re.compile(r"\s*(?:ulw|ultrawork)(?:\s?[:：,，!！]+|(?=\s))\s*(?=\S)", re.IGNORECASE)
"""The prefix of a prompt that is to be done completely: a goal."""
_EDGE_CHARS = " \t\r\n.!?,~。！？，、…～"
_VERBS = {"stop": Verb.STOP, "continue": Verb.CONTINUE}
DISPLAY_COMMANDS = frozenset({"context", "why", "status"})
"""Commands that only show the user what upbeat did."""
_OTHER_COMMANDS = frozenset({*DISPLAY_COMMANDS, "auto", "plan", "help", "goal", "quiet", "start-feature", "mul-dev"})


def parse_workflow_command(prompt: str) -> WorkflowCommand | None:
    """Return the command in ``prompt``, if there is one."""
    if slash := _SLASH.match(prompt):
        name, rest = slash[1].lower(), slash[2].strip()
        if name in _VERBS:
            return WorkflowCommand(_VERBS[name])
        return WorkflowCommand(Verb.OTHER) if name in _OTHER_COMMANDS else WorkflowCommand(Verb.START, name, rest)
    words = prompt.strip(_EDGE_CHARS).lower()
    if words == "/stop":
        return WorkflowCommand(Verb.STOP)
    if words in CONTINUE_PHRASES:
        return WorkflowCommand(Verb.CONTINUE)
    if _BRACKETED_WORKFLOW.search(prompt):  # masking quotes and fences takes milliseconds
        masked = mask_prompt(prompt)
        if bracket := _BRACKETED_WORKFLOW.search(masked.prose):
            goal = (masked.text[: bracket.start()] + masked.text[bracket.end() :]).strip()
            return WorkflowCommand(Verb.START, bracket[1].lower(), goal)
    return WorkflowCommand(Verb.OTHER) if "[" in prompt and _find_bracketed_goal(prompt) else None


def parse_command_at_work(prompt: str) -> WorkflowCommand | None:
    """Return the command in ``prompt``, also one in plain words that stops or pauses what is going on."""
    if command := parse_workflow_command(prompt):
        return command
    stop = find_stop(prompt)
    return WorkflowCommand(Verb(stop)) if stop is not StopKind.NONE else None


def parse_other_command(prompt: str) -> tuple[str, str] | None:
    """Return the name and argument of a command that does not concern the workflow; None for anything else.

    ``[goal: TEXT]`` outside code and quotes is the command ``goal``.
    """
    if slash := _SLASH.match(prompt):
        name = slash[1].lower()
        return (name, slash[2].strip()) if name in _OTHER_COMMANDS else None
    goal = _find_bracketed_goal(prompt)
    return ("goal", goal) if goal else None


def display_command(prompt: str) -> str:
    """Return the name of the command that ``prompt`` is, if it is one that only shows something; empty otherwise."""
    slash = _SLASH.match(prompt)
    name = slash[1].lower() if slash else ""
    return name if name in DISPLAY_COMMANDS else ""


def parse_prompt_as_goal(prompt: str) -> str:
    """Return the goal that a prompt is in itself, or empty.

    Such a prompt begins with ``ultrawork`` or ``ulw``, or says what the agent promises at its end:
    ``fix the lints, then say <promise>DONE</promise>``.
    """
    head = prompt[:_MAX_GOAL_PREFIX_CHARS]
    if prefix := ULTRAWORK.match(head):
        return prompt[prefix.end() :].strip()
    return prompt.strip() if "promise" in prompt.lower() and find_promises(clip_prompt(prompt)) else ""


def _find_bracketed_goal(prompt: str) -> str:
    """Return the text in ``[goal: …]`` outside code and quotes."""
    if not _BRACKETED_GOAL.search(prompt):
        return ""
    masked = mask_prompt(clip_prompt(prompt))
    match = _BRACKETED_GOAL.search(masked.prose)
    return masked.text[match.start(1) : match.end(1)].strip() if match else ""


def resolve_workflow_name(name: str, known: Container[str]) -> str:
    """Return the workflow called ``name``, or empty. ``review`` is short for ``review-only``."""
    return next((full for full in (name, f"{name}-only") if full in known), "")
