"""What the calls of Codex's tools do, in words that belong to no client."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...core.contract.event import Act, Call, Change, Task
from ..hook_format import SHELL, optional, structured

_ACTS: Mapping[str, Act] = {
    SHELL: Act.SHELL,
    "spawn_agent": Act.DELEGATE,
    "collaborationspawn_agent": Act.DELEGATE,
    "request_user_input": Act.ASK,
    "web_search": Act.FETCH,
}
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVED = re.compile(r"\*\*\* Move to: (.+)")
MAX_PATCH = 1_000_000
"""Characters of a patch that are read; nothing is said about a longer one."""


def describe(call: Call, cwd: str) -> Call:
    """``call`` with what it does; ``cwd`` is where relative paths begin."""
    if call.tool == "apply_patch":
        return _patch(call, cwd)
    if call.tool == "update_plan":
        return _plan(call)
    return replace(call, act=_ACTS.get(call.tool, Act.OTHER))


def _patch(call: Call, cwd: str) -> Call:
    text = optional(call.input, "command") or optional(call.input, "input")
    files = list(_files(text if len(text) <= MAX_PATCH else ""))
    place = {name: os.path.normpath(os.path.join(cwd, name)) for _kind, name, _lines in files}
    changes = tuple(Change(place[name], _lines_of(lines, "+"), _lines_of(lines, "-")) for _kind, name, lines in files)
    is_new = bool(files) and all(kind == "Add" for kind, _name, _lines in files)
    paths = tuple(dict.fromkeys(place.values()))
    return replace(call, act=Act.WRITE if is_new else Act.EDIT, paths=paths, changes=changes)


def _files(patch: str) -> Iterator[tuple[str, str, list[str]]]:
    """(kind, path, lines) of each file in a patch; the new place of a file that moves is one of its own."""
    current: tuple[str, str, list[str]] | None = None
    for line in patch.split("\n"):
        if found := _FILE.fullmatch(line.rstrip()):
            if current:
                yield current
            current = (found[1], found[2].strip(), [])
        elif current and (moved := _MOVED.fullmatch(line.rstrip())):
            yield ("Update", moved[1].strip(), [])
        elif current:
            current[2].append(line)
    if current:
        yield current


def _lines_of(lines: list[str], sign: str) -> str:
    return "\n".join(line[1:] for line in lines if line.startswith(sign))


def _plan(call: Call) -> Call:
    told = structured(call.input.get("plan"))
    steps: list[Mapping[str, Any]] = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    tasks = tuple(Task(optional(one, "step"), optional(one, "status") == "completed") for one in steps)
    return replace(call, act=Act.PLAN, tasks=tasks, is_whole_list=True)
