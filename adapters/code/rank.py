"""From numbers to an order: each number is scaled within the question, then one linear sum.

Law: the tables are all there is; nothing in them names a project. Their weights were set by hand, then fitted on
bug fixes and issues of public projects, some of one, some of the other; ``benchmarks/localization`` measures them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from .kinds import FileKind, Role

WEIGHTS: dict[str, float] = {
    "body": 1.5,
    "title": 1.7,
    "defined": 0.5,
    "folder": 1.1,
    "stem": 1.0,
    "stem_title": 0.65,
    "best_part": 0.9,
    "three_parts": 1.1,
    "six_parts": 0.35,
    "title_parts": 0.3,
    "names_defined": 1.25,
    "names_used": 1.5,
    "symbols": 0.5,
    "joined_defined": 0.3,
    "joined_used": 0.5,
    "joined_stem": 1.2,
    "phrases": 0.55,
    "stem_named": 0.3,
    "named": 2.25,
    "siblings": 0.8,
    "is_config": -1.2,
    "is_other_language": -1.0,
    "is_declaration": -0.3,
    "is_aside": -6.0,
}
"""What each number of ``features.measure``, scaled to at most 1, adds to a file's sum."""

WEIGHTS_WITH_PAST: dict[str, float] = {
    "body": 0.17,
    "title": 1.02,
    "folder": 0.73,
    "stem": 0.45,
    "stem_title": 0.2,
    "best_part": 0.15,
    "three_parts": 0.85,
    "title_parts": 0.03,
    "names_defined": 0.58,
    "names_used": 0.76,
    "symbols": 0.69,
    "joined_defined": 0.03,
    "joined_used": 0.39,
    "joined_stem": 0.99,
    "phrases": 0.39,
    "stem_named": 0.12,
    "named": 1.15,
    "siblings": 0.42,
    "is_config": -1.54,
    "is_other_language": -1.0,
    "is_declaration": -0.46,
    "is_aside": -6.04,
    "past_like": 0.47,
    "past_first": 0.45,
    "past_title_like": 0.29,
    "past_title_first": 0.1,
    "past_last": 0.45,
    "past_fixes": 0.36,
}
"""The same where the history is known; ``past_…`` are the numbers of ``History.signals``."""

PAST = tuple(name for name in WEIGHTS_WITH_PAST if name.startswith("past_"))
PAST_CHARS = 300
"""The length of a query beyond which the past counts for less: commits are told in few words, reports in many."""

SPREAD = 3.0
"""How far behind the first, in sums, a file has a score of 1/e."""

DECLARATIONS = (".h", ".hh", ".hpp", ".hxx", ".pyi", ".d.ts")


def scale(rows: Sequence[dict[str, float]]) -> None:
    """Divide every number by its largest among ``rows``."""
    for name in {name for row in rows for name in row}:
        most = max([row.get(name, 0.0) for row in rows])
        if most > 0:
            for row in rows:
                row[name] = row.get(name, 0.0) / most


def add_siblings(paths: Sequence[str], rows: Sequence[dict[str, float]]) -> None:
    """What the other candidates of the same folder reach, on the average of their best three."""
    folders: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for path, row in zip(paths, rows, strict=True):
        folders[path.rpartition("/")[0]].append((row.get("body", 0.0), path))
    for path, row in zip(paths, rows, strict=True):
        others = sorted((value for value, other in folders[path.rpartition("/")[0]] if other != path), reverse=True)
        row["siblings"] = sum(others[:3]) / 3


def add_flags(path: str, kind: FileKind, main_language: str, aside: float, row: dict[str, float]) -> None:
    """What the path alone says, as numbers; ``aside`` is how little a file of this role is asked for."""
    row["is_config"] = float(kind.role is Role.CONFIG)
    row["is_other_language"] = float(kind.role is Role.SOURCE and kind.language != main_language)
    row["is_aside"] = aside
    row["is_declaration"] = float(path.endswith(DECLARATIONS))


def damp_past(rows: Sequence[dict[str, float]], length: int) -> None:
    """Make the past count for less in a query of ``length`` characters."""
    factor = math.sqrt(PAST_CHARS / max(length, PAST_CHARS))
    for row in rows:
        for name in PAST:
            row[name] = row.get(name, 0.0) * factor


def total(row: Mapping[str, float], weights: Mapping[str, float] = WEIGHTS) -> float:
    """The weighted sum of a scaled row."""
    return sum([weight * row.get(name, 0.0) for name, weight in weights.items()])


def as_shares(totals: Sequence[float]) -> list[float]:
    """``totals`` as scores in 0..1 with the best at most 1, comparable inside one answer."""
    if not totals:
        return []
    best = max(totals)
    return [round(min(1.0, math.exp((value - best) / SPREAD)), 4) for value in totals]
