"""List the clients' records of sessions, most recent first, and find the repositories of their folders.

Invariant: no link is followed, no folder deeper than requested is read, and at most ``MAX_FILES`` files are listed, the
most recent ones. Unreadable files are skipped.
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from upbeat.adapters.system.files.tail import Bookmark, read_new_lines
from upbeat.adapters.system.git.root import find_root

MAX_FILES = 20_000
MAX_BYTES = 256 * 1024 * 1024
"""Only the beginning of a longer file is read."""
HEAD_BYTES = 1024 * 1024
"""The first bytes of a file, in which it has a timestamp."""
_TIME = re.compile(rb'"timestamp"\s*:\s*"(\d{4}-\d\d-\d\dT[0-9:.]+Z)"')
MAX_ENTRIES = 500_000
"""Folder entries that are examined at most."""


@dataclass(frozen=True, slots=True, order=True)
class Recording:
    """One file. ``changed_at`` is seconds since the epoch."""

    changed_at: float
    path: str
    bytes: int = 0


def list_recordings(folder: str, depth: int, is_wanted: Callable[[str], bool], since: float) -> list[Recording]:
    """Return the regular files below ``folder`` that changed after ``since``, most recent first.

    Files more than ``depth`` folders down are left out. ``is_wanted`` gets the path relative to ``folder``, with ``/``.
    """
    recordings = (
        recording
        for entry in _files_below(folder, depth, [MAX_ENTRIES])
        if is_wanted(os.path.relpath(entry.path, folder))
        and (recording := _to_recording(entry))
        and recording.changed_at >= since
    )
    return heapq.nlargest(MAX_FILES, recordings)


def first_timestamp(path: str, turn_markers: tuple[bytes, ...]) -> str:
    """Return the first timestamp of the file as written (UTC, ISO 8601).

    Empty if there is none, and if none of its first lines contains one of ``turn_markers``: the session had no prompt.
    """
    timestamp = ""
    for line in read_new_lines(path, Bookmark(), HEAD_BYTES):
        if not timestamp and (match := _TIME.search(line)):
            timestamp = match[1].decode()
        if timestamp and any(mark in line for mark in turn_markers):
            return timestamp
    return ""


@lru_cache(maxsize=4096)
def worktree_root(cwd: str) -> str:
    """Return the real path of the work tree around ``cwd``; ``cwd`` itself if there is none any more."""
    try:
        return find_root(cwd).worktree or os.path.realpath(cwd)
    except (OSError, ValueError):
        return cwd


def _files_below(folder: str, depth: int, remaining: list[int]) -> Iterator[os.DirEntry[str]]:
    """Yield every entry below ``folder`` that is not a folder; ``remaining`` counts down the entries to examine."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                remaining[0] -= 1
                if remaining[0] < 0:
                    return
                if not entry.is_dir(follow_symlinks=False):
                    yield entry
                elif depth > 0:
                    yield from _files_below(entry.path, depth - 1, remaining)
    except (OSError, ValueError):
        return


def _to_recording(entry: os.DirEntry[str]) -> Recording | None:
    try:
        if not entry.is_file(follow_symlinks=False):
            return None
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return Recording(status.st_mtime, entry.path, status.st_size)
