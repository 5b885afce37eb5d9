"""``ci_hotspot``: the files that change often and are complex, where faults gather.

Law: the score is churn times complexity, scaled by the first; without git there is no churn and no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...core.contract.codes import ErrorCode
from ...core.contract.finding import Finding, ToolOutput
from ...core.errors import ToolFailure
from .codebase import CodeBase
from .complexity import FileMeasure, measure
from .excerpt import shown
from .kinds import Role
from .scan import kind_of_cached

MAX_DAYS = 30
MAX_TOP = 20
MEASURED = 80
"""The most changed files, of which the complexity is looked at."""

SCHEMA_VERSION = "1.3"


@dataclass(frozen=True, slots=True)
class Hot:
    """One file with what it was judged by."""

    path: str
    frequency: int
    found: FileMeasure

    @property
    def heat(self) -> int:
        return self.frequency * self.found.complexity


def hotspot(code: CodeBase, days: int, top: int, churn: Callable[[], dict[str, int] | None]) -> ToolOutput:
    """The ``top`` hottest files of the last ``days``. Raises ``ToolFailure`` (unavailable) without a history."""
    counts = churn()
    if counts is None:
        raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, "there is no git history here to count changes in")
    changed = sorted(((path, count) for path, count in counts.items() if _is_source(path)), key=_most_first)
    hot: list[Hot] = []
    for path, count in changed[:MEASURED]:
        parsed = code.parsed(path)
        if parsed and parsed.is_exact:
            hot.append(Hot(path, count, measure(parsed, code.lines(path))))
    hot.sort(key=lambda one: (-one.heat, one.path))
    best = hot[:top]
    hottest = best[0].heat if best else 1
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "days": days,
        "hotspots": [
            {
                "rank": rank,
                "file": shown(one.path),
                "score": round(one.heat / hottest, 4),
                "frequency": one.frequency,
                "complexity": one.found.complexity,
            }
            for rank, one in enumerate(best, 1)
        ],
    }
    rows = tuple(_row(one, one.heat / hottest) for one in best)
    names = ", ".join(shown(one.path) for one in best[:3])
    summary = (
        f"{len(changed)} files changed in {days} days; hottest {names}" if best else f"no code changed in {days} days"
    )
    return ToolOutput(summary, rows, data, truncated=code.is_late())


def _is_source(path: str) -> bool:
    return kind_of_cached(path).role is Role.SOURCE


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _row(one: Hot, share: float) -> Finding:
    """The file, with the function that has most of its complexity. Half the weight of an answer to the question."""
    worst = max(one.found.functions, key=lambda f: (f.complexity, -f.definition.start_line), default=None)
    changes = f"{one.frequency} commit{'s' if one.frequency > 1 else ''}, complexity {one.found.complexity}"
    return Finding(
        path=shown(one.path),
        title=worst.definition.signature if worst else "",
        symbol=worst.definition.symbol if worst else "",
        kind="metric",
        start_line=worst.definition.start_line if worst else 0,
        end_line=worst.definition.end_line if worst else 0,
        score=round(share / 2, 4),
        why=f"{changes}" + (f"; most complex {worst.definition.symbol} ({worst.complexity})" if worst else ""),
    )
