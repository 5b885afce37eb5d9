"""Suggest delegation to a main agent that does a workflow's steps itself."""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import FILE_CHANGING_KINDS, SubagentRequested, ToolFinished, ToolKind
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult

CALL_THRESHOLD = 3
"""Calls of the main agent without a delegation before the suggestion."""

_WORK_TOOL_KINDS = FILE_CHANGING_KINDS | {ToolKind.SHELL, ToolKind.READ, ToolKind.SEARCH}
_FINISHED = ("done",)


def _on_tool_finished(_event: ToolFinished, context: PolicyContext) -> PolicyResult:
    run = context.state.run
    if run is None or not run.is_running or context.notes == _FINISHED or context.state.loop.is_paused:
        return NO_RESULT
    count = len(context.notes) + 1
    if count < CALL_THRESHOLD:
        return PolicyResult(notes=(*context.notes, "call"))
    text = context.text("text", count=count, workflow=run.workflow)
    return PolicyResult((InjectContext(text),), f"{count} calls of the main agent during a workflow", _FINISHED)


def _on_subagent_requested(_event: SubagentRequested, context: PolicyContext) -> PolicyResult:
    if context.notes == _FINISHED or context.state.run is None:
        return NO_RESULT
    return PolicyResult(notes=_FINISHED)


POLICY = Policy(
    name="suggest-delegation",
    handlers={
        ToolFinished: Handler(_on_tool_finished, tools=_WORK_TOOL_KINDS, is_for_main_agent=True),
        SubagentRequested: Handler(_on_subagent_requested, is_for_main_agent=True),
    },
    effects=(InjectContext,),
    is_enabled_by_default=False,
    rank=80,
)
