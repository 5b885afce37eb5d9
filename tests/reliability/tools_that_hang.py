"""A tool, or a program that is started for one, may hang, fork and flood: a turn gets its answer in its time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repositories import make_repository

from .hanging_runs import KINDS, LIMIT
from .promise import Seen
from .workers import results

PART = "Tools that hang"
OVER_MS = 250
MOST_MEGABYTES = 300


def look(full: bool) -> Iterator[Seen]:
    numbers = list(range(1000 if full else len(KINDS)))
    with tempfile.TemporaryDirectory(prefix="upbeat-hanging-") as folder:
        make_repository(Path(folder) / "repo")
        runs = results("reliability.hanging_runs", Path(folder), numbers)
    yield _budget(runs, len(numbers) - len(runs))
    left = sum(run["left"] for run in runs)
    yield Seen(
        "No program is left that a tool has started: in a group of its own, as a daemon, deaf to SIGTERM",
        "0 processes",
        f"{left} after {len(runs):,} runs",
        left == 0 and all(run["adopts"] for run in runs),
    )
    most = max(run["megabytes"] for run in runs)
    yield Seen(
        "What a program floods us with is not kept",
        f"at most {MOST_MEGABYTES} MB in the whole process",
        f"{most} MB at most",
        most <= MOST_MEGABYTES,
    )


def _budget(runs: list[dict[str, Any]], missing: int) -> Seen:
    over = [run for run in runs if run["over"] - run["bare"] > OVER_MS]
    by_load = sum(run["over"] > OVER_MS for run in runs) - len(over)
    worst = max(runs, key=lambda run: float(run["over"]))
    told = "".join(f"; {run['how']}: {run['over']:.0f} ms" for run in over[:3])
    return Seen(
        f"What hangs, ignores SIGTERM, forks or floods has its time and no more ({LIMIT * 1000:.0f} ms here)",
        f"at most {OVER_MS} ms more, and than what a process that hardly works was late beside it",
        f"{len(over)} of {len(runs):,} runs of {len(KINDS)} kinds, {by_load} more by the machine alone; "
        f"the latest by {worst['over']:.0f} ms "
        f"({worst['how']}; that process by {worst['bare']:.0f})"
        + (f"; {missing} without an end" if missing else "")
        + told,
        not over and not missing,
    )
