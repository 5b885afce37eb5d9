"""Read past sessions from Codex's rollouts as the events that its hooks would have reported.

Invariant: a rollout is data. It is read with limits, line by line, and no content makes this raise; unknown lines are
skipped. Each event goes through the codec, so that past and live events are read alike.

A call appears as the model's item and as the output that the model got; an item between the two says how it ended.
Calls made by scripts of the model have only that item.

Source: rollouts of 0.169.0; the ``…_end`` lines are from earlier versions.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from upbeat.adapters.clients.session_files import MAX_BYTES, Recording, list_recordings, worktree_root
from upbeat.adapters.codex.codec import CODEX_CODEC
from upbeat.adapters.codex.tools import shell_line
from upbeat.adapters.codex.transcript import is_rollout
from upbeat.adapters.hooks.codec import SHELL_TOOL, as_mapping, join_text_blocks
from upbeat.adapters.system.files.tail import Bookmark, parse_json_object, read_new_lines
from upbeat.core.contract.event import Event
from upbeat.core.errors import ClientError
from upbeat.core.json_fields import text_of
from upbeat.core.rules.backtest import CallStatus, HistoryItem, RecordedCallEnd, RecordedEvent

MAX_PENDING = 500
"""Pending calls of one rollout."""
MAX_DEPTH = 3
"""Folders below ``sessions``: year, month, day."""

_MARKERS = (
    *(b"session_meta", b"turn_context", b"tool_call", b"function_call", b"shell_call"),
    *(b"item_completed", b"_end", b"user_message", b"task_complete"),
)
_SHELLS = frozenset({"exec_command", "shell", "shell_command", "local_shell", "container.exec"})
_IGNORED_TOOLS = frozenset({"write_stdin", "exec", "wait"})
"""Tools that continue a call, or run code whose calls appear one by one."""
_EXIT_CODE = re.compile(r"(?:Process exited with code|Exit code:?) (-?\d{1,9})")
_DENIALS = re.compile(
    r"(?:(?:exec command |patch )?rejected by user|approval policy is |This action was rejected|"
    r"Command blocked by |Tool call blocked by |(?:Failed to apply patch|exec).{0,40}rejected by )",
    re.IGNORECASE,
)
_CALL_STATUSES = {"completed": CallStatus.SUCCEEDED, "failed": CallStatus.FAILED, "declined": CallStatus.DENIED}


class CodexHistory:
    """The rollouts in Codex's folder ``home``."""

    def __init__(self, home: Path) -> None:
        self._sessions = str(home / "sessions")

    def recordings(self, since: float) -> list[Recording]:
        """Return the rollouts changed after ``since`` (seconds since the epoch), most recent first."""
        return list_recordings(self._sessions, MAX_DEPTH, is_rollout, since)

    def read_events(self, path: str, since: str) -> Iterator[HistoryItem]:
        """Yield the items of one rollout after ``since`` (UTC, ISO 8601), in order."""
        parser = _RolloutParser(since)
        for line in read_new_lines(path, Bookmark(), MAX_BYTES):
            if any(mark in line[:4096] for mark in _MARKERS):
                yield from parser.parse_line(line)


@dataclass(slots=True)
class _Call:
    """A call as its hook reports it, and how it ended, once that is known."""

    tool: str
    input: Mapping[str, Any]
    status: CallStatus | None = None


@dataclass(slots=True)
class _RolloutParser:
    """The state that earlier lines leave."""

    since: str
    session: str = ""
    agent: str = ""
    cwd: str = "/"
    prompt_source: str = ""
    """The kind of line that holds the prompts: some versions have two."""
    pending: OrderedDict[str, _Call] = field(default_factory=OrderedDict)

    def parse_line(self, line: bytes) -> Iterator[HistoryItem]:
        value = parse_json_object(line)
        payload, timestamp = value.get("payload"), text_of(value, "timestamp")
        if not isinstance(payload, dict):
            return
        match value.get("type"):
            case "session_meta" if not self.session:
                thread = text_of(payload, "id")
                self.session = text_of(payload, "session_id") or thread
                self.agent = "" if thread == self.session else thread
                self._update_cwd(payload)
            case "turn_context":
                self._update_cwd(payload)
            case "response_item" if timestamp >= self.since:
                yield from self._item_events(payload, timestamp)
            case "event_msg" if timestamp >= self.since:
                yield from self._message_events(payload, timestamp)

    def _update_cwd(self, payload: Mapping[str, Any]) -> None:
        if (cwd := text_of(payload, "cwd")).startswith("/"):
            self.cwd = cwd

    def _item_events(self, payload: Mapping[str, Any], timestamp: str) -> Iterator[HistoryItem]:
        kind, name = text_of(payload, "type"), text_of(payload, "call_id")
        if kind.endswith("_call_output"):
            yield from self._call_finished_events(name, payload.get("output"), timestamp)
        elif (
            kind in ("function_call", "custom_tool_call", "local_shell_call")
            and (call := _parse_call(payload))
            and name
        ):
            yield from self._call_started_events(name, call, timestamp)

    def _message_events(self, payload: Mapping[str, Any], timestamp: str) -> Iterator[HistoryItem]:
        match payload.get("type"):
            case "item_completed":
                yield from self._completed_item_events(as_mapping(payload.get("item")), timestamp)
            case "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end":
                if call := self.pending.get(text_of(payload, "call_id")):
                    call.status = _reported_status(payload)
            case "user_message":
                yield from self._prompt_events("user_message", text_of(payload, "message"), timestamp)
            case "task_complete" if not self.agent and (text := text_of(payload, "last_agent_message")):
                yield from self._event(timestamp, "Stop", last_assistant_message=text)

    def _completed_item_events(self, item: Mapping[str, Any], timestamp: str) -> Iterator[HistoryItem]:
        kind, name = text_of(item, "type"), text_of(item, "id")
        if kind == "UserMessage":
            yield from self._prompt_events(kind, join_text_blocks(item.get("content")), timestamp)
        if kind not in ("CommandExecution", "FileChange", "McpToolCall"):
            return
        status, output = (
            _reported_status(item),
            text_of(item, "aggregated_output") or text_of(item, "stdout"),
        )
        if name in self.pending:
            self.pending[name].status = status
            return
        call = _parse_item_call(item)
        if call and name.startswith("exec-"):
            yield from self._call_started_events(name, call, timestamp)
            call.status = status
            yield from self._call_finished_events(name, output, timestamp)

    def _prompt_events(self, source: str, text: str, timestamp: str) -> Iterator[HistoryItem]:
        self.prompt_source = self.prompt_source or source
        if text and not self.agent and source == self.prompt_source:
            yield from self._event(timestamp, "UserPromptSubmit", prompt=text)

    def _call_started_events(self, name: str, call: _Call, timestamp: str) -> Iterator[HistoryItem]:
        self.pending[name] = call
        while len(self.pending) > MAX_PENDING:
            self.pending.popitem(last=False)
        yield from self._event(timestamp, "PreToolUse", tool_use_id=name, tool_name=call.tool, tool_input=call.input)

    def _call_finished_events(self, name: str, output: object, timestamp: str) -> Iterator[HistoryItem]:
        call = self.pending.pop(name, None)
        if call is None:
            return
        text = _output_text(output)
        status = call.status or _inferred_status(output, text)
        if status is not CallStatus.DENIED:
            fields = {"tool_use_id": name, "tool_name": call.tool, "tool_input": call.input, "tool_response": text}
            yield from self._event(timestamp, "PostToolUse", **fields)
        yield RecordedCallEnd(self.session, name, status)

    def _event(self, timestamp: str, name: str, **fields: Any) -> Iterator[RecordedEvent]:
        """Yield the event that a hook with these fields would have reported."""
        payload = {"hook_event_name": name, "session_id": self.session, "agent_id": self.agent, "cwd": self.cwd}
        try:
            event: Event = CODEX_CODEC.decode({**payload, **fields})
        except ClientError:
            return
        yield RecordedEvent(event, timestamp, worktree_root(self.cwd))


def _parse_call(payload: Mapping[str, Any]) -> _Call | None:
    """Return the model's call as a hook reports it; None if no hook reports it."""
    name, space = text_of(payload, "name"), text_of(payload, "namespace")
    given = as_mapping(payload.get("arguments"))
    if payload.get("type") == "local_shell_call":
        return _Call(SHELL_TOOL, {"command": shell_line(as_mapping(payload.get("action")).get("command"))})
    if name in _SHELLS:
        return _Call(SHELL_TOOL, {"command": shell_line(given.get("cmd") or given.get("command"))})
    if name == "apply_patch":
        return _Call(name, {"command": text_of(payload, "input") or text_of(given, "input")})
    if not name or name in _IGNORED_TOOLS:
        return None
    if name == "spawn_agent" and space == "collaboration":
        name = "collaborationspawn_agent"
    elif space.startswith("mcp__"):
        name = f"{space.removesuffix('__')}__{name}"
    return _Call(name, given)


def _parse_item_call(item: Mapping[str, Any]) -> _Call | None:
    """Return the call of an item for which the model has no item."""
    match item.get("type"):
        case "CommandExecution":
            return _Call(SHELL_TOOL, {"command": shell_line(item.get("command"))})
        case "FileChange":
            changes = as_mapping(item.get("changes"))
            parts = [_patch_text(path, change) for path, change in changes.items() if isinstance(change, dict)]
            return _Call("apply_patch", {"command": "\n".join(["*** Begin Patch", *parts, "*** End Patch"])})
        case _:
            return None


def _patch_text(path: str, change: Mapping[str, Any]) -> str:
    kind = {"add": "Add", "delete": "Delete"}.get(text_of(change, "type"), "Update")
    added = "\n".join(f"+{line}" for line in text_of(change, "content").splitlines()) if kind == "Add" else ""
    return f"*** {kind} File: {path}\n{added or text_of(change, 'unified_diff')}".rstrip()


def _reported_status(item: Mapping[str, Any]) -> CallStatus:
    """Return how a call ended according to its item, or to the line of an older version."""
    if (known := _CALL_STATUSES.get(text_of(item, "status"))) is not None:
        return known
    code, success = item.get("exit_code"), item.get("success")
    if isinstance(code, int):
        return CallStatus.FAILED if code else CallStatus.SUCCEEDED
    return CallStatus.UNKNOWN if success is None else CallStatus.SUCCEEDED if success is True else CallStatus.FAILED


def _inferred_status(output: object, text: str) -> CallStatus:
    """Return how a call ended according to the output that the model got, if nothing else says so."""
    if _DENIALS.match(text):
        return CallStatus.DENIED
    if isinstance(output, Mapping) and isinstance(success := output.get("success"), bool):
        return CallStatus.SUCCEEDED if success else CallStatus.FAILED
    code = as_mapping(as_mapping(output).get("metadata")).get("exit_code")
    match = _EXIT_CODE.search(text[:400])
    if not isinstance(code, int) and match:
        code = int(match[1])
    if isinstance(code, int):
        return CallStatus.FAILED if code else CallStatus.SUCCEEDED
    if text.startswith(("apply_patch verification failed", "unsupported call", "failed to parse")):
        return CallStatus.FAILED
    return CallStatus.UNKNOWN


def _output_text(output: object) -> str:
    """Return the output as a hook reports it."""
    if isinstance(output, str):
        inner = as_mapping(output).get("output")
        return inner if isinstance(inner, str) else output
    if isinstance(output, Mapping):
        return text_of(output, "content") or join_text_blocks(output.get("content"))
    return join_text_blocks(output)
