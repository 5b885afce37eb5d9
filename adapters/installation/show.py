"""A plan as a person reads it. Law: it shows every file and every line that will change, and no secret.

Controls and secrets are taken out of both versions before they are compared, so that no half of one is shown.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from ...core.turn.redact import redact
from ...core.turn.strip import strip
from .plan import Plan

CONTEXT = 3


def shown(plan: Plan) -> Iterator[str]:
    """Line by line: files that are ours as a whole, by their names; then what changes in others, line by line."""
    for change in plan.changes:
        if change.old is None and not change.is_settings:
            yield f"new file  {change.path}  ({_size(change.new)})"
        elif change.new is None and not change.is_settings:
            yield f"remove    {change.path}  ({_size(change.old)})"
    for change in plan.changes:
        if (change.old is not None and change.new is not None) or change.is_settings:
            yield from diff(change.path, change.old, change.new)


def diff(path: Path, old: bytes | None, new: bytes | None) -> Iterator[str]:
    """Unified; of what is not text, only that it differs."""
    try:
        before, after = _lines(old), _lines(new)
    except UnicodeDecodeError:
        yield f"binary    {path}  ({_size(old)} -> {_size(new)})"
        return
    names = [str(path) if data is not None else "/dev/null" for data in (old, new)]
    lines = list(difflib.unified_diff(before, after, names[0], names[1], n=CONTEXT, lineterm=""))
    yield from lines or [f"changed   {path}  (in line ends or in what is not shown here)"]


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8-sig")
    return redact(strip(text, keeps_lines=True), keeps_lines=True).text.splitlines()


def _size(data: bytes | None) -> str:
    return f"{len(data or b'')} bytes"
