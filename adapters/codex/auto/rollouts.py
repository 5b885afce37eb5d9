"""What is done on a thread and by its agents, from the records that Codex itself keeps of threads ("rollouts").

``codex exec`` tells of an agent that it was started, and no more, and its ids begin anew with every turn. So what is
run and answered is read here, for both ways to Codex, under the ids that hooks are told, too. Law: only what was
written since the thread was taken up counts, and what an agent's file has copied from its parent does not. Lines that
are not understood are left alone, and no file is no news.

Source: recordings of 0.169.0, with both of its kinds of agents.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from .exec_events import Lines

_CHUNK = 1 << 20
_MARKS = (b'"item_completed"', b'"function_call"', b'"task_complete"', b'"turn_aborted"')
"""Of a line that matters one of these is part."""
_SEALED = "collaboration"
"""The namespace of agents whose task only the provider can read."""
_SHELLS = ("bash", "sh", "zsh")

_Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Spawned:
    """The call ``call_id`` became the agent ``agent_id``. ``agent`` is its kind as the model wrote it."""

    call_id: str
    agent_id: str
    agent: str = ""
    prompt: str = ""
    title: str = ""
    is_sealed: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """A command has ended, ``at`` seconds since 1970. ``agent_id`` is empty, here and below, for the thread itself."""

    agent_id: str
    call_id: str
    command: str
    output: str
    exit_code: int | None
    at: float


@dataclass(frozen=True, slots=True)
class Changed:
    """Files were changed."""

    agent_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The agent that came of ``call_id`` has ended; ``message`` is its last, None when it was broken off."""

    agent_id: str
    call_id: str
    message: str | None


Deed = Spawned | Ran | Changed | Answered


@dataclass(slots=True)
class _File:
    """One rollout, read as it grows."""

    thread_id: str
    call_id: str = ""
    """The call that the agent came of; empty for the thread itself."""
    path: Path | None = None
    offset: int = 0
    lines: Lines = field(default_factory=Lines)
    turns: set[str] = field(default_factory=set)
    """Its own turns; others were copied."""


class Rollouts:
    """The rollout of one thread, and those of its agents. ``home`` is Codex's own folder."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._files: dict[str, _File] = {}
        """The thread's own first."""
        self._calls: dict[str, _Fields] = {}
        """Arguments of calls that start agents, by the call's id."""

    def follow(self, thread_id: str, *, is_new: bool) -> None:
        """Be about ``thread_id`` from now on; of one that is not new, what is there already is old."""
        if thread_id in list(self._files)[:1]:
            return
        file = _File(thread_id)
        self._files, self._calls = {thread_id: file}, {}
        if not is_new and (path := self._path(file)):
            with contextlib.suppress(OSError):
                file.offset = path.stat().st_size

    def path(self, thread_id: str) -> str:
        """The file of ``thread_id``, as far as it is followed and there; else empty."""
        file = self._files.get(thread_id)
        return str(self._path(file) or "") if file else ""

    def news(self) -> Iterator[Deed]:
        """What has happened since the last time."""
        for file in list(self._files.values()):
            yield from self._of_file(file)
        for file in list(self._files.values())[1:]:  # those that have just begun, too
            yield from self._of_file(file)

    def _of_file(self, file: _File) -> Iterator[Deed]:
        for line in self._grown(file):
            if any(mark in line for mark in _MARKS) and (payload := _payload(line)):
                yield from self._of_agent(file, payload) if file.call_id else self._of_root(payload)

    def _grown(self, file: _File) -> Iterator[bytes]:
        path = self._path(file)
        if path is None:
            return
        try:
            if path.stat().st_size <= file.offset:
                return
            with path.open("rb") as stream:
                stream.seek(file.offset)
                while chunk := stream.read(_CHUNK):
                    file.offset += len(chunk)
                    yield from file.lines.feed(chunk)
        except OSError:
            return

    def _of_root(self, payload: _Fields) -> Iterator[Deed]:
        if payload.get("type") == "function_call":
            if payload.get("name") == "spawn_agent":
                arguments = _object(payload.get("arguments"))
                self._calls[_text(payload, "call_id")] = {**arguments, "namespace": payload.get("namespace")}
            return
        item = _inner(payload, "item")
        yield from _of_item("", payload)
        agent_id = _agent_of(item)
        if agent_id and agent_id not in self._files:
            call_id = _text(item, "id")
            self._files[agent_id] = _File(agent_id, call_id)
            yield self._spawned(call_id, agent_id)

    def _spawned(self, call_id: str, agent_id: str) -> Spawned:
        call = self._calls.get(call_id, {})
        is_sealed = call.get("namespace") == _SEALED
        prompt = "" if is_sealed else _text(call, "message")
        return Spawned(call_id, agent_id, _text(call, "agent_type"), prompt, _text(call, "task_name"), is_sealed)

    def _of_agent(self, file: _File, payload: _Fields) -> Iterator[Deed]:
        turn = _text(payload, "turn_id")
        match payload.get("type"):
            case "item_completed" if payload.get("thread_id") == file.thread_id:
                file.turns.add(turn)
                yield from _of_item(file.thread_id, payload)
            case "task_complete" if turn in file.turns:
                yield Answered(file.thread_id, file.call_id, _text(payload, "last_agent_message"))
            case "turn_aborted" if turn in file.turns:
                yield Answered(file.thread_id, file.call_id, None)
            case _:
                return

    def _path(self, file: _File) -> Path | None:
        if file.path is None:
            file.path = find(self._home, file.thread_id)
        return file.path


def codex_home(variables: Mapping[str, str]) -> Path:
    """Codex's own folder, for a Codex that is started with ``variables``."""
    return Path(variables.get("CODEX_HOME") or Path(variables.get("HOME") or "/") / ".codex")


def find(home: Path, thread_id: str) -> Path | None:
    """The rollout of ``thread_id`` below Codex's folder: its id tells the day, give or take a time zone."""
    try:
        made = datetime.fromtimestamp((uuid.UUID(thread_id).int >> 80) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    for days in (0, -1, 1):
        folder = home / "sessions" / (made + timedelta(days=days)).strftime("%Y/%m/%d")
        for path in folder.glob(f"rollout-*-{thread_id}.jsonl"):
            return path
    return None


def _of_item(agent_id: str, payload: _Fields) -> Iterator[Deed]:
    item = _inner(payload, "item")
    call_id = _text(item, "id")
    if item.get("type") == "CommandExecution":
        code, at = item.get("exit_code"), payload.get("completed_at_ms")
        yield Ran(
            agent_id,
            call_id,
            _command(item.get("command")),
            _text(item, "aggregated_output"),
            code if isinstance(code, int) else None,
            at / 1000 if isinstance(at, int) else 0.0,
        )
    elif item.get("type") == "FileChange":
        yield Changed(agent_id, call_id)


def _agent_of(item: _Fields) -> str:
    """The agent that began with ``item``, if one did."""
    if item.get("type") == "CollabAgentToolCall" and item.get("tool") == "spawn_agent":
        receivers = item.get("receiver_thread_ids")
        return str(receivers[0]) if isinstance(receivers, list) and receivers else ""
    if item.get("type") == "SubAgentActivity" and item.get("kind") == "started":
        return _text(item, "agent_thread_id")
    return ""


def _command(words: Any) -> str:
    """The command that a shell was started for, or the whole line."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return ""
    is_shell = len(words) == 3 and Path(words[0]).name in _SHELLS and words[1] in ("-c", "-lc")
    return str(words[2]) if is_shell else shlex.join(words)


def _payload(line: bytes) -> _Fields:
    return _inner(_object(line), "payload")


def _object(text: Any) -> _Fields:
    try:
        value = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _inner(fields: _Fields, name: str) -> _Fields:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _text(fields: _Fields, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
