"""What a prompt asks of the workflow itself. Law: only what is unmistakable counts; everything else is a prompt.

A command opens the prompt (``/upbeat:standard add retries``, ``$upbeat:standard …`` where the client has no slash
commands of plugins), or names a workflow in brackets (``[workflow:standard]``, ``[goal: …]``) outside code and quotes.
A stop word counts when it is all there is.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from enum import StrEnum

from ..turn.mask import clip, mask


class Verb(StrEnum):
    """What is wanted."""

    START = "start"
    STOP = "stop"
    GO_ON = "go_on"
    OTHER = "other"
    """A command of upbeat that the workflow has nothing to do with."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command; ``workflow`` and ``goal`` as written, for ``START``."""

    verb: Verb
    workflow: str = ""
    goal: str = ""


STOP_WORDS = (
    *("stop", "stop it", "stop now", "stop working", "stop the loop", "stop the workflow", "/stop"),
    *("halt", "cancel", "abort"),
    *("停", "停下", "停下来", "停下來", "停止", "停一下", "暂停", "暫停", "取消", "中止"),
    *("别继续了", "別繼續了", "不要继续", "不要繼續"),
)
GO_ON_WORDS = (
    *("continue", "go on", "carry on", "keep going", "resume", "/continue"),
    *("继续", "繼續", "接着做", "接著做", "继续做", "繼續做"),
)

_SLASH = re.compile(r"\s*[/$](?:upbeat:)(?:source-command-)?([\w-]+)[ \t]*(.*)", re.DOTALL | re.ASCII)
_BRACKET = re.compile(r"\[workflow:\s*([\w-]+)\s*\]", re.IGNORECASE)
_GOAL = re.compile(r"\[goal:([^\[\]]{1,4000})\]", re.IGNORECASE)
_ENDS = " \t\r\n.!?,~。！？，、…～"
_VERBS = {"stop": Verb.STOP, "continue": Verb.GO_ON}
_OTHERS = frozenset({"status", "why", "auto", "plan", "help", "goal", "quiet", "start-work"})


def read(prompt: str) -> Command | None:
    """The command in ``prompt``, if it is one."""
    if slash := _SLASH.match(prompt):
        name, rest = slash[1].lower(), slash[2].strip()
        if name in _VERBS:
            return Command(_VERBS[name])
        return Command(Verb.OTHER) if name in _OTHERS else Command(Verb.START, name, rest)
    words = prompt.strip(_ENDS).lower()
    if words in STOP_WORDS:
        return Command(Verb.STOP)
    if words in GO_ON_WORDS:
        return Command(Verb.GO_ON)
    if not _BRACKET.search(prompt):
        return Command(Verb.OTHER) if _bracketed_goal(prompt) else None  # what quotes and fences are costs milliseconds
    masked = mask(prompt)
    if bracket := _BRACKET.search(masked.prose):
        goal = (masked.text[: bracket.start()] + masked.text[bracket.end() :]).strip()
        return Command(Verb.START, bracket[1].lower(), goal)
    return Command(Verb.OTHER) if _bracketed_goal(prompt) else None


def beside(prompt: str) -> tuple[str, str] | None:
    """The name and the rest of a command that the workflow has nothing to do with; None for everything else.

    ``[goal: TEXT]`` anywhere outside code and quotes is the command ``goal``.
    """
    if slash := _SLASH.match(prompt):
        name = slash[1].lower()
        return (name, slash[2].strip()) if name in _OTHERS else None
    goal = _bracketed_goal(prompt)
    return ("goal", goal) if goal else None


def _bracketed_goal(prompt: str) -> str:
    """The text in ``[goal: …]``, unless it is only shown."""
    if not _GOAL.search(prompt):
        return ""
    masked = mask(clip(prompt))
    found = _GOAL.search(masked.prose)
    return masked.text[found.start(1) : found.end(1)].strip() if found else ""


def resolve(name: str, known: Container[str]) -> str:
    """The workflow that ``name`` means; empty when there is none. ``review`` is short for ``review-only``."""
    return next((full for full in (name, f"{name}-only") if full in known), "")
