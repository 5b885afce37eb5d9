"""Restore the open items of the agent's todo list after a compaction."""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import SessionStarted, ToolFinished, ToolKind
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.task_list import count_done_tasks, open_tasks, update_task_list
from upbeat.core.sanitize.frame import SafeText

MAX_LISTED_TASKS = 20


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    notes = update_task_list(context.notes, event)
    return NO_RESULT if notes == context.notes else PolicyResult(notes=notes)


def _on_session_started(event: SessionStarted, context: PolicyContext) -> PolicyResult:
    if event.trigger == "clear":
        return PolicyResult(notes=())
    tasks = open_tasks(context.notes)
    if event.trigger != "compact" or not tasks:
        return NO_RESULT
    lines = [f"- {task}" for task in tasks[:MAX_LISTED_TASKS]]
    if len(tasks) > MAX_LISTED_TASKS:
        lines.append(context.text("more", count=len(tasks) - MAX_LISTED_TASKS))
    text = context.text(
        "text", done=count_done_tasks(context.notes), count=len(tasks), tasks=SafeText("\n".join(lines))
    )
    return PolicyResult((InjectContext(text),), f"{len(tasks)} open items")


POLICY = Policy(
    name="restore-todos-after-compaction",
    handlers={
        ToolFinished: Handler(_on_tool_finished, tools=frozenset({ToolKind.TASK_LIST})),
        SessionStarted: Handler(_on_session_started, needs_notes=True),
    },
    effects=(InjectContext,),
    survives_compaction=True,
    rank=21,
)
