"""How often files changed of late, from git's log.

Law: days are counted back from the newest commit, not from today, so that the same repository gives the same answer
on every day. The one function here is all that ``ci_hotspot`` knows of history.
"""

from __future__ import annotations

import os
from collections import Counter

from ...core.ports import Cancellation
from ..local.git import run

MAX_COMMITS = 3000
DAY = 86_400
MOST_FILES = 200
"""Files of a commit beyond which it says nothing about any of them: moved, formatted, imported."""


def churn(root: str, days: int, cancelled: Cancellation, seconds: float) -> dict[str, int] | None:
    """How many commits of the last ``days`` changed each file; None without git or in good time."""
    newest = run(root, ("log", "-1", "--format=%ct"), cancelled, seconds)
    if newest is None or not newest.strip().isdigit():
        return None
    since = int(newest) - days * DAY
    arguments = ("log", "-z", "--no-merges", "--no-renames", "--relative", "--name-only", f"-n{MAX_COMMITS}")
    output = run(root, (*arguments, f"--since=@{since}", "--format=%x01%ct"), cancelled, seconds)
    if output is None:
        return None
    counts: Counter[str] = Counter()
    for record in output.split(b"\x01")[1:]:
        head, _, rest = record.partition(b"\0")
        time = int(head.split()[0]) if head.split() else 0
        if time < since:
            continue
        names = [name.lstrip(b"\n") for name in rest.split(b"\0")]
        files = [os.fsdecode(name) for name in names if name]
        if len(files) <= MOST_FILES:
            counts.update(files)
    return dict(counts)
