"""Read tokens, context usage, exit codes and spawned agents from Codex's record of a thread (its rollout).

Invariant: a rollout is data. It is read backwards from its end, 4 MB at most, and no content makes this raise. Codex
writes a command's exit code and a spawned agent's id there before it calls the hooks, which report neither.

Tokens are the newly processed ones: input that was not cached, and output. Subagents that the root's rollout names
count toward it if their rollouts are in the same folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from upbeat.adapters.system.files.tail import parse_json_object, read_lines_backwards, stat_regular_file
from upbeat.core import lazy_re as re
from upbeat.core.contract.event import EventSource
from upbeat.core.policy.queries import ContextUsage

MAX_BYTES = 4 * 1024 * 1024
MAX_SUBAGENTS = 200
MAX_HEAD_BYTES = 2048
"""Of a rollout, for the program that writes it."""
_THREAD = re.compile(r"[0-9A-Za-z-]{8,64}")
_SPAWN_MARKERS = (b'"SubAgentActivity"', b'"CollabAgentToolCall"')


class CodexRollouts:
    """Implements ``core.engine.ports.Transcripts`` on the files of Codex."""

    def total_tokens(self, source: EventSource) -> int | None:
        """Return the tokens of the session, its subagents included; None if they are unknown."""
        path = _session_rollout(source)
        own = _tokens_in(path)
        if own is None:
            return None
        return own + sum(_tokens_in(other) or 0 for other in _subagent_rollouts(path))

    def context_usage(self, source: EventSource) -> ContextUsage | None:
        """Return the context usage of the thread of ``source``; a subagent's event names the subagent's rollout."""
        for line in _lines(source.transcript_path):
            if b'"token_count"' in line and (use := _context_usage(_payload(line))):
                return use
            if b'"compacted"' in line and parse_json_object(line).get("type") == "compacted":
                return None
        return None

    def exit_codes(self, source: EventSource, call_ids: frozenset[str]) -> Mapping[str, int]:
        """Return the exit codes of those ``call_ids`` that have ended in the thread of ``source``."""
        codes: dict[str, int] = {}
        if not call_ids:
            return codes
        for item in _items(source.transcript_path, (b'"CommandExecution"',)):
            name, code = item.get("id"), item.get("exit_code")
            is_meant = item.get("type") == "CommandExecution" and isinstance(name, str) and name in call_ids
            if is_meant and isinstance(code, int):
                codes.setdefault(str(name), code)
                if len(codes) == len(call_ids):
                    break
        return codes

    def agent_id_of(self, source: EventSource, call_id: str) -> str:
        """Return the thread id of the agent that the call ``call_id`` started; empty if it is unknown."""
        for item in _items(source.transcript_path, _SPAWN_MARKERS):
            if item.get("id") == call_id and (threads := started_threads(item)):
                return threads[0]
        return ""


def is_headless(source: EventSource) -> bool:
    """Return whether ``codex exec`` runs the thread of ``source``: its rollout begins with that."""
    if not is_rollout(source.transcript_path) or stat_regular_file(source.transcript_path) is None:
        return False
    with open(source.transcript_path, "rb") as file:
        return b'"originator":"codex_exec"' in file.read(MAX_HEAD_BYTES)


def started_threads(item: Mapping[str, Any]) -> list[str]:
    """Return the threads that an item reports as started."""
    match item:
        case {"type": "SubAgentActivity", "kind": "started", "agent_thread_id": str(thread)}:
            return [thread]
        case {"type": "CollabAgentToolCall", "tool": "spawn_agent", "receiver_thread_ids": list(threads)}:
            return [thread for thread in threads if isinstance(thread, str)]
    return []


def _items(path: str, markers: tuple[bytes, ...]) -> Iterator[dict[str, Any]]:
    """Yield the completed items of the lines that have one of ``markers``, most recent first."""
    for line in _lines(path):
        if b'"item_completed"' in line and any(mark in line for mark in markers):
            payload = _payload(line)
            item = payload.get("item") if payload.get("type") == "item_completed" else None
            if isinstance(item, dict):
                yield item


def _tokens_in(path: str) -> int | None:
    """Return the tokens of a rollout's thread from its last line with a count; 0 before there is one."""
    for line in _lines(path):
        if b"token_usage" in line and (tokens := _payload_tokens(_payload(line))) is not None:
            return tokens
    status = stat_regular_file(path) if is_rollout(path) else None
    return 0 if status and status[0] <= MAX_BYTES else None


def _payload_tokens(payload: Mapping[str, Any]) -> int | None:
    match payload:
        case {"thread_token_usage": {"input_tokens": int(given), "output_tokens": int(made)} as usage}:
            pass
        case {"info": {"total_token_usage": {"input_tokens": int(given), "output_tokens": int(made)} as usage}}:
            pass
        case _:
            return None
    cached = usage.get("cached_input_tokens")
    return max(given - (cached if isinstance(cached, int) else 0), 0) + max(made, 0)


def _context_usage(payload: Mapping[str, Any]) -> ContextUsage | None:
    """Return the tokens of the last request with its response, and the size of the context window, if reported."""
    match payload:
        case {"type": "token_count", "info": {"last_token_usage": {"total_tokens": int(tokens)}} as info}:
            window = info.get("model_context_window")
            is_known = isinstance(window, int) and not isinstance(window, bool) and window > 0
            return ContextUsage(tokens, window if is_known else 0) if tokens > 0 else None
    return None


def _session_rollout(source: EventSource) -> str:
    """Return the rollout of the session's root thread; a subagent's events name the subagent's rollout."""
    path, session = source.transcript_path, source.session_id
    if not session or not _THREAD.fullmatch(session) or path.endswith(f"-{session}.jsonl"):
        return path
    return _sibling_rollout(path, session) or path


def _subagent_rollouts(path: str) -> list[str]:
    """Return the rollouts of the agents that the thread of ``path`` started."""
    threads = dict.fromkeys(thread for item in _items(path, _SPAWN_MARKERS) for thread in started_threads(item))
    rollouts = [_sibling_rollout(path, thread) for thread in list(threads)[:MAX_SUBAGENTS] if _THREAD.fullmatch(thread)]
    return [rollout for rollout in rollouts if rollout and rollout != path]


def _sibling_rollout(path: str, thread: str) -> str:
    """Return the rollout of ``thread`` in the folder of ``path``; empty if there is none."""
    folder = os.path.dirname(path)
    try:
        names = os.listdir(folder)
    except (OSError, ValueError):
        return ""
    name = next((name for name in names if name.endswith(f"-{thread}.jsonl") and is_rollout(name)), "")
    return os.path.join(folder, name) if name else ""


def is_rollout(path: str) -> bool:
    """Return whether the name of the file at ``path`` is that of a rollout."""
    name = os.path.basename(path)
    return name.startswith("rollout-") and name.endswith(".jsonl")


def _lines(path: str) -> Iterator[bytes]:
    return read_lines_backwards(path, MAX_BYTES) if is_rollout(path) else iter(())


def _payload(line: bytes) -> dict[str, Any]:
    payload = parse_json_object(line).get("payload")
    return payload if isinstance(payload, dict) else {}
