"""Read token usage and context usage from Claude Code's transcripts.

Invariant: a transcript is data. It is read with limits, each byte once, and no content makes this raise. Transcripts
have no exit codes; hooks report those.

Tokens are the newly processed ones: input, input written to the cache, and output. Cache reads are not counted: they
cost a tenth, and a long session reads its whole context from the cache on every request. The transcripts of subagents
are next to the session's and count toward it.

The context usage is the size of the last request, cache reads included, and of its response. The size of a model's
context window is in no transcript.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

from upbeat.adapters.system.files import tail
from upbeat.core import lazy_re as re
from upbeat.core.contract.event import EventSource
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.policy.queries import ContextUsage

MAX_BYTES = 256 * 1024 * 1024
"""A longer transcript is not read."""

MAX_SUBAGENTS = 500
MAX_CACHED_FILES = 600
MAX_TAIL_BYTES = 4 * 1024 * 1024
"""How far back from its end a transcript is searched for the last response."""

CONTEXT_WINDOWS: Mapping[str, int] = {"claude-opus-5-5": 1_000_000}
"""Model -> size of its context window in tokens, from ``context_window_size`` of Claude Code's status line."""

_AGENT = re.compile(r"[0-9A-Za-z_-]{1,64}")
_COUNTED_KEYS = ("input_tokens", "cache_creation_input_tokens", "output_tokens")


@dataclass(slots=True)
class _FileTokens:
    """The tokens of one file by message id: a response is several lines with one id, of which the last one is right."""

    bookmark: tail.Bookmark = field(default_factory=tail.Bookmark)
    tokens: dict[str, int] = field(default_factory=dict)


class ClaudeTranscripts:
    """Implements ``core.engine.ports.Transcripts`` on the files of Claude Code."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, _FileTokens] = OrderedDict()
        self._lock = Lock()

    def total_tokens(self, source: EventSource) -> int | None:
        """Return the tokens of the session and its subagents; None without a transcript."""
        if not source.transcript_path.endswith(".jsonl"):
            return None
        with self._lock:
            own = self._tokens_in(source.transcript_path)
            if own is None:
                return None
            return own + sum(self._tokens_in(path) or 0 for path in _subagent_transcripts(source.transcript_path))

    def context_usage(self, source: EventSource) -> ContextUsage | None:
        """Return the context usage of the main agent, or of the subagent in ``source``."""
        path = _agent_transcript(source)
        if not path:
            return None
        for line in tail.read_lines_backwards(path, MAX_TAIL_BYTES):
            if b'"compact_boundary"' in line and tail.parse_json_object(line).get("subtype") == "compact_boundary":
                return None
            if b'"usage"' in line and b'"assistant"' in line:
                value = tail.parse_json_object(line)
                if bool(value.get("isSidechain")) is bool(source.agent_id) and (use := _context_usage(value)):
                    return use
        return None

    def agent_id_of(self, source: EventSource, call_id: str) -> str:  # noqa: ARG002 -- the port's
        """Return nothing: the hooks report it."""
        return ""

    def exit_codes(self, source: EventSource, call_ids: frozenset[str]) -> Mapping[str, int]:  # noqa: ARG002 -- the port's
        """Return nothing: the hooks report them."""
        return {}

    def _tokens_in(self, path: str) -> int | None:
        status = tail.stat_regular_file(path)
        if status is None or status[0] > MAX_BYTES:
            return None
        file = self._files.setdefault(path, _FileTokens())
        self._files.move_to_end(path)
        while len(self._files) > MAX_CACHED_FILES:
            self._files.popitem(last=False)
        if status[1] != file.bookmark.file_id or status[0] < file.bookmark.offset:
            file.tokens.clear()
        for line in tail.read_new_lines(path, file.bookmark, MAX_BYTES):
            if b'"usage"' in line and b'"assistant"' in line:
                value = tail.parse_json_object(line)
                message, usage = _assistant_usage(value)
                name = message.get("id") or value.get("uuid")
                if usage is not None and isinstance(name, str):
                    file.tokens[name] = _sum(usage, _COUNTED_KEYS)
        return sum(file.tokens.values())


def _context_usage(value: dict[str, Any]) -> ContextUsage | None:
    """Return the context usage of the response in a line; None if it is no response of a model."""
    message, usage = _assistant_usage(value)
    model = message.get("model")
    tokens = _sum(usage, (*_COUNTED_KEYS, "cache_read_input_tokens")) if usage else 0
    return ContextUsage(tokens, CONTEXT_WINDOWS.get(model, 0) if isinstance(model, str) else 0) if tokens else None


def _assistant_usage(value: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the message and the usage of an assistant's line; the usage is None for any other line."""
    message = value.get("message") if value.get("type") == "assistant" else None
    usage = message.get("usage") if isinstance(message, dict) else None
    return (message, usage) if isinstance(message, dict) and isinstance(usage, dict) else ({}, None)


def _sum(usage: dict[str, Any], keys: tuple[str, ...]) -> int:
    counts = (usage.get(key) for key in keys)
    return sum(count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count > 0)


def _agent_transcript(source: EventSource) -> str:
    """Return the transcript of the agent of the event; empty if there is none."""
    path = source.transcript_path
    if not path.endswith(".jsonl") or not source.agent_id:
        return path if path.endswith(".jsonl") else ""
    is_name = _AGENT.fullmatch(source.agent_id)
    return os.path.join(path.removesuffix(".jsonl"), "subagents", f"agent-{source.agent_id}.jsonl") if is_name else ""


def _subagent_transcripts(transcript: str) -> list[str]:
    """Return the transcripts of the session's subagents."""
    folder = os.path.join(transcript.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith("agent-") and name.endswith(".jsonl"))
    except (OSError, ValueError):
        return []
    return [os.path.join(folder, name) for name in names[:MAX_SUBAGENTS]]
