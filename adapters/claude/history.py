"""Read past sessions from Claude Code's transcripts as the events that its hooks would have reported.

Invariant: a transcript is data. It is read with limits, line by line, and no content makes this raise; unknown lines
are skipped. Each event goes through the codec, so that past and live events are read alike.

Source: transcripts of 2.1.197 and 2.1.329. Only the newer one says in a field of its own that a call was denied.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.adapters.clients.session_files import MAX_BYTES, Recording, list_recordings, worktree_root
from upbeat.adapters.hooks.codec import join_text_blocks
from upbeat.adapters.system.files.tail import Bookmark, parse_json_object, read_new_lines
from upbeat.core.contract.event import Event
from upbeat.core.errors import ClientError
from upbeat.core.json_fields import mappings_of, text_of
from upbeat.core.rules.backtest import CallStatus, HistoryItem, RecordedCallEnd, RecordedEvent

MAX_PENDING = 500
"""Pending calls of one transcript."""
MAX_DEPTH = 3
"""Folders below ``projects``: the project, the session, its subagents."""

_MARKERS = (b'"tool_use"', b'"tool_result"', b'"user"', b'"end_turn"')
_DENIALS = (
    "The user doesn't want to",
    "Permission to use ",
    "Permission for this ",
    "PreToolUse:",
    "This command requires approval",
    "Claude requested permissions ",
)
"""How the result of a denied call starts, in versions without a field for it."""
_NOT_A_PROMPT = ("<command-", "<local-command-", "<bash-", "[Request interrupted", "Caveat: ")
"""How a line starts that has a prompt's form but is the client's own."""


def project_folder(root: str) -> str:
    """Return the name of Claude Code's folder for the sessions in ``root``."""
    return re.sub(r"[^A-Za-z0-9]", "-", root)


class ClaudeHistory:
    """The transcripts in Claude Code's folder ``home``."""

    def __init__(self, home: Path) -> None:
        self._projects = str(home / "projects")

    def recordings(self, since: float) -> list[Recording]:
        """Return the transcripts changed after ``since`` (seconds since the epoch), most recent first."""
        return list_recordings(self._projects, MAX_DEPTH, _is_transcript, since)

    def read_events(self, path: str, since: str) -> Iterator[HistoryItem]:
        """Yield the items of one transcript after ``since`` (UTC, ISO 8601), in order."""
        parser = _TranscriptParser(since)
        for line in read_new_lines(path, Bookmark(), MAX_BYTES):
            if any(mark in line for mark in _MARKERS):
                yield from parser.parse_line(line)


@dataclass(slots=True)
class _TranscriptParser:
    """The state that earlier lines leave."""

    since: str
    timestamp: str = ""
    """Of the current line."""
    cwd: str = "/"
    pending: OrderedDict[str, tuple[str, Any]] = field(default_factory=OrderedDict)
    """Call id -> tool and input."""
    last_ended_message: str = ""
    """The message that ended the last turn."""

    def parse_line(self, line: bytes) -> Iterator[HistoryItem]:
        value = parse_json_object(line)
        message, self.timestamp = value.get("message"), text_of(value, "timestamp")
        if not isinstance(message, dict) or self.timestamp < self.since:
            return
        if (cwd := text_of(value, "cwd")).startswith("/"):
            self.cwd = cwd
        match value.get("type"):
            case "assistant":
                yield from self._assistant_events(value, message)
            case "user":
                yield from self._user_events(value, message)

    def _assistant_events(self, value: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[HistoryItem]:
        for block in mappings_of(message, "content"):
            name, tool = text_of(block, "id"), text_of(block, "name")
            if block.get("type") != "tool_use" or not (name and tool):
                continue
            self.pending[name] = (tool, block.get("input"))
            while len(self.pending) > MAX_PENDING:
                self.pending.popitem(last=False)
            call = {"tool_use_id": name, "tool_name": tool, "tool_input": block.get("input")}
            yield from self._event(value, "PreToolUse", **call)
        text = join_text_blocks(message.get("content"))
        is_end = text_of(message, "stop_reason") == "end_turn" and not _agent_id(value)
        if is_end and text and text_of(message, "id") != self.last_ended_message:
            self.last_ended_message = text_of(message, "id")
            yield from self._event(value, "Stop", last_assistant_message=text)

    def _user_events(self, value: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[HistoryItem]:
        content = message.get("content")
        results = [block for block in mappings_of(message, "content") if block.get("type") == "tool_result"]
        for block in results:
            yield from self._result_events(value, block, is_alone=len(results) == 1)
        prompt = content if isinstance(content, str) else "" if results else join_text_blocks(content)
        is_own = any(value.get(name) for name in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"))
        if prompt and not is_own and not _agent_id(value) and not prompt.startswith(_NOT_A_PROMPT):
            yield from self._event(value, "UserPromptSubmit", prompt=prompt)

    def _result_events(
        self, value: Mapping[str, Any], block: Mapping[str, Any], *, is_alone: bool
    ) -> Iterator[HistoryItem]:
        name = text_of(block, "tool_use_id")
        tool, arguments = self.pending.pop(name, ("", None))
        if not tool:
            return
        content = block.get("content")
        text = content if isinstance(content, str) else join_text_blocks(content)
        result = value.get("toolUseResult") if is_alone else None
        status = _call_status(value if is_alone else {}, block, result, text)
        call = {"tool_use_id": name, "tool_name": tool, "tool_input": arguments}
        if status is CallStatus.FAILED:
            yield from self._event(value, "PostToolUseFailure", error=text, **call)
        elif status is not CallStatus.DENIED:
            response = result if isinstance(result, dict | list) else content
            yield from self._event(value, "PostToolUse", tool_response=response, **call)
        yield RecordedCallEnd(text_of(value, "sessionId"), name, status)

    def _event(self, value: Mapping[str, Any], name: str, **fields: Any) -> Iterator[RecordedEvent]:
        """Yield the event that a hook with these fields would have reported."""
        payload = {
            "hook_event_name": name,
            "session_id": text_of(value, "sessionId"),
            "cwd": self.cwd,
            "agent_id": _agent_id(value),
            **fields,
        }
        try:
            event: Event = CLAUDE_CODEC.decode(payload)
        except ClientError:
            return
        yield RecordedEvent(event, self.timestamp, worktree_root(self.cwd))


def _agent_id(value: Mapping[str, Any]) -> str:
    """Return the subagent of a line; older versions only mark the line as a subagent's."""
    return text_of(value, "agentId") or ("sidechain" if value.get("isSidechain") is True else "")


def _call_status(value: Mapping[str, Any], block: Mapping[str, Any], result: object, output: str) -> CallStatus:
    """Return how the call ended that a result belongs to."""
    if block.get("is_error") is True:
        is_denied = bool(text_of(value, "toolDenialKind")) or output.startswith(_DENIALS)
        return CallStatus.DENIED if is_denied else CallStatus.FAILED
    if isinstance(result, dict) and (
        result.get("interrupted") is True or result.get("backgroundTaskId") or result.get("status") == "async_launched"
    ):
        return CallStatus.UNKNOWN
    return CallStatus.SUCCEEDED


def _is_transcript(path: str) -> bool:
    parts = path.split("/")
    is_agent = len(parts) == MAX_DEPTH + 1 and parts[2] == "subagents" and parts[3].startswith("agent-")
    return path.endswith(".jsonl") and (len(parts) == 2 or is_agent)
