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
    """Line by line: what is new or goes of ours in folders that are ours alone, a folder a line; other whole files;
    what changes in files that are not new, and what goes of somebody else's, line by line."""
    whole = [change for change in plan.changes if not change.is_settings and not change.is_foreign]
    yield from _named("new", plan.own, [(change.path, change.new) for change in whole if change.old is None])
    yield from _named("remove", plan.own, [(change.path, change.old) for change in whole if change.new is None])
    for change in plan.changes:
        is_whole = change.old is None or change.new is None
        if change.is_settings or change.is_foreign or not is_whole:
            yield from diff(change.path, change.old, change.new)


def _named(verb: str, own: tuple[Path, ...], files: list[tuple[Path, bytes | None]]) -> Iterator[str]:
    """What is done to each of ``files``; of those in a folder of ``own`` only how many they are."""
    inside: dict[Path, list[bytes | None]] = {}
    for path, data in files:
        folder = next((folder for folder in own if path.is_relative_to(folder)), None)
        if folder:
            inside.setdefault(folder, []).append(data)
        else:
            yield f"{verb:<9} {path}  ({_size(data)})"
    for folder, contents in inside.items():
        yield f"{verb:<9} {folder}/  ({len(contents)} files of upbeat's own, {_size(b''.join(filter(None, contents)))})"


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
