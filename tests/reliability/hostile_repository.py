"""Hostile repositories meet every entry point, and the operating system says what was run and read.

In a whole run: each repository of ``tests/hostile`` and each entry point, in copies of one process; those that read
the most also as the processes that a client starts. In short: several repositories in one, and two such processes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hostile.entry_points import FEW, SHORT, calls, in_copies
from hostile.fixtures import FIXTURES, MIXED, staged
from hostile.judge import Verdict, judge
from hostile.place import CANARY
from hostile.races import race
from hostile.strace import watch

from .killing import require_strace
from .promise import Scenario, Seen, none_of

PART = "Hostile repositories"
SHORTEST = SHORT[:1]
TRIES, SOME_TRIES = 100_000, 3_000


def visit_repositories(_folder: Path, is_whole: bool) -> Iterator[Seen]:
    """Start every entry point in every repository. Raises NoStrace where there is none."""
    require_strace()
    counts: Counter[str] = Counter()
    verdicts = {name: list(_watched(name, is_whole, counts)) for name in (FIXTURES if is_whole else MIXED)}
    visits = f"{len(FIXTURES) if is_whole else sum(map(len, MIXED.values()))} repositories, {counts['calls']} calls of "
    visits += f"{counts['entries']} entry points"
    for claim, bound, attribute, context in (
        (
            "No program runs but Python and git, with git's hooks, monitors and transports off",
            "0 others",
            "programs",
            f"others among {counts['git']:,} of git, {visits}",
        ),
        (
            "Nothing is read outside the repository, upbeat itself, the system and its user's settings",
            "0 files and folders",
            "read",
            f"of {counts['opened']:,} that were opened; {visits}",
        ),
        ("No connection is made", "0 but to upbeat's own socket", "connected", f"others; {visits}"),
        (
            "Nothing of a secret beside the repository is said, logged or indexed",
            "0 leaks",
            "leaked",
            f"leaks into outputs and {counts['kept']:,} files that were kept; {visits}",
        ),
    ):
        faults = [
            f"{name}: {what}" for name, every in verdicts.items() for each in every for what in getattr(each, attribute)
        ]
        print(*faults[:20], sep="\n", end="", file=sys.stderr)
        yield none_of(claim, bound, faults, context)
    hung = counts["hung"]
    yield Seen("A process ends, whatever it is given to read", "0 hung", f"{hung} hung; {visits}", hung == 0)


def _watched(name: str, is_whole: bool, counts: Counter[str]) -> Iterator[Verdict]:
    """Yield what was not allowed in one repository; ``counts`` says how much was looked at."""
    with staged(name) as place:
        every = calls(place)
        chosen = list(every) if is_whole else list(FEW)
        counts["entries"] = max(counts["entries"], len(chosen))
        processes = [(in_copies([place], chosen), len(chosen))]
        processes += [(every[entry], 1) for entry in (SHORT if is_whole else SHORTEST)]
        for call, count in processes:
            counts["calls"] += count
            try:
                seen = watch(call, place)
            except TimeoutError:
                counts["hung"] += 1
                continue
            counts.update(opened=len(seen.opened), git=len(seen.programs))
            yield judge(place, seen)
        for number, entry in enumerate(chosen):
            path = place.log / f"{number}.out"
            output = path.read_bytes() if path.exists() else b"does not end"
            counts["hung"] += b"does not end" in output
            if CANARY.encode() in output.lower():
                yield Verdict(leaked=(f"the output of {entry}",))
        counts["kept"] += sum(path.is_file() for path in place.home.rglob("*"))


def swap_while_reading(folder: Path, tries: int) -> Iterator[Seen]:
    """Read ``tries`` times what is swapped for links meanwhile; in a whole run there has to be something to win."""
    ours, naive = race(folder / "x", tries)
    yield Seen(
        "A link put in place of a file or folder while it is read leads nowhere",
        "0 escapes, while a check-then-open reader escapes",
        f"{ours.escapes} escapes in {ours.tries:,} readings ({ours.read:,} gave the file); "
        f"looking first: {naive.escapes:,} in {naive.tries:,}",
        ours.escapes == 0 and ours.read > tries // 10 and (naive.escapes > 0 or tries < TRIES),
    )


SCENARIOS = (Scenario(visit_repositories, False, True), Scenario(swap_while_reading, SOME_TRIES, TRIES))
