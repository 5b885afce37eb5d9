"""From numbers to an order: each number is scaled within the question, then one linear sum.

Law: the tables are all there is; nothing in them names a project. Their weights were fitted on bug fixes and issues
of public projects, but for ``is_aside``, which is set by hand; ``benchmarks/localization`` measures them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from .kinds import FileKind, Role

WEIGHTS: dict[str, float] = {
    "title": 0.28,
    "whole": 1.05,
    "line": 0.57,
    "definition": 0.45,
    "compound": 0.4,
    "folder": 0.88,
    "stem_title": 0.56,
    "three_parts": 0.98,
    "names_defined": 0.51,
    "names_used": 0.59,
    "words_used": 0.35,
    "symbols": 0.43,
    "joined_used": 0.3,
    "joined_stem": 0.9,
    "phrases": 0.31,
    "literals": 0.77,
    "stem_named": 0.34,
    "named": 0.46,
    "siblings": 0.42,
    "length": 0.07,
    "is_config": -1.78,
    "is_other_language": -0.87,
    "is_declaration": -1.41,
    "is_aside": -6.0,
}
"""What each number of ``features.measure``, scaled to at most 1, adds to a file's sum."""

WEIGHTS_WITH_PAST: dict[str, float] = {
    "title": 0.1,
    "whole": 0.89,
    "line": 0.51,
    "definition": 0.28,
    "compound": 0.32,
    "folder": 0.71,
    "stem_title": 0.35,
    "three_parts": 0.77,
    "names_defined": 0.51,
    "names_used": 0.48,
    "words_used": 0.11,
    "symbols": 0.41,
    "joined_used": 0.23,
    "joined_stem": 0.82,
    "phrases": 0.33,
    "literals": 0.55,
    "stem_named": 0.26,
    "named": 0.53,
    "siblings": 0.23,
    "length": -0.48,
    "is_config": -1.7,
    "is_other_language": -0.87,
    "is_declaration": -1.27,
    "is_aside": -6.0,
    "past_like": 0.7,
    "past_first": 0.16,
    "past_told": 0.73,
    "past_last": 0.87,
    "past_changes": -0.82,
    "past_fixes": 0.37,
}
"""The same where the history is known; ``past_…`` are the numbers of ``History.signals``."""

PAST = tuple(name for name in WEIGHTS_WITH_PAST if name.startswith("past_"))
PAST_CHARS = 300
"""The length of a query beyond which the past counts for less: commits are told in few words, reports in many."""

TOLD = "past_told"
"""What all messages say together: of many words most are found somewhere, so that it counts for less still."""

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
            row[name] = row.get(name, 0.0) * (factor * factor if name == TOLD else factor)


def total(row: Mapping[str, float], weights: Mapping[str, float] = WEIGHTS) -> float:
    """The weighted sum of a scaled row."""
    return sum([weight * row.get(name, 0.0) for name, weight in weights.items()])


def as_shares(totals: Sequence[float]) -> list[float]:
    """``totals`` as scores in 0..1 with the best at most 1, comparable inside one answer."""
    if not totals:
        return []
    best = max(totals)
    return [round(min(1.0, math.exp((value - best) / SPREAD)), 4) for value in totals]
