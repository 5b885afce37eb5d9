"""The past as Claude Code keeps it: the transcripts of sessions and of their subagents, told as its hooks would have.

Law: a transcript is data. It is read in bounds, line by line, and nothing in it can make this raise; what is not
understood is left out. Each event goes through ``wire.decode``, so that the past is read as the present is.

Source: transcripts of 2.1.197 and 2.1.329. Only the newer one says in a field of its own that a call was denied.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.contract.event import Event
from ...core.errors import ClientError
from ...core.rules.history import Ended, Fate, Happened, Past
from ..hook_format import optional, texts
from ..local.lines import Bookmark, new_lines, object_in
from ..local.recordings import MAX_BYTES, Recording, recordings
from ..local.roots import root_around
from . import wire

MAX_PENDING = 500
"""Calls of one transcript that wait for their result."""
DEPTH = 3
"""Folders below ``projects``: the project, the session, its subagents."""

_MARKS = (b'"tool_use"', b'"tool_result"', b'"user"', b'"end_turn"')
_DENIALS = (
    "The user doesn't want to",
    "Permission to use ",
    "Permission for this ",
    "PreToolUse:",
    "This command requires approval",
    "Claude requested permissions ",
)
"""How a result begins that says that the call was not let through, in versions that have no field for it."""
_NOT_A_PROMPT = ("<command-", "<local-command-", "<bash-", "[Request interrupted", "Caveat: ")
"""How the client's own lines in the place of a prompt begin."""


def project_folder(root: str) -> str:
    """What Claude Code calls its folder for the sessions in ``root``."""
    return re.sub(r"[^A-Za-z0-9]", "-", root)


class ClaudeHistory:
    """The transcripts in Claude Code's folder ``home``."""

    def __init__(self, home: Path) -> None:
        self._projects = str(home / "projects")

    def recordings(self, since: float) -> list[Recording]:
        """The transcripts that were written to after ``since`` (seconds since the epoch), the latest first."""
        return recordings(self._projects, DEPTH, _is_transcript, since)

    def read(self, path: str, since: str) -> Iterator[Happened]:
        """What one transcript tells of the time after ``since`` (UTC, ISO 8601), in its order."""
        reading = _Reading(since)
        for line in new_lines(path, Bookmark(), MAX_BYTES):
            if any(mark in line for mark in _MARKS):
                yield from reading.told(line)


@dataclass(slots=True)
class _Reading:
    """What has to be known of the lines before."""

    since: str
    cwd: str = "/"
    pending: OrderedDict[str, tuple[str, Any]] = field(default_factory=OrderedDict)
    """Call id -> tool and input."""
    ended: str = ""
    """The message that ended the last turn."""

    def told(self, line: bytes) -> Iterator[Happened]:
        value = object_in(line)
        message, at = value.get("message"), optional(value, "timestamp")
        if not isinstance(message, dict) or at < self.since:
            return
        if (cwd := optional(value, "cwd")).startswith("/"):
            self.cwd = cwd
        match value.get("type"):
            case "assistant":
                yield from self._said(value, message, at)
            case "user":
                yield from self._answered(value, message, at)

    def _said(self, value: Mapping[str, Any], message: Mapping[str, Any], at: str) -> Iterator[Happened]:
        for block in _blocks(message.get("content")):
            name, tool = optional(block, "id"), optional(block, "name")
            if block.get("type") != "tool_use" or not (name and tool):
                continue
            self.pending[name] = (tool, block.get("input"))
            while len(self.pending) > MAX_PENDING:
                self.pending.popitem(last=False)
            call = {"tool_use_id": name, "tool_name": tool, "tool_input": block.get("input")}
            yield from self._event(value, at, "PreToolUse", **call)
        text = texts(message.get("content"))
        is_end = optional(message, "stop_reason") == "end_turn" and not _agent(value)
        if is_end and text and optional(message, "id") != self.ended:
            self.ended = optional(message, "id")
            yield from self._event(value, at, "Stop", last_assistant_message=text)

    def _answered(self, value: Mapping[str, Any], message: Mapping[str, Any], at: str) -> Iterator[Happened]:
        content = message.get("content")
        results = [block for block in _blocks(content) if block.get("type") == "tool_result"]
        for block in results:
            yield from self._result(value, block, at, is_alone=len(results) == 1)
        prompt = content if isinstance(content, str) else "" if results else texts(content)
        is_own = any(value.get(name) for name in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"))
        if prompt and not is_own and not _agent(value) and not prompt.startswith(_NOT_A_PROMPT):
            yield from self._event(value, at, "UserPromptSubmit", prompt=prompt)

    def _result(
        self, value: Mapping[str, Any], block: Mapping[str, Any], at: str, *, is_alone: bool
    ) -> Iterator[Happened]:
        name = optional(block, "tool_use_id")
        tool, given = self.pending.pop(name, ("", None))
        if not tool:
            return
        content = block.get("content")
        said = content if isinstance(content, str) else texts(content)
        told = value.get("toolUseResult") if is_alone else None
        fate = _fate(value if is_alone else {}, block, told, said)
        call = {"tool_use_id": name, "tool_name": tool, "tool_input": given}
        if fate is Fate.FAILED:
            yield from self._event(value, at, "PostToolUseFailure", error=said, **call)
        elif fate is not Fate.DENIED:
            response = told if isinstance(told, dict | list) else content
            yield from self._event(value, at, "PostToolUse", tool_response=response, **call)
        yield Ended(optional(value, "sessionId"), name, fate)

    def _event(self, value: Mapping[str, Any], at: str, name: str, **fields: Any) -> Iterator[Past]:
        """The event that a hook with these fields would have told."""
        payload = {
            "hook_event_name": name,
            "session_id": optional(value, "sessionId"),
            "cwd": self.cwd,
            "agent_id": _agent(value),
            **fields,
        }
        try:
            event: Event = wire.decode(payload)
        except ClientError:
            return
        yield Past(event, at, root_around(self.cwd))


def _agent(value: Mapping[str, Any]) -> str:
    """The subagent that a line belongs to; older versions only say that it is one's."""
    return optional(value, "agentId") or ("sidechain" if value.get("isSidechain") is True else "")


def _fate(value: Mapping[str, Any], block: Mapping[str, Any], told: object, said: str) -> Fate:
    """What became of the call that a result answers."""
    if block.get("is_error") is True:
        is_denied = bool(optional(value, "toolDenialKind")) or said.startswith(_DENIALS)
        return Fate.DENIED if is_denied else Fate.FAILED
    if isinstance(told, dict) and (
        told.get("interrupted") is True or told.get("backgroundTaskId") or told.get("status") == "async_launched"
    ):
        return Fate.UNKNOWN
    return Fate.SUCCEEDED


def _is_transcript(path: str) -> bool:
    parts = path.split("/")
    is_agent = len(parts) == DEPTH + 1 and parts[2] == "subagents" and parts[3].startswith("agent-")
    return path.endswith(".jsonl") and (len(parts) == 2 or is_agent)


def _blocks(content: object) -> list[Mapping[str, Any]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
