"""A server of the user's own tools may do what it likes: a turn, the other servers and the machine do not feel it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fakes.hostile_mcp_server import HOWS
from repositories import make_repository

from .misbehaving_runs import LIMIT_MS
from .promise import Seen
from .workers import results

PART = "Servers that misbehave"
FORGIVEN = {
    *("behaves", "wrong ids", "answers twice", "NaN", "lists without end", "a large list"),
    *("asks for sampling", "asks for elicitation", "asks for roots", "asks for anything"),
    *("ignores SIGTERM", "becomes a daemon", "forks", "forks, ignores SIGTERM"),
}
"""What still gives an answer: it is taken, and nothing is done that was asked for."""
EITHER = {"list_changed 2000 times"}
"""Answers in time on an idle machine."""
OVER_MS = 250
MOST_MEGABYTES = 250
CLOSE_SECONDS = 4.0
SAMPLE = (
    "100 MB in a line",
    "many blocks",
    "hangs at the call",
    "asks for sampling",
    "forks at the call",
    "changes its schema",
)


def look(full: bool) -> Iterator[Seen]:
    with tempfile.TemporaryDirectory(prefix="upbeat-servers-") as name:
        folder = Path(name)
        make_repository(folder / "repo")
        numbers = list(range(1000)) if full else [HOWS.index(how) for how in SAMPLE]
        runs = results("reliability.misbehaving_runs", folder, numbers)
    missing = len(numbers) - len(runs)
    yield _budget(runs, missing)
    fine = [turn["tools"].get("fine.search", ["not asked", 0]) for run in runs for turn in run["turns"]]
    failed = [status for status, _ in fine if status != "ok"]
    yield Seen(
        "Another server that is asked in the same turn answers",
        "all turns",
        f"{len(fine) - len(failed):,} of {len(fine):,} turns in {len(runs):,} sessions",
        not failed and not missing,
    )
    yield from _told(runs)
    most, slowest = max(run["megabytes"] for run in runs), max(run["close"] for run in runs)
    yield Seen(
        "What it sends takes no memory to speak of, 100 MB in one line, in many lines or as data among it",
        f"at most {MOST_MEGABYTES} MB in the whole process",
        f"{most} MB at most",
        most <= MOST_MEGABYTES,
    )
    left = sum(run["left"] for run in runs)
    yield Seen(
        "At the end of a session no process is left, of those that forked, became daemons and ignored SIGTERM",
        f"0 processes, at most {CLOSE_SECONDS:.0f} s",
        f"{left} after {len(runs):,} sessions, slowest end {slowest:.1f} s",
        left == 0 and slowest <= CLOSE_SECONDS and all(run["adopts"] for run in runs),
    )


def _budget(runs: list[dict[str, Any]], missing: int) -> Seen:
    """Each call of the odd server against its limit, beside a bare wait that the machine may have let wait, too."""
    calls = [
        (turn["tools"]["odd.search"][1] - LIMIT_MS, turn["bare"], run["how"]) for run in runs for turn in run["turns"]
    ]
    over = [(late, bare, how) for late, bare, how in calls if late - bare > OVER_MS]
    by_load = sum(late > OVER_MS for late, _, _ in calls) - len(over)
    worst, beside, kind = max(calls)
    told = "".join(f"; {how}: {late} ms" for late, _, how in over[:3])
    return Seen(
        f"A server that hangs, floods, breaks off or lies costs a turn the limit of its tool ({LIMIT_MS} ms)",
        f"at most {OVER_MS} ms more, and than what a process that hardly works was late beside it",
        f"{len(over)} of {len(calls):,} calls, {by_load} more by the machine alone; "
        f"the latest by {max(worst, 0)} ms ({kind}; that process by {beside:.0f})"
        + (f"; {missing} runs without an end" if missing else "")
        + told,
        not over and not missing,
    )


def _told(runs: list[dict[str, Any]]) -> Iterator[Seen]:
    off = [run for run in runs if run["how"] not in FORGIVEN | EITHER]
    silent = [run["how"] for run in off if not _is_off(run["turns"][-1])]
    yield Seen(
        "Its tool is off then, and the turn's limits and the log say why; a changed declaration is never asked",
        "all sessions",
        f"{len(off) - len(silent):,} of {len(off):,} sessions, {len({run['how'] for run in off})} kinds"
        + "".join(f"; {how}" for how in silent[:3]),
        not silent,
    )
    forgiven = [run for run in runs if run["how"] in FORGIVEN]
    served = [run["how"] for run in runs if any(turn["served"] for turn in run["turns"])]
    lost = [run["how"] for run in forgiven if run["turns"][0]["tools"]["odd.search"][0] != "ok"]
    yield Seen(
        "What it asks of us (sampling, elicitation, roots) is refused, and its answer taken all the same",
        "0 served, 0 answers lost",
        f"{len(served)} served, {len(lost)} of {len(forgiven):,} answers lost"
        + "".join(f"; {how}" for how in lost[:3]),
        not served and not lost,
    )


def _is_off(turn: dict[str, Any]) -> bool:
    return turn["tools"]["odd.search"][0] in ("skipped", "error") and "odd.search (" in turn["because"]
