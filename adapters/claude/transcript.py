"""What Claude Code's own record of a session tells: how many tokens it used.

Law: a transcript is data. It is read in bounds, each byte once, and nothing in it can make this raise. Exit codes
are not in it; the hooks tell those.

Tokens are those that were processed anew: input, input written to the cache, and output. What was read from the
cache is not counted: it costs a tenth, and a long session reads its whole context from there on every request.
The subagents' transcripts lie beside the session's and count with it.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from ...core.contract.event import Source
from ..local.lines import Bookmark, new_lines, size_and_file

MAX_BYTES = 256 * 1024 * 1024
"""A longer transcript does not tell."""

MAX_SUBAGENTS = 500
MAX_REMEMBERED = 600
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
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict) or value.get("type") != "assistant":
        return {}
    message = value.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(usage, dict):
        return {}
    name = message.get("id") or value.get("uuid")
    counts = [usage.get(key) for key in _COUNTED]
    tokens = sum(count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count > 0)
    return {name: tokens} if isinstance(name, str) else {}


def _subagents(transcript: str) -> list[str]:
    """The transcripts of the session's subagents."""
    folder = os.path.join(transcript.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith("agent-") and name.endswith(".jsonl"))
    except (OSError, ValueError):
        return []
    return [os.path.join(folder, name) for name in names[:MAX_SUBAGENTS]]
