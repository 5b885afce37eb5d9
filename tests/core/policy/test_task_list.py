"""The agent's own todo list, as a fold over the calls that write it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_play import IN_AGENT, call, finished, shell, starting

from upbeat.core.contract.event import Event, Task, ToolFinished, ToolKind
from upbeat.core.policy.task_list import MAX_TASK_CHARS, MAX_TASKS, count_done_tasks, open_tasks, update_task_list


def whole(*tasks: Task) -> ToolFinished:
    """A call that writes the whole list."""
    return finished(call("TodoWrite", ToolKind.TASK_LIST, tasks=tasks, is_whole_list=True))


def piece(text: str, name: str, *, is_done: bool | None = False) -> ToolFinished:
    """A call that adds or changes one task."""
    return finished(call("TaskUpdate", ToolKind.TASK_LIST, tasks=(Task(text, is_done, name),)))


def after(*events: Event) -> tuple[str, ...]:
    """The notes after ``events``."""
    notes: tuple[str, ...] = ()
    for event in events:
        notes = update_task_list(notes, event)
    return notes


LIST = whole(Task("write it", is_done=True), Task("test it", is_done=False), Task("ship it", is_done=False))

CHANGES_NOTHING: dict[str, Event] = {
    "a call that is about to happen": starting(LIST.call),
    "a call that failed": replace(LIST, has_failed=True),
    "a call that its user broke off": replace(LIST, was_interrupted=True),
    "another agent's list": replace(LIST, source=IN_AGENT),
    "another tool": finished(shell("echo '- [ ] task'")),
    "a new task without its number": piece("later", ""),
    "a change of a task that nobody has seen": piece("", "9", is_done=True),
}

LISTS: dict[str, tuple[tuple[Event, ...], tuple[str, ...], int]] = {
    "a whole list": ((LIST,), ("test it", "ship it"), 1),
    "a whole list in the place of another": ((LIST, whole(Task("rest", is_done=False))), ("rest",), 0),
    "a list that is emptied": ((LIST, whole()), (), 0),
    "tasks one by one": ((piece("a", "1"), piece("b", "2")), ("a", "b"), 0),
    "a task that is done": ((piece("a", "1"), piece("b", "2"), piece("", "1", is_done=True)), ("b",), 1),
    "a task that is opened again": ((piece("a", "1"), piece("", "1", is_done=True), piece("", "1")), ("a",), 0),
    "a change that does not speak of its end": (
        (piece("a", "1"), piece("", "1", is_done=True), piece("A", "1", is_done=None)),
        (),
        1,
    ),
    "a task with another text": ((piece("a", "1"), piece("c", "1", is_done=None)), ("c",), 0),
}


@pytest.mark.parametrize("event", CHANGES_NOTHING.values(), ids=CHANGES_NOTHING)
def test_changes_nothing_for(event: Event) -> None:
    """An event that does not change the list returns the same notes."""
    notes = ("something else", *after(LIST))

    assert update_task_list(notes, event) is notes


@pytest.mark.parametrize(("events", "texts", "done"), LISTS.values(), ids=LISTS)
def test_follows(events: tuple[Event, ...], texts: tuple[str, ...], done: int) -> None:
    """The list is followed whether it is written as a whole or task by task."""
    notes = after(*events)

    assert open_tasks(notes) == texts
    assert count_done_tasks(notes) == done


def test_other_notes_stay() -> None:
    """Other notes stay, before the list."""
    assert update_task_list(("asked 3", "x"), LIST)[:2] == ("asked 3", "x")
    assert open_tasks(("asked 3", "x")) == ()


def test_texts_are_one_short_line_without_secrets() -> None:
    """The text of a task is one short line without secrets."""
    key = "ghp_" + "a1B2" * 9
    [short] = open_tasks(after(whole(Task(f"use {key}\nthen \x1b[31mgo", is_done=False))))
    [cut] = open_tasks(after(whole(Task("x" * 5000, is_done=False))))

    assert (key in short, "\n" in short, "\x1b" in short) == (False, False, False)
    assert len(cut) == MAX_TASK_CHARS


def test_a_long_list_keeps_what_is_open() -> None:
    """Of a longer list only open tasks are kept."""
    tasks = [Task(f"task {number}", is_done=number % 2 == 0) for number in range(3 * MAX_TASKS)]

    assert open_tasks(after(whole(*tasks))) == tuple(f"task {2 * number + 1}" for number in range(MAX_TASKS))


@given(
    st.lists(st.builds(Task, st.text(max_size=30), st.sampled_from([True, False, None]), st.text(max_size=5))),
    st.booleans(),
)
def test_folding_is_idempotent(tasks: list[Task], is_whole: bool) -> None:
    """Folding the same call twice changes nothing more."""
    event = finished(call("T", ToolKind.TASK_LIST, tasks=tuple(tasks), is_whole_list=is_whole))
    once = after(event)

    assert update_task_list(once, event) == once
    assert len(once) <= MAX_TASKS
