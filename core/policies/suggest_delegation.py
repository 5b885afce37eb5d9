"""Suggest delegation to a main agent that does a workflow's steps itself."""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import FILE_CHANGING_KINDS, SubagentRequested, ToolFinished, ToolKind
from upbeat.core.policy.definition import NO_RESULT, LocalizedText, Policy, PolicyContext, PolicyResult

CALL_THRESHOLD = 3
"""Calls of the main agent without a delegation before the suggestion."""

_WORK_TOOL_KINDS = FILE_CHANGING_KINDS | {ToolKind.SHELL, ToolKind.READ, ToolKind.SEARCH}
_FINISHED = ("done",)
_TEXT = LocalizedText(
    "You made {count} calls of your own while the workflow {workflow} is running. Its steps are for subagents: "
    "delegate the next one, and name the skills it should read.",
    "工作流 {workflow} 进行中，你已亲自操作 {count} 次。各步骤应由子代理完成：请委派下一步，并注明它应阅读的技能。",
)


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    run = context.state.run
    if run is None or not run.is_running or event.source.agent_id:
        return NO_RESULT
    if event.call.kind not in _WORK_TOOL_KINDS or context.notes == _FINISHED or context.state.loop.is_paused:
        return NO_RESULT
    count = len(context.notes) + 1
    if count < CALL_THRESHOLD:
        return PolicyResult(notes=(*context.notes, "call"))
    text = _TEXT.localize(context.language).format(count=count, workflow=run.workflow)
    return PolicyResult((InjectContext(text),), f"{count} calls of the main agent during a workflow", _FINISHED)


def _on_subagent_requested(event: SubagentRequested, context: PolicyContext) -> PolicyResult:
    if event.source.agent_id or context.notes == _FINISHED or context.state.run is None:
        return NO_RESULT
    return PolicyResult(notes=_FINISHED)


POLICY = Policy(
    name="suggest-delegation",
    handlers={ToolFinished: _on_tool_finished, SubagentRequested: _on_subagent_requested},
    effects=(InjectContext,),
    is_enabled_by_default=False,
    rank=80,
)
