"""The past as Codex keeps it: the rollouts of threads, told as its hooks would have.

Law: a rollout is data. It is read in bounds, line by line, and nothing in it can make this raise; what is not
understood is left out. Each event goes through ``wire.decode``, so that the past is read as the present is.

A call is told by the model's own item and answered by the output that the model got; how it ended stands in an item
of its own between the two. Calls that code of the model makes have only that item.

Source: rollouts of 0.169.0; the ``…_end`` lines are those of versions before.
"""

from __future__ import annotations

import re
import shlex
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.contract.event import Event
from ...core.errors import ClientError
from ...core.rules.history import Ended, Fate, Happened, Past
from ..hook_format import SHELL, mapping, optional, texts
from ..local.lines import Bookmark, new_lines, object_in
from ..local.recordings import MAX_BYTES, Recording, recordings
from ..local.roots import root_around
from . import wire

MAX_PENDING = 500
"""Calls of one rollout that wait for their answer."""
DEPTH = 3
"""Folders below ``sessions``: year, month, day."""

_MARKS = (
    *(b"session_meta", b"turn_context", b"tool_call", b"function_call", b"shell_call"),
    *(b"item_completed", b"_end", b"user_message", b"task_complete"),
)
_SHELLS = frozenset({"exec_command", "shell", "shell_command", "local_shell", "container.exec"})
_NO_CALLS = frozenset({"write_stdin", "exec", "wait"})
"""Tools that go on with a call, or run code whose calls are told one by one."""
_EXIT = re.compile(r"(?:Process exited with code|Exit code:?) (-?\d{1,9})")
_DENIALS = re.compile(
    r"(?:(?:exec command |patch )?rejected by user|approval policy is |This action was rejected|"
    r"Command blocked by |Tool call blocked by |(?:Failed to apply patch|exec).{0,40}rejected by )",
    re.IGNORECASE,
)
_ENDINGS = {"completed": Fate.SUCCEEDED, "failed": Fate.FAILED, "declined": Fate.DENIED}


class CodexHistory:
    """The rollouts in Codex's folder ``home``."""

    def __init__(self, home: Path) -> None:
        self._sessions = str(home / "sessions")

    def recordings(self, since: float) -> list[Recording]:
        """The rollouts that were written to after ``since`` (seconds since the epoch), the latest first."""
        return recordings(self._sessions, DEPTH, _is_rollout, since)

    def read(self, path: str, since: str) -> Iterator[Happened]:
        """What one rollout tells of the time after ``since`` (UTC, ISO 8601), in its order."""
        reading = _Reading(since)
        for line in new_lines(path, Bookmark(), MAX_BYTES):
            if any(mark in line[:4096] for mark in _MARKS):
                yield from reading.told(line)


@dataclass(slots=True)
class _Call:
    """A call as its hook tells it, and how it ended, once that is known."""

    tool: str
    input: Mapping[str, Any]
    fate: Fate | None = None


@dataclass(slots=True)
class _Reading:
    """What has to be known of the lines before."""

    since: str
    session: str = ""
    agent: str = ""
    cwd: str = "/"
    teller: str = ""
    """The kind of line that tells prompts here: some versions have two."""
    pending: OrderedDict[str, _Call] = field(default_factory=OrderedDict)

    def told(self, line: bytes) -> Iterator[Happened]:
        value = object_in(line)
        payload, at = value.get("payload"), optional(value, "timestamp")
        if not isinstance(payload, dict):
            return
        match value.get("type"):
            case "session_meta" if not self.session:
                thread = optional(payload, "id")
                self.session = optional(payload, "session_id") or thread
                self.agent = "" if thread == self.session else thread
                self._moved(payload)
            case "turn_context":
                self._moved(payload)
            case "response_item" if at >= self.since:
                yield from self._item(payload, at)
            case "event_msg" if at >= self.since:
                yield from self._message(payload, at)

    def _moved(self, payload: Mapping[str, Any]) -> None:
        if (cwd := optional(payload, "cwd")).startswith("/"):
            self.cwd = cwd

    def _item(self, payload: Mapping[str, Any], at: str) -> Iterator[Happened]:
        kind, name = optional(payload, "type"), optional(payload, "call_id")
        if kind.endswith("_call_output"):
            yield from self._answered(name, payload.get("output"), at)
        elif name and kind in ("function_call", "custom_tool_call", "local_shell_call"):
            found = _call(payload)
            if found:
                yield from self._began(name, found, at)

    def _message(self, payload: Mapping[str, Any], at: str) -> Iterator[Happened]:
        match payload.get("type"):
            case "item_completed":
                yield from self._completed(mapping(payload.get("item")), at)
            case "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end":
                known = self.pending.get(optional(payload, "call_id"))
                if known:
                    known.fate = _end(payload)
            case "user_message":
                yield from self._prompt("user_message", optional(payload, "message"), at)
            case "task_complete" if not self.agent and (text := optional(payload, "last_agent_message")):
                yield from self._event(at, "Stop", last_assistant_message=text)

    def _completed(self, item: Mapping[str, Any], at: str) -> Iterator[Happened]:
        kind, name = optional(item, "type"), optional(item, "id")
        if kind == "UserMessage":
            yield from self._prompt(kind, texts(item.get("content")), at)
        if kind not in ("CommandExecution", "FileChange", "McpToolCall"):
            return
        fate, output = _end(item), optional(item, "aggregated_output") or optional(item, "stdout")
        if name in self.pending:
            self.pending[name].fate = fate
            return
        found = _call_of_item(item)
        if found and name and name.startswith("exec-"):
            yield from self._began(name, found, at)
            found.fate = fate
            yield from self._answered(name, output, at)

    def _prompt(self, teller: str, text: str, at: str) -> Iterator[Happened]:
        self.teller = self.teller or teller
        if text and not self.agent and teller == self.teller:
            yield from self._event(at, "UserPromptSubmit", prompt=text)

    def _began(self, name: str, call: _Call, at: str) -> Iterator[Happened]:
        self.pending[name] = call
        while len(self.pending) > MAX_PENDING:
            self.pending.popitem(last=False)
        yield from self._event(at, "PreToolUse", tool_use_id=name, tool_name=call.tool, tool_input=call.input)

    def _answered(self, name: str, output: object, at: str) -> Iterator[Happened]:
        call = self.pending.pop(name, None)
        if call is None:
            return
        said = _text(output)
        fate = call.fate or _fate(output, said)
        if fate is not Fate.DENIED:
            fields = {"tool_use_id": name, "tool_name": call.tool, "tool_input": call.input, "tool_response": said}
            yield from self._event(at, "PostToolUse", **fields)
        yield Ended(self.session, name, fate)

    def _event(self, at: str, name: str, **fields: Any) -> Iterator[Past]:
        """The event that a hook with these fields would have told."""
        payload = {"hook_event_name": name, "session_id": self.session, "agent_id": self.agent, "cwd": self.cwd}
        try:
            event: Event = wire.decode({**payload, **fields})
        except ClientError:
            return
        yield Past(event, at, root_around(self.cwd))


def _call(payload: Mapping[str, Any]) -> _Call | None:
    """What a hook is told of the model's call; None for what it is told nothing of."""
    name, space = optional(payload, "name"), optional(payload, "namespace")
    given = mapping(payload.get("arguments"))
    if payload.get("type") == "local_shell_call":
        return _Call(SHELL, {"command": _line(mapping(payload.get("action")).get("command"))})
    if name in _SHELLS:
        return _Call(SHELL, {"command": _line(given.get("cmd") or given.get("command"))})
    if name == "apply_patch":
        return _Call(name, {"command": optional(payload, "input") or optional(given, "input")})
    if not name or name in _NO_CALLS:
        return None
    if name == "spawn_agent" and space == "collaboration":
        name = "collaborationspawn_agent"
    elif space.startswith("mcp__"):
        name = f"{space.removesuffix('__')}__{name}"
    return _Call(name, given)


def _call_of_item(item: Mapping[str, Any]) -> _Call | None:
    """The call that an item without one of the model's tells of."""
    match item.get("type"):
        case "CommandExecution":
            return _Call(SHELL, {"command": _line(item.get("command"))})
        case "FileChange":
            changes = mapping(item.get("changes"))
            parts = [_patch(path, change) for path, change in changes.items() if isinstance(change, dict)]
            return _Call("apply_patch", {"command": "\n".join(["*** Begin Patch", *parts, "*** End Patch"])})
        case _:
            return None


def _patch(path: str, change: Mapping[str, Any]) -> str:
    kind = {"add": "Add", "delete": "Delete"}.get(optional(change, "type"), "Update")
    added = "\n".join(f"+{line}" for line in optional(change, "content").splitlines()) if kind == "Add" else ""
    return f"*** {kind} File: {path}\n{added or optional(change, 'unified_diff')}".rstrip()


def _line(command: object) -> str:
    """A command as a line for the shell: of a list that starts one, what it was started for."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return ""
    is_shell = len(command) == 3 and Path(command[0]).name in ("bash", "sh", "zsh") and command[1] in ("-c", "-lc")
    return str(command[2]) if is_shell else shlex.join(command)


def _end(told: Mapping[str, Any]) -> Fate:
    """How a call ended that an item, or a line of an older version, tells of."""
    if (known := _ENDINGS.get(optional(told, "status"))) is not None:
        return known
    code, success = told.get("exit_code"), told.get("success")
    if isinstance(code, int):
        return Fate.FAILED if code else Fate.SUCCEEDED
    return Fate.UNKNOWN if success is None else Fate.SUCCEEDED if success is True else Fate.FAILED


def _fate(output: object, said: str) -> Fate:
    """What the answer that the model got says of a call, where nothing else does."""
    if _DENIALS.match(said):
        return Fate.DENIED
    if isinstance(output, Mapping) and isinstance(success := output.get("success"), bool):
        return Fate.SUCCEEDED if success else Fate.FAILED
    code = mapping(mapping(output).get("metadata")).get("exit_code")
    found = _EXIT.search(said[:400])
    if isinstance(code, int) or found:
        return Fate.FAILED if (code if isinstance(code, int) else int(found[1] if found else 0)) else Fate.SUCCEEDED
    if said.startswith(("apply_patch verification failed", "unsupported call", "failed to parse")):
        return Fate.FAILED
    return Fate.UNKNOWN


def _text(output: object) -> str:
    """The answer as a hook tells it."""
    if isinstance(output, str):
        inner = mapping(output).get("output")
        return inner if isinstance(inner, str) else output
    if isinstance(output, Mapping):
        return optional(output, "content") or texts(output.get("content"))
    return texts(output)


def _is_rollout(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("rollout-") and name.endswith(".jsonl")
