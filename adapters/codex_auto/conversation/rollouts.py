"""Read what a thread and its subagents do from Codex's own records of threads ("rollouts").

``codex exec`` reports only that a subagent was started, and its item ids repeat in every turn. So commands and answers
are read here, for both transports, with the call ids that hooks get too.

Invariant: only what was written after the thread was opened counts, and what a subagent's file copied from its parent
does not. Unknown lines are skipped, and a missing file is not an error.

Source: recordings of 0.169.0, with both of its kinds of subagents.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from upbeat.adapters.codex.tools import shell_line
from upbeat.adapters.codex.transcript import started_threads
from upbeat.adapters.codex.transport.json_lines import MAX_LINE_BYTES, JsonObject, exit_code_field
from upbeat.adapters.system.files.tail import Bookmark, parse_json_object, read_new_lines, stat_regular_file
from upbeat.core.json_fields import mapping_of, text_of

MAX_BYTES = 1 << 28
"""Bytes of one file that are read at a time."""

_RELEVANT_MARKERS = (b'"item_completed"', b'"function_call"', b'"task_complete"', b'"turn_aborted"')
"""Every relevant line contains one of these."""
_SEALED_NAMESPACE = "collaboration"
"""The namespace of subagents whose task only the provider can read."""


@dataclass(frozen=True, slots=True)
class AgentSpawned:
    """The call ``call_id`` started the subagent ``agent_id``. ``agent_type`` is what the model wrote."""

    call_id: str
    agent_id: str
    agent_type: str = ""
    prompt: str = ""
    title: str = ""
    is_sealed: bool = False


@dataclass(frozen=True, slots=True)
class RecordedCommand:
    """A command ended, at ``ended_at`` seconds since 1970.

    ``agent_id`` is empty, here and below, for the thread itself.
    """

    agent_id: str
    call_id: str
    command: str
    output: str
    exit_code: int | None
    ended_at: float


@dataclass(frozen=True, slots=True)
class RecordedFileChange:
    """Files were changed."""

    agent_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class AgentFinished:
    """The subagent that ``call_id`` started ended; ``message`` is its last one, None if it was aborted."""

    agent_id: str
    call_id: str
    message: str | None


RolloutEvent = AgentSpawned | RecordedCommand | RecordedFileChange | AgentFinished


@dataclass(slots=True)
class _RolloutFile:
    """One rollout, which is read as it grows."""

    thread_id: str
    call_id: str = ""
    """The call that started the subagent; empty for the thread itself."""
    path: Path | None = None
    bookmark: Bookmark = field(default_factory=Bookmark)
    own_turns: set[str] = field(default_factory=set)
    """Its own turns; all others were copied."""


class RolloutReader:
    """Reads the rollouts of one thread and its subagents. ``home`` is the folder of Codex."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._files: dict[str, _RolloutFile] = {}
        """By thread id, the thread itself first."""
        self._calls: dict[str, JsonObject] = {}
        """The arguments of calls that start subagents, by call id."""

    def follow(self, thread_id: str, *, is_new: bool) -> None:
        """Follow ``thread_id`` from now on; skip what is already recorded unless it is new."""
        if thread_id in list(self._files)[:1]:
            return
        file = _RolloutFile(thread_id)
        self._files, self._calls = {thread_id: file}, {}
        if not is_new and (path := self._locate_file(file)) and (status := stat_regular_file(str(path))):
            size, file_id = status
            file.bookmark = Bookmark(file_id, size)

    def rollout_path(self, thread_id: str) -> str:
        """Return the file of ``thread_id`` if it is followed and exists; otherwise an empty string."""
        file = self._files.get(thread_id)
        return str(self._locate_file(file) or "") if file else ""

    def poll(self) -> Iterator[RolloutEvent]:
        """Yield what happened since the last call."""
        for file in list(self._files.values()):
            yield from self._read_file(file)
        for file in list(self._files.values())[1:]:  # including those that were just found
            yield from self._read_file(file)

    def _read_file(self, file: _RolloutFile) -> Iterator[RolloutEvent]:
        path = self._locate_file(file)
        if path is None:
            return
        for line in read_new_lines(str(path), file.bookmark, MAX_BYTES, MAX_LINE_BYTES):
            if any(mark in line for mark in _RELEVANT_MARKERS):
                payload = mapping_of(parse_json_object(line), "payload")
                yield from self._agent_events(file, payload) if file.call_id else self._root_events(payload)

    def _root_events(self, payload: JsonObject) -> Iterator[RolloutEvent]:
        if payload.get("type") == "function_call":
            if payload.get("name") == "spawn_agent":
                arguments = parse_json_object(text_of(payload, "arguments").encode("utf-8", "replace"))
                self._calls[text_of(payload, "call_id")] = {**arguments, "namespace": payload.get("namespace")}
            return
        item = mapping_of(payload, "item")
        yield from _item_events("", payload)
        agent_id = next(iter(started_threads(item)), "")
        if agent_id and agent_id not in self._files:
            call_id = text_of(item, "id")
            self._files[agent_id] = _RolloutFile(agent_id, call_id)
            yield self._agent_spawned(call_id, agent_id)

    def _agent_spawned(self, call_id: str, agent_id: str) -> AgentSpawned:
        call = self._calls.get(call_id, {})
        is_sealed = call.get("namespace") == _SEALED_NAMESPACE
        prompt = "" if is_sealed else text_of(call, "message")
        return AgentSpawned(
            call_id, agent_id, text_of(call, "agent_type"), prompt, text_of(call, "task_name"), is_sealed
        )

    def _agent_events(self, file: _RolloutFile, payload: JsonObject) -> Iterator[RolloutEvent]:
        turn = text_of(payload, "turn_id")
        match payload.get("type"):
            case "item_completed" if payload.get("thread_id") == file.thread_id:
                file.own_turns.add(turn)
                yield from _item_events(file.thread_id, payload)
            case "task_complete" if turn in file.own_turns:
                yield AgentFinished(file.thread_id, file.call_id, text_of(payload, "last_agent_message"))
            case "turn_aborted" if turn in file.own_turns:
                yield AgentFinished(file.thread_id, file.call_id, None)
            case _:
                return

    def _locate_file(self, file: _RolloutFile) -> Path | None:
        if file.path is None:
            file.path = find_rollout(self._home, file.thread_id)
        return file.path


def codex_home(variables: Mapping[str, str]) -> Path:
    """Return the folder of a Codex that is started with ``variables``."""
    return Path(variables.get("CODEX_HOME") or Path(variables.get("HOME") or "/") / ".codex")


def find_rollout(home: Path, thread_id: str) -> Path | None:
    """Return the rollout of ``thread_id`` below ``home``: the id contains the day, apart from the time zone."""
    try:
        made = datetime.fromtimestamp((uuid.UUID(thread_id).int >> 80) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    for days in (0, -1, 1):
        folder = home / "sessions" / (made + timedelta(days=days)).strftime("%Y/%m/%d")
        for path in folder.glob(f"rollout-*-{thread_id}.jsonl"):
            return path
    return None


def _item_events(agent_id: str, payload: JsonObject) -> Iterator[RolloutEvent]:
    item = mapping_of(payload, "item")
    call_id = text_of(item, "id")
    if item.get("type") == "CommandExecution":
        ended_at_ms = payload.get("completed_at_ms")
        yield RecordedCommand(
            agent_id,
            call_id,
            shell_line(item.get("command")),
            text_of(item, "aggregated_output"),
            exit_code_field(item, "exit_code"),
            ended_at_ms / 1000 if isinstance(ended_at_ms, int) else 0.0,
        )
    elif item.get("type") == "FileChange":
        yield RecordedFileChange(agent_id, call_id)
