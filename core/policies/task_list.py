"""The agent's own list of tasks, kept in the notes of a policy: a fold over the calls that write it.

Law: only what a call really did counts, and only the main agent's: another agent has a list of its own. A task that
has no name in a list that is told piece by piece is not kept, because nobody could ever say that it is done. Notes
that are not the list's own are left where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..contract.event import Act, Event, Task, ToolFinished
from ..turn.word import word

MAX_TASKS = 60
"""Tasks that are kept; of more, the open ones first."""

MAX_TEXT = 120
"""Characters of a task's text."""

_OPEN, _DONE = "task open ", "task done "


@dataclass(frozen=True, slots=True)
class _Kept:
    """One task of the list; ``id`` is empty in a list that is told as a whole."""

    id: str
    text: str
    is_done: bool


def folded(notes: tuple[str, ...], event: Event) -> tuple[str, ...]:
    """``notes`` after ``event``: the very same when it does not change the list."""
    if not isinstance(event, ToolFinished) or event.call.act is not Act.PLAN:
        return notes
    if event.failed or event.interrupted or event.source.agent_id:
        return notes
    others = tuple(note for note in notes if not note.startswith((_OPEN, _DONE)))
    before = [_read(note) for note in notes if note.startswith((_OPEN, _DONE))]
    told = event.call.tasks
    after = _bounded(_whole(told) if event.call.is_whole_list else _changed(before, told))
    return notes if after == before else (*others, *(_written(one) for one in after))


def open_tasks(notes: Iterable[str]) -> tuple[str, ...]:
    """The texts of the tasks in ``notes`` that are not done, in their order."""
    return tuple(_read(note).text for note in notes if note.startswith(_OPEN))


def done_tasks(notes: Iterable[str]) -> int:
    """How many of the tasks in ``notes`` are done."""
    return sum(note.startswith(_DONE) for note in notes)


def _whole(tasks: Sequence[Task]) -> list[_Kept]:
    kept = (_Kept("", _short(task.text), bool(task.is_done)) for task in tasks[: 4 * MAX_TASKS])
    return [one for one in kept if one.text]


def _changed(before: Sequence[_Kept], tasks: Sequence[Task]) -> list[_Kept]:
    """The list after tasks that have names: one more each, or another text or state of one that is there."""
    known = {one.id: one for one in before if one.id}
    for task in tasks[: 4 * MAX_TASKS]:
        name, text = _name(task.id), _short(task.text)
        old = known.get(name)
        if not name or (old is None and not text):
            continue
        is_done = task.is_done if task.is_done is not None else bool(old and old.is_done)
        known[name] = _Kept(name, text or (old.text if old else ""), is_done)
    return list(known.values()) if known else list(before)


def _bounded(tasks: list[_Kept]) -> list[_Kept]:
    if len(tasks) <= MAX_TASKS:
        return tasks
    return [one for one in tasks if not one.is_done][:MAX_TASKS]


def _short(text: str) -> str:
    return word(text, MAX_TEXT)


def _name(given: str) -> str:
    """What a task is called, in one word: it stands before the text in a note."""
    return "".join(char for char in given[:40] if char.isalnum() or char in "-_.")


def _read(note: str) -> _Kept:
    name, _, text = note[len(_OPEN) :].partition(" ")
    return _Kept(name.removeprefix("#"), text, note.startswith(_DONE))


def _written(task: _Kept) -> str:
    return f"{_DONE if task.is_done else _OPEN}#{task.id} {task.text}"
