"""Ranks files: each signal is scaled within one query, then a linear model adds them up.

Invariant: the model is only these tables. Their weights were fitted on bug fixes and issues of public projects, except
``role_penalty``, which is set manually; ``benchmarks/localization`` measures them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from upbeat.adapters.code.files.file_types import FileKind, FileRole
from upbeat.core.package_data import load_rows

_ROWS = load_rows("upbeat.adapters.code.query", "weights.tsv")
WEIGHTS = {name: float(weight) for name, weight, _ in _ROWS if float(weight)}
"""Weight of each signal of ``signals``, scaled to at most 1."""

WEIGHTS_WITH_HISTORY = {name: float(weight) for name, _, weight in _ROWS}
"""The same with a history; ``history_…`` are the signals of ``CommitHistory.compute_signals``."""

HISTORY_SIGNALS = tuple(name for name in WEIGHTS_WITH_HISTORY if name.startswith("history_"))
HISTORY_DAMPING_CHARS = 300
"""Length of a query beyond which history counts less: commit messages are short, reports are long."""

MESSAGES_SIGNAL = "history_messages"
"""The signal of all messages together; it counts even less for long queries, which match some message anyway."""

SCORE_SPREAD = 3.0
"""Distance in total from the first file at which a score is 1/e."""

DECLARATION_EXTENSIONS = (".h", ".hh", ".hpp", ".hxx", ".pyi", ".d.ts")


def scale_columns(rows: Sequence[dict[str, float]]) -> None:
    """Divide every signal by its maximum among ``rows``."""
    for name in {name for row in rows for name in row}:
        maximum = max([row.get(name, 0.0) for row in rows])
        if maximum > 0:
            for row in rows:
                row[name] = row.get(name, 0.0) / maximum


def add_sibling_signal(paths: Sequence[str], rows: Sequence[dict[str, float]]) -> None:
    """Add the average of the best three other candidates in the same folder."""
    folders: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for path, row in zip(paths, rows, strict=True):
        folders[path.rpartition("/")[0]].append((row.get("body", 0.0), path))
    for path, row in zip(paths, rows, strict=True):
        others = sorted((value for value, other in folders[path.rpartition("/")[0]] if other != path), reverse=True)
        row["siblings"] = sum(others[:3]) / 3


def add_path_signals(path: str, kind: FileKind, main_language: str, role_penalty: float, row: dict[str, float]) -> None:
    """Add the signals of the path; ``role_penalty`` is how little the query asks for files of this role."""
    row["is_config"] = float(kind.role is FileRole.CONFIG)
    row["is_other_language"] = float(kind.role is FileRole.SOURCE and kind.language != main_language)
    row["role_penalty"] = role_penalty
    row["is_declaration"] = float(path.endswith(DECLARATION_EXTENSIONS))


def damp_history(rows: Sequence[dict[str, float]], length: int) -> None:
    """Reduce the history signals for a query of ``length`` characters."""
    factor = math.sqrt(HISTORY_DAMPING_CHARS / max(length, HISTORY_DAMPING_CHARS))
    for row in rows:
        for name in HISTORY_SIGNALS:
            row[name] = row.get(name, 0.0) * (factor * factor if name == MESSAGES_SIGNAL else factor)


def weighted_total(row: Mapping[str, float], weights: Mapping[str, float] = WEIGHTS) -> float:
    """Return the weighted sum of a scaled row."""
    return sum([weight * row.get(name, 0.0) for name, weight in weights.items()])


def to_scores(totals: Sequence[float]) -> list[float]:
    """Return ``totals`` as scores in 0..1, which are comparable within one answer."""
    if not totals:
        return []
    best = max(totals)
    return [round(min(1.0, math.exp((value - best) / SCORE_SPREAD)), 4) for value in totals]
