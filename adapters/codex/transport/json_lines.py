"""Read the JSON lines of Codex: bytes become lines, and lines become objects whose fields have a type.

Invariant: a line or a field of another type counts as missing; nothing that Codex writes makes this raise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from upbeat.core.json_fields import mapping_of, text_of

JsonObject = Mapping[str, Any]

CHUNK_BYTES = 1 << 18
"""Bytes that are read or written at once."""

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Bytes of one line that are kept; lines of Codex have at most about one mebibyte."""


class LineBuffer:
    """Splits chunks of bytes into lines. Only ``\\n`` ends a line: texts contain raw U+2028 and U+0085."""

    def __init__(self) -> None:
        self._remainder = bytearray()
        self._searched = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that ``chunk`` completes, without their ends."""
        self._remainder += chunk
        while (end := self._remainder.find(b"\n", self._searched)) >= 0:
            line = bytes(self._remainder[:end])
            del self._remainder[: end + 1]
            self._searched = 0
            yield line
        self._searched = len(self._remainder)
        if self._searched > MAX_LINE_BYTES:
            self._remainder.clear()
            self._searched = 0

    def remainder(self) -> bytes:
        """Return what follows the last line end."""
        return bytes(self._remainder)


def read_chunk(descriptor: int) -> bytes | None:
    """Return the next bytes of a non-blocking ``descriptor``; empty at its end, None if there are none yet."""
    try:
        return os.read(descriptor, CHUNK_BYTES)
    except BlockingIOError:
        return None


def int_field(fields: JsonObject, name: str) -> int:
    """Return the non-negative number ``name``, or 0."""
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def exit_code_field(fields: JsonObject, name: str) -> int | None:
    """Return the exit code ``name``, which may be negative; None if there is none."""
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def tool_error(item: JsonObject) -> str:
    """Return why the tool call ``item`` failed; empty if it did not."""
    message = text_of(mapping_of(item, "error"), "message")
    return message or ("failed" if text_of(item, "status") == "failed" else "")
