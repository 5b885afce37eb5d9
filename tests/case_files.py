"""Read files of cases; in tab-separated ones ``\\n``, ``\\t``, ``\\r``, ``\\\\`` and ``\\u200b`` are escapes."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def read_cases(path: Path) -> list[tuple[str, ...]]:
    """Return the rows of ``path`` without comments (lines that begin with ``#``)."""
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return [tuple(map(_decode, line.split("\t"))) for line in lines if not line.startswith("#")]


def read_groups(path: Path) -> dict[str, list[tuple[str, ...]]]:
    """Return the rows of ``path`` without comments, by their first column and without it."""
    groups: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for group, *row in read_cases(path):
        groups[group].append(tuple(row))
    return dict(groups)


def read_json_groups(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of ``path``, one JSON list a line, by their first item and without it."""
    groups: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        group, *row = json.loads(line)
        groups[group].append(tuple(row))
    return dict(groups)


def _decode(field: str) -> str:
    return re.sub(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", _decode_escape, field)


def _decode_escape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _ESCAPES.get(match[3], match[3])
