"""Which files clients have kept of their sessions, the latest first.

Law: no link is followed, no folder deeper than asked, and never more than ``MAX_FILES`` are listed; of more the latest
count. What cannot be read is not there.
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .lines import Bookmark, new_lines

MAX_FILES = 20_000
MAX_BYTES = 256 * 1024 * 1024
"""Of a longer file the beginning counts."""
BEGINNING = 1024 * 1024
"""Bytes in which a file tells when it was begun."""
_TIME = re.compile(rb'"timestamp"\s*:\s*"(\d{4}-\d\d-\d\dT[0-9:.]+Z)"')
MAX_SEEN = 500_000
"""Entries of folders that are looked at."""


@dataclass(frozen=True, slots=True, order=True)
class Recording:
    """One file. ``changed_at`` is seconds since the epoch."""

    changed_at: float
    path: str
    bytes: int = 0


def recordings(folder: str, depth: int, is_wanted: Callable[[str], bool], since: float) -> list[Recording]:
    """The regular files at most ``depth`` folders below ``folder`` that changed after ``since``, the latest first.

    ``is_wanted`` gets the path relative to ``folder``, with ``/``.
    """
    found = (
        one
        for entry in _below(folder, depth, [MAX_SEEN])
        if is_wanted(os.path.relpath(entry.path, folder)) and (one := _recording(entry)) and one.changed_at >= since
    )
    return heapq.nlargest(MAX_FILES, found)


def began_at(path: str, of_a_turn: tuple[bytes, ...]) -> str:
    """The first time that the file tells of, as it stands there (UTC, ISO 8601).

    Empty when it tells none, and when none of its first lines has one of ``of_a_turn`` in it: nobody prompted then.
    """
    began = ""
    for line in new_lines(path, Bookmark(), BEGINNING):
        if not began and (found := _TIME.search(line)):
            began = found[1].decode()
        if began and any(mark in line for mark in of_a_turn):
            return began
    return ""


def _below(folder: str, depth: int, left: list[int]) -> Iterator[os.DirEntry[str]]:
    """Everything below ``folder`` that is no folder; ``left`` counts down what may still be looked at."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                left[0] -= 1
                if left[0] < 0:
                    return
                if not entry.is_dir(follow_symlinks=False):
                    yield entry
                elif depth > 0:
                    yield from _below(entry.path, depth - 1, left)
    except (OSError, ValueError):
        return


def _recording(entry: os.DirEntry[str]) -> Recording | None:
    try:
        if not entry.is_file(follow_symlinks=False):
            return None
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return Recording(status.st_mtime, entry.path, status.st_size)
