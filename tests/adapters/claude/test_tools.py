"""What the calls of Claude Code's tools do, in words that belong to no client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from upbeat.adapters.claude import wire
from upbeat.core.contract.event import Act, Task, ToolFinished

FROM = {"hook_event_name": "PostToolUse", "cwd": "/repo", "session_id": "s", "tool_use_id": "t"}
CREATED = {"task": {"id": "7", "subject": "Test it"}}

TASKS: dict[str, tuple[str, Mapping[str, Any], object, tuple[Task, ...]]] = {
    "a new task has the number of its answer": (
        "TaskCreate",
        {"subject": "Test it"},
        CREATED,
        (Task("Test it", is_done=False, id="7"),),
    ),
    "so it has when the answer comes as text": (
        "TaskCreate",
        {"subject": "Test it"},
        json.dumps(CREATED),
        (Task("Test it", is_done=False, id="7"),),
    ),
    "a new task whose answer does not tell has none": (
        "TaskCreate",
        {"subject": "Test it"},
        "",
        (Task("Test it", is_done=False),),
    ),
    "a task that is done": (
        "TaskUpdate",
        {"taskId": "7", "status": "completed"},
        {"success": True},
        (Task("", is_done=True, id="7"),),
    ),
    "a task that is deleted is not left to do": (
        "TaskUpdate",
        {"taskId": "7", "status": "deleted"},
        {"success": True},
        (Task("", is_done=True, id="7"),),
    ),
    "a task that is begun": (
        "TaskUpdate",
        {"taskId": "7", "status": "in_progress"},
        {"success": True},
        (Task("", is_done=False, id="7"),),
    ),
    "a change that says nothing of its end": (
        "TaskUpdate",
        {"taskId": "7", "subject": "Test all"},
        {"success": True},
        (Task("Test all", is_done=None, id="7"),),
    ),
    "a change that was not made": ("TaskUpdate", {"taskId": "7", "status": "completed"}, {"success": False}, ()),
}


@pytest.mark.parametrize(("tool", "given", "answer", "tasks"), TASKS.values(), ids=TASKS)
def test_tasks(tool: str, given: Mapping[str, Any], answer: object, tasks: tuple[Task, ...]) -> None:
    """A call that writes the agent's list says which tasks it is about, by either route."""
    event = wire.decode({**FROM, "tool_name": tool, "tool_input": given, "tool_response": answer})

    assert isinstance(event, ToolFinished)
    assert (event.call.act, event.call.tasks, event.call.is_whole_list) == (Act.PLAN, tasks, False)
