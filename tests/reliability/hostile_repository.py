"""Hostile repositories meet every entry point, and the operating system says what was run and read.

With all of it: each repository of ``tests/hostile`` and each entry point, in copies of one process; those that read
the most also as the processes that a client starts. In short: several repositories in one, and two such processes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from hostile.entry_points import FEW, SHORT, calls, in_copies
from hostile.fixtures import FIXTURES, MIXED, staged
from hostile.judge import Verdict, judge
from hostile.place import CANARY
from hostile.races import Raced, race
from hostile.strace import watch

from .promise import Seen

PART = "Hostile repositories"
TRIES, SOME_TRIES = 100_000, 3_000
SHORTEST = ("hook claude: UserPromptSubmit",)


def look(full: bool) -> Iterator[Seen]:
    """Try each promise of this part. Raises RuntimeError where there is no strace: what is not seen does not hold."""
    if not shutil.which("strace"):
        raise RuntimeError("strace is not here: apt-get install -y strace")
    names = list(FIXTURES if full else MIXED)
    found: Counter[str] = Counter()
    told: list[str] = []
    for name in names:
        for verdict in _watched(name, full, found):
            told += [f"{name}: {one}" for one in verdict.sentences()]
            found.update(programs=len(verdict.programs), read=len(verdict.read))
            found.update(connected=len(verdict.connected), leaked=len(verdict.leaked))
    repositories = len(names) if full else sum(map(len, MIXED.values()))
    met = f"{repositories} repositories, {found['calls']} calls of {found['entries']} entry points"
    yield _row(
        "No program runs but Python and git, with git's hooks, monitors and transports off",
        "0 others",
        found["programs"],
        f"others among {found['git']:,} of git, {met}",
    )
    yield _row(
        "Nothing is read outside the repository, upbeat itself, the system and its user's settings",
        "0 files and folders",
        found["read"],
        f"of {found['opened']:,} that were opened; {met}",
    )
    yield _row("No connection is made", "0 but to upbeat's own socket", found["connected"], f"others; {met}")
    yield _row(
        "Nothing of a secret beside the repository is said, logged or indexed",
        "0 leaks",
        found["leaked"],
        f"leaks into outputs and {found['kept']:,} files that were kept; {met}",
    )
    yield _row("A process ends, whatever it is given to read", "0 stuck", found["stuck"], f"stuck; {met}")
    yield from _raced(TRIES if full else SOME_TRIES)
    for line in told[:20]:
        print(f"  {line}", flush=True)


def _row(claim: str, bound: str, count: int, of: str) -> Seen:
    return Seen(claim, bound, f"{count} {of}", count == 0)


def _watched(name: str, full: bool, found: Counter[str]) -> Iterator[Verdict]:
    """What was not allowed in one repository; how much was looked at is counted in ``found``."""
    with staged(name) as place:
        all_ = calls(place)
        chosen = all_ if full else {entry: all_[entry] for entry in FEW}
        found["entries"] = max(found["entries"], len(chosen))
        processes = [
            (in_copies([place], list(chosen)), len(chosen)),
            *((all_[one], 1) for one in (SHORT if full else SHORTEST)),
        ]
        for call, count in processes:
            found["calls"] += count
            try:
                seen = watch(call, place)
            except TimeoutError:
                found["stuck"] += 1
                continue
            found.update(opened=len(seen.opened), git=len(seen.programs))
            yield judge(place, seen)
        for number in range(len(chosen)):
            file = place.log / f"{number}.out"
            said = file.read_bytes() if file.exists() else b"does not end"
            found["stuck"] += b"does not end" in said
            if CANARY.encode() in said.lower():
                yield Verdict(leaked=(f"the output of {list(chosen)[number]}",))
        found["kept"] += _files([place.home])


def _files(folders: Iterable[Path]) -> int:
    return sum(len(files) for folder in folders for _, _, files in os.walk(folder))


def _raced(tries: int) -> Iterator[Seen]:
    folder = tempfile.mkdtemp(prefix="raced-")
    try:
        ours, naive = race(Path(folder).resolve() / "x", tries)
    finally:
        subprocess.run(["rm", "-rf", "--", folder], check=True)
    yield Seen(
        "A link put in place of a file or folder while it is read leads nowhere",
        "0 escapes, while a reader that looks first gets out",
        f"{ours.escapes} escapes in {ours.tries:,} readings ({ours.read:,} gave the file); "
        f"looking first: {naive.escapes:,} in {naive.tries:,}",
        _holds(ours, naive, tries),
    )


def _holds(ours: Raced, naive: Raced, tries: int) -> bool:
    """None got out, files were read at all, and in a whole run there was something to win."""
    return ours.escapes == 0 and ours.read > tries // 10 and (naive.escapes > 0 or tries < TRIES)
