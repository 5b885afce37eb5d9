"""Whether a writer that is killed in the middle loses, doubles or spoils anything that it had acknowledged.

    PYTHONPATH=tests .venv/bin/python -m reliability.lost_kills [VICTIM] [--size B] [--kills 1000] [--seed 1]

A process writes as fast as it can and says of each record when it is stored; SIGKILL comes at a random moment. What it
left is looked at each time, and the next process goes on with it. The exit code is 1 when any fault was counted.
Figures are printed as one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .lost_victims import SIZES, VICTIMS, Victim
from .promise import Seen

LIFE_IN_WRITES = 4.0
"""How long a writer may live at most, from its start or from its first record, in writes of what it writes."""
LEAST_LIFE, MOST_LIFE = 0.01, 0.4
"""Seconds."""
PATIENCE = 20.0
SAME_FOLDER = 100
"""Kills until the folder is looked at as a whole, and the next one begun."""
RECORDS = 10**6


def kill(victim: Victim, size: int, kills: int, seed: int) -> Counter[str]:
    """Kill a writer of ``victim`` ``kills`` times; what was counted: faults, and how much was looked at."""
    chance = random.Random(seed)
    figures: Counter[str] = Counter()
    for first in range(0, kills, SAME_FOLDER):
        with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name:
            folder = Path(name)
            victim.prepare(folder, size)
            life = seconds_of_a_write(victim, folder, -1, size) * LIFE_IN_WRITES
            for writer in range(first + 1, min(first + SAME_FOLDER, kills) + 1):
                told = killed(victim, folder, writer, size, chance.uniform(0, max(life, LEAST_LIFE)))
                figures += Counter(stuck=int(told is None), records=len(told or []))
                figures += victim.faults(folder, writer, told or [], size)
            seconds_of_a_write(victim, folder, 0, size)
            figures += Counter(left_behind=len(victim.left_behind(folder)))
    return figures


def seconds_of_a_write(victim: Victim, folder: Path, writer: int, size: int) -> float:
    """What the second record of a writer takes that is not killed."""
    process, pipe = begun(victim, folder, writer, size, 2)
    with open(pipe, "rb") as lines:
        times = [time.perf_counter() for _ in lines]
    os.waitpid(process, 0)
    return times[-1] - times[0] if times else MOST_LIFE


def killed(victim: Victim, folder: Path, writer: int, size: int, seconds: float) -> list[int] | None:
    """The records that a writer acknowledged before it was killed after ``seconds``.

    Every other one has that time from its first record on, the rest from their start: they may still be opening what
    the one before left. None when a first record did not come at all.
    """
    process, pipe = begun(victim, folder, writer, size, RECORDS)
    is_at_work = writer % 2 == 0 or bool(select.select([pipe], [], [], PATIENCE)[0])
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    with open(pipe, "rb") as lines:
        told = [int(line) for line in lines if line.endswith(b"\n")]
    return told if is_at_work and (told or writer % 2 == 0) else None


def begun(victim: Victim, folder: Path, writer: int, size: int, records: int) -> tuple[int, int]:
    """A writer of so many records in a process of its own: its id, and the pipe it tells through."""
    victim.refresh(folder, size)
    reading, telling = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(reading)
            write = victim.writer(folder, writer, size)
            for number in range(records):
                if not write(number):
                    break
                os.write(telling, b"%d\n" % number)
            if records == RECORDS:
                signal.pause()
        finally:
            os._exit(1)
    os.close(telling)
    return process, reading


FAULTS = ("lost", "doubled", "unreadable", "stuck", "left_behind")


def look(full: bool) -> Iterator[Seen]:
    """The promise for each kind of file, over all sizes."""
    kills, sizes = (1000, SIZES) if full else (4, SIZES[:2])
    for number, victim in enumerate(VICTIMS):
        found: Counter[str] = Counter()
        for size in sizes:
            found += kill(victim, size, kills, number)
        faults = " ".join(f"{found[fault]} {fault.replace('_', ' ')}," for fault in FAULTS)
        yield Seen(
            f"A writer of the {victim.name} is killed at a random moment: nothing acknowledged is lost or doubled, "
            "the file can be read, the next write works and leaves nothing behind",
            f"0 faults, {kills:,} kills for each of {len(sizes)} sizes ({', '.join(f'{size:,}' for size in sizes)} B)",
            f"{faults.rstrip(',')}; {found['records']:,} records acknowledged, {kills * len(sizes):,} kills",
            not any(found[fault] for fault in FAULTS) and found["records"] > kills,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("victim", nargs="*", default=[victim.name for victim in VICTIMS])
    parser.add_argument("--size", type=int, choices=SIZES)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    for victim in VICTIMS:
        sizes = [options.size] if options.size else SIZES
        for size in sizes if victim.name in options.victim else ():
            began = time.monotonic()
            found = kill(victim, size, options.kills, options.seed)
            seconds = round(time.monotonic() - began, 1)
            figures[f"{victim.name}, {size}"] = {"kills": options.kills, **dict(found), "seconds": seconds}
    print(json.dumps(figures))
    return 1 if any(told.get(fault) for told in figures.values() for fault in FAULTS) else 0


if __name__ == "__main__":
    sys.exit(main())
