"""What the calls of Claude Code's tools do, in words that belong to no client."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...core.contract.event import Act, Call, Change, Task
from ..hook_format import SHELL, optional, structured

Describer = Callable[[Call, str], Call]

_ALONE: Mapping[str, Act] = {
    SHELL: Act.SHELL,
    "Grep": Act.SEARCH,
    "Glob": Act.SEARCH,
    "WebFetch": Act.FETCH,
    "WebSearch": Act.FETCH,
    "Agent": Act.DELEGATE,
    "Task": Act.DELEGATE,
}
"""Tools of which nothing more has to be known."""


def describe(call: Call, cwd: str) -> Call:
    """``call`` with what it does; ``cwd`` is where relative paths begin."""
    if reader := _READERS.get(call.tool):
        return reader(call, cwd)
    return replace(call, act=_ALONE.get(call.tool, Act.OTHER))


def _path(call: Call, field: str, cwd: str) -> tuple[str, ...]:
    path = optional(call.input, field)
    return (os.path.normpath(os.path.join(cwd, path)),) if path else ()


def _read(call: Call, cwd: str) -> Call:
    return replace(call, act=Act.READ, paths=_path(call, "file_path", cwd))


def _edit(call: Call, cwd: str) -> Call:
    paths = _path(call, "file_path", cwd)
    parts = structured(call.input.get("edits"))
    edits = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else [call.input]
    changes = tuple(
        Change(path, optional(edit, "new_string"), optional(edit, "old_string")) for path in paths for edit in edits
    )
    return replace(call, act=Act.EDIT, paths=paths, changes=changes)


def _write(call: Call, cwd: str) -> Call:
    paths = _path(call, "file_path", cwd)
    changes = tuple(Change(path, optional(call.input, "content")) for path in paths)
    return replace(call, act=Act.WRITE, paths=paths, changes=changes)


def _notebook(call: Call, cwd: str) -> Call:
    paths = _path(call, "notebook_path", cwd)
    changes = tuple(Change(path, optional(call.input, "new_source")) for path in paths)
    return replace(call, act=Act.EDIT, paths=paths, changes=changes)


def _todos(call: Call, _cwd: str) -> Call:
    told = structured(call.input.get("todos"))
    todos = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    tasks = tuple(Task(optional(one, "content"), optional(one, "status") == "completed") for one in todos)
    return replace(call, act=Act.PLAN, tasks=tasks, is_whole_list=True)


def _new_task(call: Call, _cwd: str) -> Call:
    """Its number is in the answer only: ``answered`` adds it."""
    return replace(call, act=Act.PLAN, tasks=(Task(optional(call.input, "subject"), is_done=False),))


def _changed_task(call: Call, _cwd: str) -> Call:
    status = optional(call.input, "status")
    is_done = status in ("completed", "deleted") if status else None
    task = Task(optional(call.input, "subject"), is_done, optional(call.input, "taskId"))
    return replace(call, act=Act.PLAN, tasks=(task,))


def _question(call: Call, _cwd: str) -> Call:
    labels = (
        optional(option, "label") for question in _listed(call.input, "questions") for option in _options(question)
    )
    return replace(call, act=Act.ASK, labels=tuple(dict.fromkeys(filter(None, labels))))


def _options(question: object) -> list[Any]:
    options = _listed(question, "options") if isinstance(question, Mapping) else []
    return [option for option in options if isinstance(option, Mapping)]


def _listed(given: Mapping[str, Any], name: str) -> list[Any]:
    found = structured(given.get(name))
    return found if isinstance(found, list) else []


_READERS: Mapping[str, Describer] = {
    "AskUserQuestion": _question,
    "Read": _read,
    "Edit": _edit,
    "MultiEdit": _edit,
    "Write": _write,
    "NotebookEdit": _notebook,
    "TodoWrite": _todos,
    "TaskCreate": _new_task,
    "TaskUpdate": _changed_task,
}


def answered(call: Call, response: Any) -> Call:
    """``call`` with what only its answer tells: the number of a new task, and that nothing was changed."""
    match call.tool, response:
        case ("TaskCreate", {"task": {"id": str(number)}}):
            return replace(call, tasks=tuple(replace(task, id=number) for task in call.tasks))
        case ("TaskUpdate", {"success": False}):
            return replace(call, tasks=())
    return call


def relabelled(given: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """The questions of AskUserQuestion with other ``labels``; what was cut stands in the description then."""
    questions = []
    for question in _listed(given, "questions"):
        if options := _options(question):
            question = {**question, "options": [_renamed(option, labels) for option in options]}
        questions.append(question)
    return {"questions": questions} if questions else {}


def _renamed(option: Mapping[str, Any], labels: Mapping[str, str]) -> Mapping[str, Any]:
    label, description = optional(option, "label"), optional(option, "description")
    if label not in labels:
        return option
    whole = description if label in description else f"{label}. {description}".rstrip(". ")
    return {**option, "label": labels[label], "description": whole}


def shown_instead(tool: str, response: Any, text: str) -> Any | None:
    """``response`` with ``text`` in the place of what the model reads of it; None where its form is not known.

    Claude Code takes a changed answer only in the form that the tool's own has.
    """
    match tool, response:
        case ("Bash", {"stdout": str(), "stderr": str()}):
            return {**response, "stdout": text, "stderr": ""}
        case ("Read", {"file": {"content": str()} as file}):
            return {**response, "file": {**file, "content": text}}
        case ("Grep", {"content": str()}):
            return {**response, "content": text}
        case ("WebFetch", {"result": str()}):
            return {**response, "result": text}
        case (str(name), list()) if name.startswith("mcp__"):
            others = [block for block in response if not (isinstance(block, Mapping) and block.get("type") == "text")]
            return [{"type": "text", "text": text}, *others]
        case (str(name), str()) if name.startswith("mcp__"):
            return text
    return None
