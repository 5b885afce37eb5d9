"""Suggest subagents for searching."""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import SubagentRequested, ToolFinished, ToolKind
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult

SEARCH_THRESHOLD = 5
"""Searches and fetches of the main agent without a delegation before the suggestion."""

_SEARCH_TOOL_KINDS = frozenset({ToolKind.SEARCH, ToolKind.FETCH})
_FINISHED = ("done",)


def _on_tool_finished(_event: ToolFinished, context: PolicyContext) -> PolicyResult:
    if context.notes == _FINISHED:
        return NO_RESULT
    count = len(context.notes) + 1
    if count < SEARCH_THRESHOLD:
        return PolicyResult(notes=(*context.notes, "search"))
    return PolicyResult(
        (InjectContext(context.text("text", count=count)),),
        f"{count} searches, no delegation",
        _FINISHED,
    )


def _on_subagent_requested(_event: SubagentRequested, context: PolicyContext) -> PolicyResult:
    return NO_RESULT if context.notes == _FINISHED else PolicyResult(notes=_FINISHED)


POLICY = Policy(
    name="suggest-subagents",
    handlers={
        ToolFinished: Handler(_on_tool_finished, tools=_SEARCH_TOOL_KINDS, is_for_main_agent=True),
        SubagentRequested: Handler(_on_subagent_requested, is_for_main_agent=True),
    },
    effects=(InjectContext,),
    is_enabled_by_default=False,
    rank=80,
)
