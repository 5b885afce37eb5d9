"""Let every turn end until the user's next ordinary prompt, whatever would continue it."""

from __future__ import annotations

from upbeat.core.contract.effect import EndTurn
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted, TurnEnding
from upbeat.core.policy.continuation import SUSPENDING_POLICY
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.workflow.decide.command import (
    Verb,
    parse_command_at_work,
    parse_other_command,
)
from upbeat.core.workflow.state import PAUSED, RunStatus

_SUSPENDED = ("quiet",)
_READ_ONLY_COMMANDS = ("status", "why", "help")
"""Read-only commands: they do not resume continuation."""


def _on_prompt_submitted(event: PromptSubmitted, context: PolicyContext) -> PolicyResult:
    command = parse_command_at_work(event.prompt)
    if command is None:
        return PolicyResult(notes=()) if context.notes else NO_RESULT
    name, _rest = parse_other_command(event.prompt) or ("", "")
    if name in _READ_ONLY_COMMANDS:
        return NO_RESULT
    is_suspended = command.verb in (Verb.STOP, Verb.PAUSE) or name == "quiet"
    if is_suspended == bool(context.notes):
        return NO_RESULT
    if not is_suspended:
        return PolicyResult(notes=())
    return PolicyResult(reason="the user suspended continuation", notes=_SUSPENDED)


def _on_turn_ending(_event: TurnEnding, context: PolicyContext) -> PolicyResult:
    run = context.state.run
    if run and (
        run.status is RunStatus.STOPPED or context.state.loop.end_reason == PAUSED
    ):  # unlike the rest, it does not resume with any prompt
        text = context.text("text_stopped", workflow=run.workflow)
    else:
        text = context.text("text")
    return PolicyResult((EndTurn(text),), "the user suspended continuation")


POLICY = Policy(
    name=SUSPENDING_POLICY,
    handlers={
        PromptSubmitted: Handler(_on_prompt_submitted, origins=(PromptOrigin.USER,)),
        TurnEnding: Handler(_on_turn_ending, needs_notes=True),
    },
    effects=(EndTurn,),
    survives_compaction=True,
    rank=1,
)
