"""Read tab-separated files of test cases."""

from __future__ import annotations

import re
from pathlib import Path

_ESCAPES = {"n": "\n", "t": "\t"}


def read_cases(path: Path) -> list[tuple[str, ...]]:
    """Return the rows of ``path`` without comments, with ``\\n``, ``\\t`` and ``\\\\`` in a field decoded."""
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return [tuple(map(_decode, line.split("\t"))) for line in lines if not line.startswith("#")]


def _decode(field: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), field)
