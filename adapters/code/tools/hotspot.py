"""``ci_hotspot``: the files that change often and are complex, where bugs accumulate.

Invariant: the score is churn times complexity, relative to the first file; without git there is no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.graph.codebase import CodeBase
from upbeat.adapters.code.query.excerpt import printable_path
from upbeat.adapters.code.syntax.complexity import FileMetrics, measure_complexity
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.errors import ToolFailure

MAX_DAYS = 30
MAX_TOP = 20
MAX_MEASURED_FILES = 80
"""The most frequently changed files, whose complexity is measured."""

SCHEMA_VERSION = "1.3"


@dataclass(frozen=True, slots=True)
class Hotspot:
    """One file with its number of commits and its metrics."""

    path: str
    frequency: int
    metrics: FileMetrics

    @property
    def score(self) -> int:
        return self.frequency * self.metrics.complexity


def rank_hotspots(
    code: CodeBase, days: int, top: int, count_changes: Callable[[], dict[str, int] | None]
) -> ToolOutput:
    """Return the ``top`` hottest files of the last ``days``.

    Raises:
        ToolFailure: There is no git history.
    """
    counts = count_changes()
    if counts is None:
        raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, "there is no git history here to count changes in")
    sources = [item for item in counts.items() if classify_file(item[0]).role is FileRole.SOURCE]
    changed = sorted(sources, key=lambda item: (-item[1], item[0]))
    hot: list[Hotspot] = []
    for path, count in changed[:MAX_MEASURED_FILES]:
        parsed = code.parsed_file(path)
        if parsed and parsed.is_exact:
            hot.append(Hotspot(path, count, measure_complexity(parsed, code.read_lines(path))))
    hot.sort(key=lambda hotspot: (-hotspot.score, hotspot.path))
    best = hot[:top]
    hottest = best[0].score if best else 1
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "days": days,
        "hotspots": [
            {
                "rank": rank,
                "file": printable_path(hotspot.path),
                "score": round(hotspot.score / hottest, 4),
                "frequency": hotspot.frequency,
                "complexity": hotspot.metrics.complexity,
            }
            for rank, hotspot in enumerate(best, 1)
        ],
    }
    rows = tuple(_hotspot_finding(hotspot, hotspot.score / hottest) for hotspot in best)
    names = ", ".join(printable_path(hotspot.path) for hotspot in best[:3])
    summary = (
        f"{len(changed)} files changed in {days} days; hottest {names}" if best else f"no code changed in {days} days"
    )
    return ToolOutput(summary, rows, data, truncated=code.is_past_deadline())


def _hotspot_finding(hotspot: Hotspot, share: float) -> Finding:
    """Return the file with its most complex function, at half the score of a search result."""
    worst = max(hotspot.metrics.functions, key=lambda f: (f.complexity, -f.definition.start_line), default=None)
    changes = (
        f"{hotspot.frequency} commit{'s' if hotspot.frequency > 1 else ''}, complexity {hotspot.metrics.complexity}"
    )
    return Finding(
        path=printable_path(hotspot.path),
        title=worst.definition.signature if worst else "",
        symbol=worst.definition.symbol if worst else "",
        kind="metric",
        start_line=worst.definition.start_line if worst else 0,
        end_line=worst.definition.end_line if worst else 0,
        score=round(share / 2, 4),
        why=f"{changes}" + (f"; most complex {worst.definition.symbol} ({worst.complexity})" if worst else ""),
    )
