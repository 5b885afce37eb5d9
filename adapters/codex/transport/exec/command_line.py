"""The command line of ``codex exec``, in the order that works, and what goes to its standard input.

Invariant: the prompt is never an argument. As one it would end at 131,071 bytes, be read as a subcommand (``resume``)
or as a flag, and be seen by everybody who lists processes.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from upbeat.adapters.codex.transport.base import TurnInput

MAX_PROMPT_CHARS = 1_048_576
"""Characters that Codex takes in one turn."""

EFFORT_SETTING = "model_reasoning_effort"
"""Codex's setting for how hard the model thinks."""

_RESERVED_FLAGS = ("--json", "-C", "--cd", "--last", "--all")
_NOT_FLAGS = ("--", "-", "resume", "review", "fork", "help", "-h", "--help", "-V", "--version")


@dataclass(frozen=True, slots=True)
class CodexCommandLine:
    """How Codex is started. ``program`` is a name or a path; ``folder`` and ``flags`` are as the user gave them."""

    program: str = "codex"
    folder: str = ""
    flags: tuple[str, ...] = ()
    is_outside_git: bool = False

    def turn_arguments(self, thread_id: str, effort: str = "") -> list[str]:
        """The arguments of one turn on ``thread_id``, or on a new thread; ``effort`` holds for it alone.

        ``-C`` and ``-s`` are not understood behind ``resume``, so all flags stand before it. ``--json`` comes last
        of them: it ends the values of a greedy flag such as ``-i``.
        """
        resume = ["resume", thread_id] if thread_id else []
        return [*self._common_arguments(effort), *resume, "-"]

    def fork_arguments(self, thread_id: str) -> list[str]:
        """Return the arguments that copy ``thread_id``; without a prompt no turn runs."""
        return [*self._common_arguments(), "fork", thread_id]

    def _common_arguments(self, effort: str = "") -> list[str]:
        folder = ["-C", f"./{self.folder}" if self.folder.startswith("-") else self.folder] if self.folder else []
        check = ["--skip-git-repo-check"] if self.is_outside_git else []
        effort_option = ["-c", f"{EFFORT_SETTING}={effort}"] if effort else []
        return ["exec", *folder, *self.flags, *effort_option, *check, "--json"]

    def display(self, thread_id: str, effort: str = "") -> str:
        """Return the command line of a turn, quoted for a shell."""
        return shlex.join([self.program, *self.turn_arguments(thread_id, effort)])


def effort_from_flags(flags: Sequence[str]) -> str:
    """Return the effort that ``flags`` set for every turn; empty if none does."""
    found = ""
    for flag in flags:
        before, is_set, value = flag.partition(f"{EFFORT_SETTING}=")
        if is_set and before in ("", "-c", "-c=", "--config="):
            found = value.strip("\"' ")
    return found


def flags_problem(flags: Sequence[str]) -> str:
    """Return why ``flags`` cannot be passed to ``codex exec``; empty if they can."""
    for flag in flags:
        name = flag.partition("=")[0]
        if name in ("-C", "--cd"):
            return f"{name} is set by codex-auto; use --repo DIR"
        if name in _RESERVED_FLAGS:
            return f"{name} is set by codex-auto; omit it"
        if flag in _NOT_FLAGS:
            return f"'{flag}' is not a flag of codex exec; put only flags after --, and the prompt before it"
    if flags and not flags[0].startswith("-"):
        return f"'{flags[0]}' is not a flag; put only flags of codex exec after --, and the prompt before it"
    return ""


def compose_stdin(turn_input: TurnInput) -> str:
    """Join guidance, context and prompt with blank lines; a prompt alone is not changed.

    Codex drops a byte order mark at the start of a prompt, but not after a context, so it is removed here.
    """
    before = [part for part in (turn_input.guidance, turn_input.context) if part]
    return "\n\n".join((*before, turn_input.prompt.removeprefix(chr(0xFEFF)))) if before else turn_input.prompt


def remaining_chars(prompt: str) -> int:
    """Return the characters left for a context next to ``prompt``, without the blank line between them."""
    return MAX_PROMPT_CHARS - len(prompt) - (2 if len(prompt) < MAX_PROMPT_CHARS else 0)
