"""How the todo list is restored after a compaction."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_CODEX, Talk, call, finished, says, silent, todo_list

from upbeat.core.contract.effect import Effect
from upbeat.core.contract.event import Event, SessionStarted, Task, ToolKind
from upbeat.core.policies.restore_todos_after_compaction import MAX_LISTED_TASKS, POLICY

COMPACTED = SessionStarted(HERE, "compact")

LIST = todo_list("write tests", "update docs", done=("add retries",))
CREATED = finished(call("TaskCreate", ToolKind.TASK_LIST, tasks=(Task("write tests", False, "1"),)))

SAYS_NOTHING: dict[str, list[Event]] = {
    "a session without a list": [COMPACTED],
    "a list that is done": [todo_list(done=("add retries",)), COMPACTED],
    "a list that was done since": [LIST, todo_list(done=("add retries", "write tests")), COMPACTED],
    "a list that was emptied": [LIST, todo_list(), COMPACTED],
    "a conversation that was cleared": [LIST, SessionStarted(HERE, "clear"), COMPACTED],
    "a session that begins": [LIST, SessionStarted(HERE, "startup")],
    "a session that goes on": [LIST, SessionStarted(HERE, "resume")],
}

SAYS: dict[str, tuple[list[Event], str]] = {
    "open tasks": ([LIST], "1 done, 2 open:\n- write tests\n- update docs\n"),
    "a task told by itself": ([CREATED], "0 done, 1 open:\n- write tests\n"),
    "a session that went on": ([LIST, SessionStarted(HERE, "resume")], "1 done, 2 open:\n"),
    "a list in Codex": ([replace(LIST, source=IN_CODEX)], "1 done, 2 open:\n"),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda events: Talk(POLICY).say_all(events))


def recalled(events: list[Event], language: str) -> list[Effect]:
    """The effects of two compactions after ``events``, the second without those of the first."""
    talk = Talk(POLICY, language=language)
    talk.say_all(events)
    first, second = talk.say(COMPACTED), talk.say(COMPACTED)
    assert first == second
    return list(first)


test_says = says(SAYS, recalled)


@pytest.mark.parametrize(("count", "more"), [(MAX_LISTED_TASKS, False), (MAX_LISTED_TASKS + 1, True)])
def test_bound(count: int, more: bool) -> None:
    """Tasks beyond the limit are only counted."""
    talk = Talk(POLICY)
    talk.say(todo_list(*(f"task {number}" for number in range(count))))
    [effect] = talk.say(COMPACTED)

    assert (MAX_LISTED_TASKS, more) == (effect.text.count("- task "), "… and 1 more" in effect.text)
