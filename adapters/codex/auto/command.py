"""The command line of ``codex exec``, in the order that works, and what goes to its standard input.

Law: the prompt is never an argument. As one it would end at 131,071 bytes, be read as a subcommand (``resume``) or
as a flag, and be seen by everybody who lists processes.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from .transport import Ask

MAX_PROMPT = 1_048_576
"""Characters that Codex takes in one turn."""

EFFORT = "model_reasoning_effort"
"""Codex's setting for how hard the model thinks."""

_OURS = ("--json", "-C", "--cd", "--last", "--all")
_NOT_FLAGS = ("--", "-", "resume", "review", "fork", "help", "-h", "--help", "-V", "--version")


@dataclass(frozen=True, slots=True)
class Command:
    """How Codex is started. ``program`` is a name or a path; ``folder`` and ``flags`` are as the person gave them."""

    program: str = "codex"
    folder: str = ""
    flags: tuple[str, ...] = ()
    outside_git: bool = False

    def arguments(self, thread_id: str, effort: str = "") -> list[str]:
        """The arguments of one turn on ``thread_id``, or on a new thread; ``effort`` holds for it alone.

        ``-C`` and ``-s`` are not understood behind ``resume``, so all flags stand before it. ``--json`` comes last
        of them: it ends the values of a greedy flag such as ``-i``.
        """
        resume = ["resume", thread_id] if thread_id else []
        return [*self._opening(effort), *resume, "-"]

    def fork_arguments(self, thread_id: str) -> list[str]:
        """The arguments that copy ``thread_id``; without a prompt no turn is run."""
        return [*self._opening(), "fork", thread_id]

    def _opening(self, effort: str = "") -> list[str]:
        folder = ["-C", f"./{self.folder}" if self.folder.startswith("-") else self.folder] if self.folder else []
        check = ["--skip-git-repo-check"] if self.outside_git else []
        thinks = ["-c", f"{EFFORT}={effort}"] if effort else []
        return ["exec", *folder, *self.flags, *thinks, *check, "--json"]

    def shown(self, thread_id: str, effort: str = "") -> str:
        """The same as one line for a shell, for people and for the plan."""
        return shlex.join([self.program, *self.arguments(thread_id, effort)])


def effort_in(flags: Sequence[str]) -> str:
    """The effort that ``flags`` set for every turn, the last one that counts; empty when none does."""
    found = ""
    for flag in flags:
        before, is_set, value = flag.partition(f"{EFFORT}=")
        if is_set and before in ("", "-c", "-c=", "--config="):
            found = value.strip("\"' ")
    return found


def problem_with(flags: Sequence[str]) -> str:
    """Why ``flags`` cannot be handed on to ``codex exec``; empty when they can."""
    for flag in flags:
        name = flag.partition("=")[0]
        if name in ("-C", "--cd"):
            return f"{name} is set by codex-auto; use --repo DIR"
        if name in _OURS:
            return f"{name} is set by codex-auto; leave it out"
        if flag in _NOT_FLAGS:
            return f"'{flag}' is no flag of codex exec; behind -- stand flags only, and the prompt before it"
    if flags and not flags[0].startswith("-"):
        return f"'{flags[0]}' is no flag; behind -- stand flags of codex exec only, and the prompt before it"
    return ""


def compose(ask: Ask) -> str:
    """What Codex gets to read: guidance, context and prompt with blank lines between; or the prompt exactly as it is.

    A byte order mark at the start of a prompt would be dropped by Codex; behind a context it would not, so it goes.
    """
    before = [part for part in (ask.guidance, ask.context) if part]
    return "\n\n".join((*before, ask.prompt.removeprefix(chr(0xFEFF)))) if before else ask.prompt


def room(prompt: str) -> int:
    """Characters left for a context beside ``prompt``, the blank line taken off."""
    return MAX_PROMPT - len(prompt) - (2 if len(prompt) < MAX_PROMPT else 0)
