"""Deny the shell commands by which a model would leave its workflow, restart it, or report events to it itself.

These commands are the user's. A model may start a workflow if none is open, as ``/upbeat:auto`` asks it to.
"""

from __future__ import annotations

from collections.abc import Sequence

from upbeat.core.contract.effect import Deny
from upbeat.core.contract.event import ToolStarting
from upbeat.core.shell import parse_commands
from upbeat.core.shell.touched_paths import MAX_LINE_CHARS
from upbeat.core.workflow.decision import NO_DECISION, WorkflowDecision, WorkflowInputs, make_explanation
from upbeat.core.workflow.state import SessionState, WorkflowRun

_PROGRAM = "upbeat"


def deny_own_command(event: ToolStarting, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Deny a shell line that controls the workflow of the session."""
    run = state.run
    if run is None or _PROGRAM not in event.command or len(event.command) > MAX_LINE_CHARS:
        return NO_DECISION
    commands = (_subcommand(command.words) for command in parse_commands(event.command).items)
    denied = next((command for command in commands if _is_the_users(command, run)), ())
    if not denied:
        return NO_DECISION
    text = inputs.messages["own_command_denied"].format(command=" ".join((_PROGRAM, *denied)), workflow=run.workflow)
    why = make_explanation("workflow", "deny", "only the user controls the workflow", command=" ".join(denied))
    return WorkflowDecision(effects=(Deny(text),), explanations=(why,))


def _subcommand(words: Sequence[str]) -> tuple[str, ...]:
    """Return the first two words after the program, also of ``python -m upbeat``; empty for another program."""
    if len(words) > 2 and words[0].startswith("python") and "-m" in words[:-1]:
        words = words[words.index("-m") + 1 :]
    return tuple(word for word in words[1:] if not word.startswith("-"))[:2] if words[:1] == (_PROGRAM,) else ()


def _is_the_users(command: tuple[str, ...], run: WorkflowRun) -> bool:
    match command:
        case ("workflow", "continue"):
            return True
        case ("workflow", "start" | "stop" | "resume") | ("hook", *_):
            return run.is_open
        case _:
            return False
