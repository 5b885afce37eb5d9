"""Render a file change as lines for a terminal. The diff is untrusted, and omitted lines are counted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from upbeat.adapters.codex.transport.base import FileDiff
from upbeat.core.sanitize.control_chars import strip_controls

MAX_DIFF_LINES = 24
"""Lines of one diff that are shown during a turn."""

_HUNK = re.compile(r"@@ [^@]*@@")


class DiffLineKind(StrEnum):
    """The kind of a diff line."""

    ADDED = "added"
    REMOVED = "removed"
    HUNK = "place"
    CONTEXT = "same"


@dataclass(frozen=True, slots=True)
class RenderedDiff:
    """Lines with their kinds, how many were omitted, and how many lines the whole change adds and removes."""

    lines: tuple[tuple[DiffLineKind, str], ...]
    omitted: int
    added: int
    removed: int


def render_diff(file_diff: FileDiff, max_lines: int = MAX_DIFF_LINES) -> RenderedDiff:
    """Render ``file_diff``; the diff of a new or deleted file is its content."""
    text = strip_controls(file_diff.diff).removesuffix("\n")
    if not text:
        return RenderedDiff((), 0, 0, 0)
    whole = {"add": DiffLineKind.ADDED, "delete": DiffLineKind.REMOVED}.get(file_diff.kind)
    lines = text.split("\n")
    if whole and not any(_HUNK.match(line) for line in lines):
        sided = [(whole, f"{'+' if whole is DiffLineKind.ADDED else '-'}{line}") for line in lines]
    else:
        first = next((number for number, line in enumerate(lines) if _HUNK.match(line)), 0)
        sided = [(_line_kind(line), line) for line in lines[first:]]  # what precedes repeats the file name
    sides = [side for side, _ in sided]
    return RenderedDiff(
        tuple(sided[:max_lines]),
        max(len(sided) - max_lines, 0),
        sides.count(DiffLineKind.ADDED),
        sides.count(DiffLineKind.REMOVED),
    )


def _line_kind(line: str) -> DiffLineKind:
    if _HUNK.match(line):
        return DiffLineKind.HUNK
    return {"+": DiffLineKind.ADDED, "-": DiffLineKind.REMOVED}.get(line[:1], DiffLineKind.CONTEXT)
