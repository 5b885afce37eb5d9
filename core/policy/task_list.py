"""The agent's own todo list, kept in the notes of a policy: a fold over the calls that write it.

Invariant: only completed calls of the main agent count; a subagent has its own list. A task without an id in a list
that is written incrementally is dropped, because nothing could mark it as done. Other notes stay unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from upbeat.core.contract.event import Event, Task, ToolFinished, ToolKind
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.sanitize.text import sanitize_inline

MAX_TASKS = 60
"""Of a longer list only open tasks are kept."""

MAX_TASK_CHARS = 120

_OPEN, _DONE = "task open ", "task done "


@dataclass(frozen=True, slots=True)
class _ListedTask:
    """One task; ``id`` is empty in a list that is always written as a whole."""

    id: str
    text: str
    is_done: bool


def update_task_list(notes: tuple[str, ...], event: Event) -> tuple[str, ...]:
    """Return ``notes`` after ``event``; the same object if the list does not change."""
    if not isinstance(event, ToolFinished) or event.call.kind is not ToolKind.TASK_LIST:
        return notes
    if event.has_failed or event.was_interrupted or event.source.agent_id:
        return notes
    others = tuple(note for note in notes if not note.startswith((_OPEN, _DONE)))
    before = [_parse_note(note) for note in notes if note.startswith((_OPEN, _DONE))]
    written = event.call.tasks[: 4 * MAX_TASKS]
    if event.call.is_full_task_list:
        listed = (_ListedTask("", _shorten(task.text), bool(task.is_done)) for task in written)
        after = [task for task in listed if task.text]
    else:
        after = _merge_tasks(before, written)
    if len(after) > MAX_TASKS:
        after = [task for task in after if not task.is_done][:MAX_TASKS]
    if after == before:
        return notes
    return (*others, *(f"{_DONE if task.is_done else _OPEN}#{task.id} {task.text}" for task in after))


def open_tasks(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the texts of the open tasks in ``notes``, in order."""
    return tuple(_parse_note(note).text for note in notes if note.startswith(_OPEN))


def count_done_tasks(notes: Iterable[str]) -> int:
    """Return the number of completed tasks in ``notes``."""
    return sum(note.startswith(_DONE) for note in notes)


def _merge_tasks(before: Sequence[_ListedTask], tasks: Sequence[Task]) -> list[_ListedTask]:
    """Return the list after tasks with ids were added or changed."""
    known = {task.id: task for task in before if task.id}
    for task in tasks:
        name = "".join(
            char for char in task.id[:40] if char.isalnum() or char in "-_."
        )  # one word: it precedes the text
        text = _shorten(task.text)
        old = known.get(name)
        if not name or (old is None and not text):
            continue
        is_done = task.is_done if task.is_done is not None else bool(old and old.is_done)
        known[name] = _ListedTask(name, text or (old.text if old else ""), is_done)
    return list(known.values()) if known else list(before)


def _shorten(text: str) -> str:
    return sanitize_inline(text, MAX_TASK_CHARS)


def _parse_note(note: str) -> _ListedTask:
    name, _, text = note[len(_OPEN) :].partition(" ")
    return _ListedTask(name.removeprefix("#"), text, note.startswith(_DONE))
