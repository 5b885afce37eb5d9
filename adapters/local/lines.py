"""Lines of a file that somebody else writes while we read: backwards from its end, or what is new since last time.

Law: only regular files are opened, and no link in place of one; never more than the bound is read; nothing is
raised for what a file holds or does not. A last line without an end is not yet written, and is left.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

CHUNK = 256 * 1024
MAX_LINE = 8 * 1024 * 1024
"""Bytes of one line; a longer one is passed over."""

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(slots=True)
class Bookmark:
    """How far a file has been read: the file (device and inode) and the offset of the next line."""

    file: tuple[int, int] = (0, 0)
    offset: int = 0


def lines_backwards(path: str, most: int) -> Iterator[bytes]:
    """The complete lines of ``path`` from the last one on, out of its last ``most`` bytes."""
    descriptor = _open(path)
    if descriptor is None:
        return
    try:
        end = os.fstat(descriptor).st_size
        stop = max(0, end - most)
        rest = b""
        is_first = True
        while end > stop:
            start = max(stop, end - CHUNK)
            rest = os.pread(descriptor, end - start, start) + rest
            end = start
            head, *lines = rest.split(b"\n")
            if is_first and lines:
                lines.pop()  # what follows the last line end is not yet a line
                is_first = False
            yield from reversed(lines)
            rest = head if len(head) <= MAX_LINE else b""
        if stop == 0 and not is_first:
            yield rest
    except OSError:
        return
    finally:
        os.close(descriptor)


def new_lines(path: str, bookmark: Bookmark, most: int) -> Iterator[bytes]:
    """The complete lines of ``path`` after ``bookmark``, which moves along; at most ``most`` bytes at a time.

    A file that was replaced or became shorter is read from its beginning: ``bookmark.offset`` is then 0 at first.
    """
    descriptor = _open(path)
    if descriptor is None:
        return
    try:
        status = os.fstat(descriptor)
        file = (status.st_dev, status.st_ino)
        if bookmark.file != file or status.st_size < bookmark.offset:
            bookmark.file, bookmark.offset = file, 0
        at, stop = bookmark.offset, min(status.st_size, bookmark.offset + most)
        rest = b""
        while at < stop and (part := os.pread(descriptor, min(CHUNK, stop - at), at)):
            at += len(part)
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                bookmark.offset += len(line) + 1
                yield line
            if len(rest) > MAX_LINE:
                bookmark.offset += len(rest)
                rest = b""
    except OSError:
        return
    finally:
        os.close(descriptor)


def object_in(line: bytes) -> dict[str, Any]:
    """The JSON object that a line is; empty when it is another thing, or none at all."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def size_and_file(path: str) -> tuple[int, tuple[int, int]] | None:
    """The size and identity of the regular file at ``path``; None when there is none."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (status.st_size, (status.st_dev, status.st_ino)) if stat.S_ISREG(status.st_mode) else None


def _open(path: str) -> int | None:
    try:
        descriptor = os.open(path, _OPEN)
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None
