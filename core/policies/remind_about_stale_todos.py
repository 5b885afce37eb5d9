"""Remind the agent of a todo list that it has not updated for a while."""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import ToolFinished, ToolKind
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.task_list import open_tasks, update_task_list

CALL_THRESHOLD = 10
"""Calls without an update of the list, while items are open, before a reminder."""

_COUNT_PREFIX = "calls "
_VALID_COUNTS = frozenset(str(count) for count in range(CALL_THRESHOLD))


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    if event.call.kind is ToolKind.TASK_LIST:
        new_notes = _without_count(update_task_list(context.notes, event))
        return PolicyResult(notes=new_notes) if new_notes != context.notes else NO_RESULT
    tasks_left = open_tasks(context.notes)
    if not tasks_left:
        return NO_RESULT
    tasks = _without_count(context.notes)
    noted = next((note.removeprefix(_COUNT_PREFIX) for note in context.notes if note.startswith(_COUNT_PREFIX)), "")
    count = int(noted) + 1 if noted in _VALID_COUNTS else 1
    if count < CALL_THRESHOLD:
        return PolicyResult(notes=(*tasks, f"{_COUNT_PREFIX}{count}"))
    text = context.text("text", count=count, open=len(tasks_left), first=tasks_left[0])
    return PolicyResult((InjectContext(text),), f"{len(tasks_left)} open items, {count} calls without an update", tasks)


def _without_count(notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(note for note in notes if not note.startswith(_COUNT_PREFIX))


POLICY = Policy(
    name="remind-about-stale-todos",
    handlers={ToolFinished: Handler(_on_tool_finished, is_for_main_agent=True)},
    effects=(InjectContext,),
    survives_compaction=True,
    rank=70,
)
