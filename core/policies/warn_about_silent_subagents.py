"""Remind the main agent of a subagent that started and has not ended since."""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import (
    PromptOrigin,
    PromptSubmitted,
    SessionStarted,
    SubagentEnding,
    SubagentReturned,
    SubagentStarted,
    ToolFinished,
)
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.running_agents import parse_number, running_agents, update_running_agents

SILENT_SECONDS = 120.0
COOLDOWN_SECONDS = 300.0

_REMINDED_PREFIX = "reminded "


def _track_agents(
    event: SubagentStarted | SubagentEnding | SubagentReturned | SessionStarted, context: PolicyContext
) -> PolicyResult:
    """Track subagents; a new process forgets those of the earlier one, and the last reminder."""
    is_new = isinstance(event, SessionStarted) and event.trigger != "compact"
    notes = () if is_new else update_running_agents(context.notes, event, context.now)
    return PolicyResult(notes=notes) if notes != context.notes else NO_RESULT


def _on_main_agent_activity(_event: ToolFinished | PromptSubmitted, context: PolicyContext) -> PolicyResult:
    reminded_at = max(
        (parse_number(note[len(_REMINDED_PREFIX) :]) for note in context.notes if note.startswith(_REMINDED_PREFIX)),
        default=0.0,
    )
    silent = [agent for agent in running_agents(context.notes) if context.now - agent.since >= SILENT_SECONDS]
    if not silent or context.now - reminded_at < COOLDOWN_SECONDS:
        return NO_RESULT
    minutes = int((context.now - min(agent.since for agent in silent)) // 60)
    names = ", ".join(agent.name for agent in silent[:5])
    text = context.text("text", agents=names, minutes=minutes)
    kept = tuple(note for note in context.notes if not note.startswith(_REMINDED_PREFIX))
    return PolicyResult(
        (InjectContext(text),), f"{len(silent)} silent subagents", (f"{_REMINDED_PREFIX}{context.now:.0f}", *kept)
    )


POLICY = Policy(
    name="warn-about-silent-subagents",
    handlers={
        **dict.fromkeys((SubagentStarted, SubagentEnding, SubagentReturned, SessionStarted), Handler(_track_agents)),
        ToolFinished: Handler(_on_main_agent_activity, is_for_main_agent=True, needs_notes=True),
        PromptSubmitted: Handler(
            _on_main_agent_activity, origins=(PromptOrigin.USER,), is_for_main_agent=True, needs_notes=True
        ),
    },
    effects=(InjectContext,),
    is_enabled_by_default=False,
    survives_compaction=True,
    rank=80,
)
