"""Block commands that wait for input at a terminal."""

from __future__ import annotations

from upbeat.core.contract.effect import Deny, RewriteInput
from upbeat.core.contract.event import ToolStarting
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.tty_requirements import PROGRAM_PATTERN, find_tty_requirement
from upbeat.core.shell import parse_commands

ENVIRONMENT = "GIT_EDITOR=: GIT_PAGER=cat PAGER=cat GIT_TERMINAL_PROMPT=0 CI=true DEBIAN_FRONTEND=noninteractive "
"""Prefix for a command that would wait only for an editor."""


def _on_tool_starting(event: ToolStarting, context: PolicyContext) -> PolicyResult:
    line = event.command
    parsed = parse_commands(line)
    need = next(filter(None, map(find_tty_requirement, parsed.items)), None)
    if need is None:
        return NO_RESULT
    name = next((name for name, value in event.call.input.items() if value == line), "")
    is_single = parsed.is_complete and len(parsed.items) == 1 and not parsed.items[0].wrappers
    if need.needs_only_editor and name and is_single and line.lstrip().startswith("git "):
        text = context.text("rewritten", shown=need.command_name, way=f"`{need.workaround}`")
        return PolicyResult(
            (RewriteInput(text, {name: ENVIRONMENT + line.lstrip()}),), f"{need.command_name} opens an editor"
        )
    workaround = f"`{need.workaround}`" if need.needs_only_editor else need.workaround
    way = context.text(f"way_{need.kind.replace(' ', '_')}", way=workaround)
    text = context.text("denied", shown=need.command_name, way=way)
    return PolicyResult((Deny(text),), f"{need.command_name} waits: {need.kind}")


POLICY = Policy(
    name="block-interactive-commands",
    handlers={ToolStarting: Handler(_on_tool_starting, text=PROGRAM_PATTERN)},
    effects=(Deny, RewriteInput),
    rank=30,
)
