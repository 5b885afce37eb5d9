"""What Claude Code's own record of a session tells: how many tokens it used, and how full the model's window is.

Law: a transcript is data. It is read in bounds, each byte once, and nothing in it can make this raise. Exit codes
are not in it; the hooks tell those.

Tokens are those that were processed anew: input, input written to the cache, and output. What was read from the
cache is not counted: it costs a tenth, and a long session reads its whole context from there on every request.
The subagents' transcripts lie beside the session's and count with it.

The window is as full as the last request was long, what came from the cache included, and its answer. How many tokens
a model takes is in no transcript.
"""

from __future__ import annotations

import json
import os
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from ...core.contract.event import Source
from ...core.policies.look import Use
from ..local.lines import Bookmark, lines_backwards, new_lines, size_and_file

MAX_BYTES = 256 * 1024 * 1024
"""A longer transcript does not tell."""

MAX_SUBAGENTS = 500
MAX_REMEMBERED = 600
MAX_LAST_BYTES = 4 * 1024 * 1024
"""How far back from its end a transcript is searched for the last answer."""

WINDOWS: Mapping[str, int] = {"claude-opus-5-5": 1_000_000}
"""Model -> tokens that it takes, where Claude Code was seen to say so (``context_window_size`` for a status line)."""

_AGENT = re.compile(r"[0-9A-Za-z_-]{1,64}")
_COUNTED = ("input_tokens", "cache_creation_input_tokens", "output_tokens")


@dataclass(slots=True)
class _Read:
    """What is known of one file. One response is several lines with one id, of which the last is right."""

    bookmark: Bookmark = field(default_factory=Bookmark)
    tokens: dict[str, int] = field(default_factory=dict)


class ClaudeTranscripts:
    """Implements ``core.ports.Transcripts`` on the files of Claude Code."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, _Read] = OrderedDict()
        self._lock = Lock()

    def tokens(self, source: Source) -> int | None:
        """The tokens of the session and its subagents; None without a transcript."""
        if not source.transcript.endswith(".jsonl"):
            return None
        with self._lock:
            own = self._tokens_in(source.transcript)
            if own is None:
                return None
            return own + sum(self._tokens_in(path) or 0 for path in _subagents(source.transcript))

    def context(self, source: Source) -> Use | None:
        """How full the window of the main agent, or of the subagent in ``source``, is."""
        path = _of_agent(source)
        if not path:
            return None
        for line in lines_backwards(path, MAX_LAST_BYTES):
            if b'"compact_boundary"' in line and _parsed(line).get("subtype") == "compact_boundary":
                return None
            if b'"usage"' in line and b'"assistant"' in line:
                value = _parsed(line)
                if bool(value.get("isSidechain")) is bool(source.agent_id) and (use := _window(value)):
                    return use
        return None

    def agent_of(self, source: Source, call_id: str) -> str:  # noqa: ARG002 -- the port's
        """Nothing: the hooks tell it."""
        return ""

    def exit_codes(self, source: Source, call_ids: frozenset[str]) -> Mapping[str, int]:  # noqa: ARG002 -- the port's
        """Nothing: the hooks tell them."""
        return {}

    def _tokens_in(self, path: str) -> int | None:
        found = size_and_file(path)
        if found is None or found[0] > MAX_BYTES:
            return None
        read = self._files.setdefault(path, _Read())
        self._files.move_to_end(path)
        while len(self._files) > MAX_REMEMBERED:
            self._files.popitem(last=False)
        if found[1] != read.bookmark.file or found[0] < read.bookmark.offset:
            read.tokens.clear()
        for line in new_lines(path, read.bookmark, MAX_BYTES):
            if b'"usage"' in line and b'"assistant"' in line:
                read.tokens.update(_usage(line))
        return sum(read.tokens.values())


def _usage(line: bytes) -> dict[str, int]:
    """Message id -> tokens, from one line; empty when it is another kind of line, or none at all."""
    value = _parsed(line)
    message, usage = _answer(value)
    name = message.get("id") or value.get("uuid")
    return {name: _sum(usage, _COUNTED)} if usage is not None and isinstance(name, str) else {}


def _window(value: dict[str, Any]) -> Use | None:
    """What the answer in a line took of the window; None for what was no answer of a model."""
    message, usage = _answer(value)
    model = message.get("model")
    tokens = _sum(usage, (*_COUNTED, "cache_read_input_tokens")) if usage else 0
    return Use(tokens, WINDOWS.get(model, 0) if isinstance(model, str) else 0) if tokens else None


def _answer(value: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The message of an assistant's line and what it used; None for the latter in any other line."""
    message = value.get("message") if value.get("type") == "assistant" else None
    usage = message.get("usage") if isinstance(message, dict) else None
    return (message, usage) if isinstance(message, dict) and isinstance(usage, dict) else ({}, None)


def _sum(usage: dict[str, Any], keys: tuple[str, ...]) -> int:
    counts = (usage.get(key) for key in keys)
    return sum(count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count > 0)


def _parsed(line: bytes) -> dict[str, Any]:
    """The object in a line; empty when there is none."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _of_agent(source: Source) -> str:
    """The transcript of the agent that the event happened in; empty when there is none."""
    path = source.transcript
    if not path.endswith(".jsonl") or not source.agent_id:
        return path if path.endswith(".jsonl") else ""
    is_name = _AGENT.fullmatch(source.agent_id)
    return os.path.join(path.removesuffix(".jsonl"), "subagents", f"agent-{source.agent_id}.jsonl") if is_name else ""


def _subagents(transcript: str) -> list[str]:
    """The transcripts of the session's subagents."""
    folder = os.path.join(transcript.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith("agent-") and name.endswith(".jsonl"))
    except (OSError, ValueError):
        return []
    return [os.path.join(folder, name) for name in names[:MAX_SUBAGENTS]]
