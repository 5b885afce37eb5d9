"""What Codex's own record of a thread (its rollout) tells: tokens, how full the model's window is, exit codes, and
which agent a call became.

Law: a rollout is data. It is read backwards from its end, 4 MB at most, and nothing in it can make this raise.
Codex writes a command's end and a spawned agent's id there before it calls the hooks for them; the hooks
themselves tell neither.

Tokens are those that were processed anew: input without what was cached, and output. The threads of subagents
that the root's rollout names count with it, as far as their rollouts lie in the same folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.contract.event import Source
from ...core.policies.look import Use
from ..local.lines import lines_backwards, size_and_file

MAX_BYTES = 4 * 1024 * 1024
MAX_SUBAGENTS = 200
_THREAD = re.compile(r"[0-9A-Za-z-]{8,64}")
_SPAWNED = (b'"SubAgentActivity"', b'"CollabAgentToolCall"')


class CodexRollouts:
    """Implements ``core.ports.Transcripts`` on the files of Codex."""

    def tokens(self, source: Source) -> int | None:
        """The tokens of the session, its subagents included; None when the rollout does not tell."""
        path = _of_session(source)
        own = _tokens_in(path)
        if own is None:
            return None
        return own + sum(_tokens_in(other) or 0 for other in _subagents(path))

    def context(self, source: Source) -> Use | None:
        """How full the window of the thread of ``source`` is: an event in a subagent names the subagent's rollout."""
        for line in _lines(source.transcript):
            if b'"token_count"' in line and (use := _window(_payload(line))):
                return use
            if b'"compacted"' in line and _kind(line) == "compacted":
                return None
        return None

    def exit_codes(self, source: Source, call_ids: frozenset[str]) -> Mapping[str, int]:
        """The exit codes of those ``call_ids`` that have ended in the thread of ``source``."""
        found: dict[str, int] = {}
        if not call_ids:
            return found
        for item in _items(source.transcript, (b'"CommandExecution"',)):
            name, code = item.get("id"), item.get("exit_code")
            is_meant = item.get("type") == "CommandExecution" and isinstance(name, str) and name in call_ids
            if is_meant and isinstance(code, int):
                found.setdefault(str(name), code)
                if len(found) == len(call_ids):
                    break
        return found

    def agent_of(self, source: Source, call_id: str) -> str:
        """The thread id of the agent that the call ``call_id`` started; empty when the rollout does not tell."""
        for item in _items(source.transcript, _SPAWNED):
            if item.get("id") == call_id and (threads := _started(item)):
                return threads[0]
        return ""


def _started(item: Mapping[str, Any]) -> list[str]:
    """The threads that an item says were started."""
    match item:
        case {"type": "SubAgentActivity", "kind": "started", "agent_thread_id": str(thread)}:
            return [thread]
        case {"type": "CollabAgentToolCall", "tool": "spawn_agent", "receiver_thread_ids": list(threads)}:
            return [thread for thread in threads if isinstance(thread, str)]
    return []


def _items(path: str, marks: tuple[bytes, ...]) -> Iterator[dict[str, Any]]:
    """The completed items of the lines that have one of ``marks``, the latest first."""
    for line in _lines(path):
        if b'"item_completed"' in line and any(mark in line for mark in marks):
            payload = _payload(line)
            item = payload.get("item") if payload.get("type") == "item_completed" else None
            if isinstance(item, dict):
                yield item


def _tokens_in(path: str) -> int | None:
    """The tokens that the thread of a rollout has used: what its last line about them says; 0 before there is one."""
    for line in _lines(path):
        if b"token_usage" in line and (tokens := _usage(_payload(line))) is not None:
            return tokens
    found = size_and_file(path) if _is_rollout(path) else None
    return 0 if found and found[0] <= MAX_BYTES else None


def _usage(payload: Mapping[str, Any]) -> int | None:
    match payload:
        case {"thread_token_usage": {"input_tokens": int(given), "output_tokens": int(made)} as usage}:
            pass
        case {"info": {"total_token_usage": {"input_tokens": int(given), "output_tokens": int(made)} as usage}}:
            pass
        case _:
            return None
    cached = usage.get("cached_input_tokens")
    return max(given - (cached if isinstance(cached, int) else 0), 0) + max(made, 0)


def _window(payload: Mapping[str, Any]) -> Use | None:
    """The tokens of the last request and its answer, and how many the model takes, as Codex tells both."""
    match payload:
        case {"type": "token_count", "info": {"last_token_usage": {"total_tokens": int(tokens)}} as info}:
            window = info.get("model_context_window")
            is_told = isinstance(window, int) and not isinstance(window, bool) and window > 0
            return Use(tokens, window if is_told else 0) if tokens > 0 else None
    return None


def _of_session(source: Source) -> str:
    """The rollout of the session's root thread: a subagent's events name the subagent's."""
    path, session = source.transcript, source.session_id
    if not session or not _THREAD.fullmatch(session) or path.endswith(f"-{session}.jsonl"):
        return path
    return _sibling(path, session) or path


def _subagents(path: str) -> list[str]:
    """The rollouts of the agents that the thread of ``path`` started."""
    threads = dict.fromkeys(thread for item in _items(path, _SPAWNED) for thread in _started(item))
    found = [_sibling(path, thread) for thread in list(threads)[:MAX_SUBAGENTS] if _THREAD.fullmatch(thread)]
    return [other for other in found if other and other != path]


def _sibling(path: str, thread: str) -> str:
    """The rollout of ``thread`` in the folder of ``path``; empty when there is none."""
    folder = os.path.dirname(path)
    try:
        names = os.listdir(folder)
    except (OSError, ValueError):
        return ""
    name = next((name for name in names if name.endswith(f"-{thread}.jsonl") and _is_rollout(name)), "")
    return os.path.join(folder, name) if name else ""


def _is_rollout(path: str) -> bool:
    name = os.path.basename(path)
    return name.startswith("rollout-") and name.endswith(".jsonl")


def _lines(path: str) -> Iterator[bytes]:
    return lines_backwards(path, MAX_BYTES) if _is_rollout(path) else iter(())


def _payload(line: bytes) -> dict[str, Any]:
    payload = _value(line).get("payload")
    return payload if isinstance(payload, dict) else {}


def _kind(line: bytes) -> str:
    kind = _value(line).get("type")
    return kind if isinstance(kind, str) else ""


def _value(line: bytes) -> dict[str, Any]:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
