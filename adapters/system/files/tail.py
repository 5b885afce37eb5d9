"""Read lines of a file that another process appends to: backwards from its end, or those after a bookmark.

Invariant: only regular files are opened, and no links; never more than the limit is read; no content makes it raise.
A last line without a line end is not complete yet and is left out.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from typing import Any

from upbeat.adapters.system.files.safe_open import open_file
from upbeat.core.lazy_dataclass import dataclass

CHUNK_BYTES = 256 * 1024
MAX_LINE_BYTES = 8 * 1024 * 1024
"""Bytes per line; longer lines are skipped."""


@dataclass(slots=True)
class Bookmark:
    """How far a file has been read: the file (device and inode) and the offset of the next line."""

    file_id: tuple[int, int] = (0, 0)
    offset: int = 0


def read_lines_backwards(path: str, max_bytes: int) -> Iterator[bytes]:
    """Yield the complete lines within the last ``max_bytes`` of ``path``, the last line first."""
    descriptor = _open(path)
    if descriptor is None:
        return
    try:
        end = os.fstat(descriptor).st_size
        stop = max(0, end - max_bytes)
        rest = b""
        is_first = True
        while end > stop:
            start = max(stop, end - CHUNK_BYTES)
            rest = os.pread(descriptor, end - start, start) + rest
            end = start
            head, *lines = rest.split(b"\n")
            if is_first and lines:
                lines.pop()  # the text after the last line end is not complete
                is_first = False
            yield from reversed(lines)
            rest = head if len(head) <= MAX_LINE_BYTES else b""
        if stop == 0 and not is_first:
            yield rest
    except OSError:
        return
    finally:
        os.close(descriptor)


def read_new_lines(
    path: str, bookmark: Bookmark, max_bytes: int, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[bytes]:
    """Yield the complete lines of ``path`` after ``bookmark``, within ``max_bytes``, and advance the bookmark.

    A line of more than ``max_line_bytes`` may be skipped.
    A file that was replaced or truncated is read from its beginning: ``bookmark.offset`` is then 0 first.
    """
    descriptor = _open(path)
    if descriptor is None:
        return
    try:
        status = os.fstat(descriptor)
        file = (status.st_dev, status.st_ino)
        if bookmark.file_id != file or status.st_size < bookmark.offset:
            bookmark.file_id, bookmark.offset = file, 0
        offset, stop = bookmark.offset, min(status.st_size, bookmark.offset + max_bytes)
        rest = b""
        while offset < stop and (part := os.pread(descriptor, min(CHUNK_BYTES, stop - offset), offset)):
            offset += len(part)
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                bookmark.offset += len(line) + 1
                yield line
            if len(rest) > max_line_bytes:
                bookmark.offset += len(rest)
                rest = b""
    except OSError:
        return
    finally:
        os.close(descriptor)


def parse_json_object(line: str | bytes) -> dict[str, Any]:
    """Parse a line as a JSON object; return an empty one for anything else."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def stat_regular_file(path: str) -> tuple[int, tuple[int, int]] | None:
    """Return the size and identity of the regular file at ``path``; None if there is none."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (status.st_size, (status.st_dev, status.st_ino)) if stat.S_ISREG(status.st_mode) else None


def _open(path: str) -> int | None:
    try:
        return open_file(path)
    except (OSError, ValueError):
        return None
