"""Translate calls of Claude Code's tools into client-independent fields."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from upbeat.adapters.hooks.codec import SHELL_TOOL, parse_embedded_json
from upbeat.core.contract.event import Call, FileEdit, Task, ToolKind
from upbeat.core.json_fields import text_of
from upbeat.core.lazy_dataclass import replace

ToolReader = Callable[[Call, str], Call]

_KIND_BY_TOOL: Mapping[str, ToolKind] = {
    SHELL_TOOL: ToolKind.SHELL,
    "Grep": ToolKind.SEARCH,
    "Glob": ToolKind.SEARCH,
    "WebFetch": ToolKind.FETCH,
    "WebSearch": ToolKind.FETCH,
    "Agent": ToolKind.DELEGATE,
    "Task": ToolKind.DELEGATE,
}
"""Tools whose kind is all that is needed."""


def describe_call(call: Call, cwd: str) -> Call:
    """Return ``call`` with its kind, paths, edits and tasks; relative paths start at ``cwd``."""
    if reader := _READER_BY_TOOL.get(call.tool):
        return reader(call, cwd)
    return replace(call, kind=_KIND_BY_TOOL.get(call.tool, ToolKind.OTHER))


_FILE_TOOLS: Mapping[str, tuple[ToolKind, str, str, str]] = {
    "Read": (ToolKind.READ, "file_path", "", ""),
    "Write": (ToolKind.WRITE, "file_path", "content", ""),
    "Edit": (ToolKind.EDIT, "file_path", "new_string", "old_string"),
    "MultiEdit": (ToolKind.EDIT, "file_path", "new_string", "old_string"),
    "NotebookEdit": (ToolKind.EDIT, "notebook_path", "new_source", ""),
}
"""Tool -> kind, and the fields of its input for the path, the new and the old text; empty for none."""


def _file_call(call: Call, cwd: str) -> Call:
    kind, path_field, new_field, old_field = _FILE_TOOLS[call.tool]
    path = text_of(call.input, path_field)
    paths = (os.path.normpath(os.path.join(cwd, path)),) if path else ()
    if not new_field:
        return replace(call, kind=kind, paths=paths)
    parts = parse_embedded_json(call.input.get("edits"))
    changes = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else [call.input]
    edits = tuple(
        FileEdit(path, text_of(change, new_field), text_of(change, old_field)) for path in paths for change in changes
    )
    return replace(call, kind=kind, paths=paths, edits=edits)


def _todos(call: Call, _cwd: str) -> Call:
    todos = [todo for todo in _list_field(call.input, "todos") if isinstance(todo, Mapping)]
    tasks = tuple(Task(text_of(todo, "content"), text_of(todo, "status") == "completed") for todo in todos)
    return replace(call, kind=ToolKind.TASK_LIST, tasks=tasks, is_full_task_list=True)


def _task_create(call: Call, _cwd: str) -> Call:
    """The number is only in the response: ``with_response`` adds it."""
    return replace(call, kind=ToolKind.TASK_LIST, tasks=(Task(text_of(call.input, "subject"), is_done=False),))


def _task_update(call: Call, _cwd: str) -> Call:
    status = text_of(call.input, "status")
    is_done = status in ("completed", "deleted") if status else None
    task = Task(text_of(call.input, "subject"), is_done, text_of(call.input, "taskId"))
    return replace(call, kind=ToolKind.TASK_LIST, tasks=(task,))


def _question(call: Call, _cwd: str) -> Call:
    labels = (
        text_of(option, "label") for question in _list_field(call.input, "questions") for option in _options(question)
    )
    return replace(call, kind=ToolKind.ASK_USER, option_labels=tuple(dict.fromkeys(filter(None, labels))))


def _options(question: object) -> list[Any]:
    options = _list_field(question, "options") if isinstance(question, Mapping) else []
    return [option for option in options if isinstance(option, Mapping)]


def _list_field(given: Mapping[str, Any], name: str) -> list[Any]:
    value = parse_embedded_json(given.get(name))
    return value if isinstance(value, list) else []


_READER_BY_TOOL: Mapping[str, ToolReader] = {
    **dict.fromkeys(_FILE_TOOLS, _file_call),
    "AskUserQuestion": _question,
    "TodoWrite": _todos,
    "TaskCreate": _task_create,
    "TaskUpdate": _task_update,
}


READ_FIELDS = ("tool_response.file.startLine", "tool_response.file.totalLines")
"""The fields of a Read that a hook over MCP gets in place of the whole response, as text."""


def with_response(call: Call, response: Any) -> Call:
    """Return ``call`` with what only its response has: a new task's number, or that nothing was changed or read."""
    match call.tool, response:
        case ("TaskCreate", {"task": {"id": str(number)}}):
            return replace(call, tasks=tuple(replace(task, id=number) for task in call.tasks))
        case ("TaskUpdate", {"success": False}):
            return replace(call, tasks=())
        case "Read", {"file": {"startLine": int(start), "totalLines": int(total)} as file}:
            shows_nothing = file.get("numLines", total) < total and not str(file.get("content", "?")).strip()
            return replace(call, paths=()) if total and (start > total or shows_nothing) else call
    return call


def relabel_questions(given: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the questions of AskUserQuestion with new ``labels``; a cut label moves to the description."""
    questions = []
    for question in _list_field(given, "questions"):
        if options := _options(question):
            question = {**question, "options": [_relabel_option(option, labels) for option in options]}
        questions.append(question)
    return {"questions": questions} if questions else {}


def _relabel_option(option: Mapping[str, Any], labels: Mapping[str, str]) -> Mapping[str, Any]:
    label, description = text_of(option, "label"), text_of(option, "description")
    if label not in labels:
        return option
    whole = description if label in description else f"{label}. {description}".rstrip(". ")
    return {**option, "label": labels[label], "description": whole}


def replace_response_text(tool: str, response: Any, text: str) -> Any | None:
    """Return ``response`` with its text replaced by ``text``; None if its form is unknown.

    Claude Code accepts a changed response only in the form of the tool's own.
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
