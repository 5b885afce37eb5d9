"""Translate calls of Codex's tools into client-independent fields."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from upbeat.adapters.hooks.codec import SHELL_TOOL, parse_embedded_json
from upbeat.core.contract.event import Call, FileEdit, Task, ToolKind
from upbeat.core.json_fields import text_of

_KIND_BY_TOOL: Mapping[str, ToolKind] = {
    SHELL_TOOL: ToolKind.SHELL,
    "spawn_agent": ToolKind.DELEGATE,
    "collaborationspawn_agent": ToolKind.DELEGATE,
    "request_user_input": ToolKind.ASK_USER,
    "web_search": ToolKind.FETCH,
}
_SHELLS = ("bash", "sh", "zsh")
_SHELL_FOLDERS = ("", "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin")
"""Where a program with the name of a shell is that shell; elsewhere anybody may have put it."""

_WORD = r"(?:[^\s'\"\\$`|&;<>()*?\[#~!]|'[^']*'|\"(?:[^\"\\$`]|\\[\"\\$`])*\")+"
_PART = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^'\"]+", re.DOTALL)
_QUOTED_LINE = re.compile(f"{_WORD}(?: {_WORD})*")
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = re.compile(r"\*\*\* Move to: (.+)")
MAX_PATCH_CHARS = 1_000_000
"""A longer patch is not parsed."""


def shell_line(command: object) -> str:
    """Return a command as a shell line; of a list that starts a shell, the script that it runs."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return ""
    return command[2] if starts_shell(command) else shlex.join(command)


def starts_shell(words: Sequence[str]) -> bool:
    """Return whether ``words`` start a shell for one script, the third word."""
    if len(words) != 3 or words[1] not in ("-c", "-lc"):
        return False
    folder, name = os.path.split(words[0])
    return name in _SHELLS and folder in _SHELL_FOLDERS


def split_quoted_line(line: str) -> tuple[str, ...]:
    """Return the words that Codex quoted as ``line``; empty if it is not such a line, so that nothing is guessed.

    ``shlex.split`` reads ``"\\$x"`` differently from a shell.
    """
    if not _QUOTED_LINE.fullmatch(line):
        return ()
    return tuple("".join(_unquote(part) for part in _PART.findall(word)) for word in re.findall(_WORD, line))


def _unquote(part: str) -> str:
    if part[0] == '"':
        return re.sub(r"\\(.)", r"\1", part[1:-1], flags=re.DOTALL)
    return part[1:-1] if part[0] == "'" else part


def unwrap_shell_command(line: str) -> str:
    """Return the script that a shell was started for: ``ls`` for ``/bin/bash -lc 'ls'``; other lines unchanged."""
    words = split_quoted_line(line)
    return words[2] if starts_shell(words) else line


def describe_call(call: Call, cwd: str) -> Call:
    """Return ``call`` with its kind, paths, edits and tasks; relative paths start at ``cwd``."""
    if call.tool == "apply_patch":
        return _patch(call, cwd)
    if call.tool == "update_plan":
        return _plan(call)
    return replace(call, kind=_KIND_BY_TOOL.get(call.tool, ToolKind.OTHER))


def _patch(call: Call, cwd: str) -> Call:
    text = text_of(call.input, "command") or text_of(call.input, "input")
    files = list(_files(text if len(text) <= MAX_PATCH_CHARS else ""))
    path_of = {name: os.path.normpath(os.path.join(cwd, name)) for _kind, name, _lines in files}
    changes = tuple(
        FileEdit(path_of[name], _lines_with_sign(lines, "+"), _lines_with_sign(lines, "-"))
        for _kind, name, lines in files
    )
    is_new = bool(files) and all(kind == "Add" for kind, _name, _lines in files)
    paths = tuple(dict.fromkeys(path_of.values()))
    return replace(call, kind=ToolKind.WRITE if is_new else ToolKind.EDIT, paths=paths, edits=changes)


def _files(patch: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (kind, path, lines) of each file in a patch; the target of a move counts as a file of its own."""
    current: tuple[str, str, list[str]] | None = None
    for line in patch.split("\n"):
        if match := _FILE.fullmatch(line.rstrip()):
            if current:
                yield current
            current = (match[1], match[2].strip(), [])
        elif current and (moved := _MOVE.fullmatch(line.rstrip())):
            yield ("Update", moved[1].strip(), [])
        elif current:
            current[2].append(line)
    if current:
        yield current


def _lines_with_sign(lines: list[str], sign: str) -> str:
    return "\n".join(line[1:] for line in lines if line.startswith(sign))


def _plan(call: Call) -> Call:
    plan = parse_embedded_json(call.input.get("plan"))
    steps: list[Mapping[str, Any]] = (
        [step for step in plan if isinstance(step, Mapping)] if isinstance(plan, list) else []
    )
    tasks = tuple(Task(text_of(step, "step"), text_of(step, "status") == "completed") for step in steps)
    return replace(call, kind=ToolKind.TASK_LIST, tasks=tasks, is_full_task_list=True)
