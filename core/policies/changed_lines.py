"""How files that differ from the last commit are told: one line each. Their names are data, for a frame."""

from __future__ import annotations

from collections.abc import Sequence

from ..turn.word import word
from .look import ChangedFile
from .policy import Words

MAX_SHOWN = 12
"""Files that are named; of more, only how many."""
MOST_LOOKED_AT = 50
"""Files that the look tells at most: there may be more."""
LONGEST_PATH = 160

_MORE = Words("… and {count} more", "……另有 {count} 个")


def count(files: Sequence[ChangedFile]) -> str:
    """How many there are, as far as was looked."""
    return f"{len(files)}+" if len(files) >= MOST_LOOKED_AT else str(len(files))


def listed(files: Sequence[ChangedFile], language: str) -> str:
    """The first ``MAX_SHOWN`` with the lines that were added and removed, and how many more there are."""
    lines = [_line(one) for one in files[:MAX_SHOWN]]
    if len(files) > MAX_SHOWN:
        lines.append(_MORE.of(language).format(count=len(files) - MAX_SHOWN))
    return "\n".join(lines)


def _line(one: ChangedFile) -> str:
    path = word(one.path, LONGEST_PATH)
    return path if one.added is None or one.removed is None else f"{path} +{one.added} -{one.removed}"
