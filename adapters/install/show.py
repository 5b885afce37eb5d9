"""Render an installation plan for the terminal.

Invariant: it shows every file and every line that will change, and no secret: secrets are removed from both versions
before they are compared, so that no part of one is shown. Whoever prints the lines escapes them
(``core/sanitize/exact``).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from upbeat.adapters.install.plan import InstallationPlan
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact

CONTEXT_LINES = 3


def plan_lines(plan: InstallationPlan) -> Iterator[str]:
    """Yield the plan: upbeat's own folders, one line each; other whole files; and the diff of every changed file."""
    whole = [change for change in plan.changes if not change.is_settings and not change.is_foreign]
    yield from _whole_file_lines(
        "new", plan.own_folders, [(change.path, change.new) for change in whole if change.old is None]
    )
    yield from _whole_file_lines(
        "remove", plan.own_folders, [(change.path, change.old) for change in whole if change.new is None]
    )
    for change in plan.changes:
        is_whole = change.old is None or change.new is None
        if change.is_settings or change.is_foreign or not is_whole:
            yield from diff_lines(change.path, change.old, change.new)


def _whole_file_lines(verb: str, own: tuple[Path, ...], files: list[tuple[Path, bytes | None]]) -> Iterator[str]:
    """Yield a line for each folder with the names of its ``files``; for a folder of ``own`` only their number."""
    inside: dict[Path, list[bytes | None]] = {}
    named: dict[Path, list[tuple[str, bytes | None]]] = {}
    for path, data in files:
        folder = next((folder for folder in own if path.is_relative_to(folder)), None)
        if folder:
            inside.setdefault(folder, []).append(data)
        else:
            named.setdefault(path.parent, []).append((path.name, data))
    for folder, members in named.items():
        names = ", ".join(name for name, _ in members)
        many = f"{len(members)} files, " if len(members) > 1 else ""
        yield f"{verb:<9} {folder}/{names} ({many}{_size(b''.join(data or b'' for _, data in members))})"
    for folder, contents in inside.items():
        yield f"{verb:<9} {folder}/ ({len(contents)} files of upbeat, {_size(b''.join(filter(None, contents)))})"


def diff_lines(path: Path, old: bytes | None, new: bytes | None) -> Iterator[str]:
    """Yield a unified diff; bytes that are not UTF-8 are lone surrogates in it."""
    before, after = _lines(old), _lines(new)
    names = [str(path) if data is not None else "/dev/null" for data in (old, new)]
    lines = list(difflib.unified_diff(before, after, names[0], names[1], n=CONTEXT_LINES, lineterm=""))
    yield from lines or [f"changed   {path}  (in line ends, or in parts that are not shown)"]


def _lines(data: bytes | None) -> list[str]:
    """Return the lines without secrets; one whose secret is split by control characters is stripped of these, too."""
    text = (data or b"").decode("utf-8", "surrogateescape").removesuffix("\n")
    if not text:
        return []
    stripped = strip_controls(text, preserve_lines=True)
    clean, exact = (redact(version, preserve_lines=True).text.split("\n") for version in (stripped, text))
    return [
        line if found == known or strip_controls(line, preserve_lines=True) == known else known
        for line, found, known in zip(exact, stripped.split("\n"), clean, strict=True)
    ]


def _size(data: bytes | None) -> str:
    return f"{len(data or b'')} bytes"
