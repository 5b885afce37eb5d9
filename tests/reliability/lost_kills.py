"""Concurrent writers and killed writers: nothing that they acknowledged is lost, duplicated or damaged.

A process writes as fast as it can and says of each record when it is stored. Killed ones get SIGKILL at a random
moment; what they left is looked at each time, and the next process goes on with it.
"""

from __future__ import annotations

import os
import random
import select
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .lost_victims import SIZES, VICTIMS, JournalVictim, Victim, open_journal
from .promise import Seen, none_counted

LIFE_IN_WRITES = 4.0
"""How long a writer may live at most, from its start or from its first record, in writes of what it writes."""
LEAST_LIFE, MOST_LIFE = 0.01, 0.4
"""Seconds."""
PATIENCE = 20.0
SAME_FOLDER = 100
"""Kills until the folder is looked at as a whole, and the next one begun."""
RECORDS = 10**6
CROWD_SIZE = 1650
"""Bytes of text in a record of a crowd."""
FAULTS = ("lost", "duplicated", "unreadable", "hung", "left_behind")


class Writer:
    """A writer of so many records in a process of its own, which begins at the time ``start``."""

    def __init__(
        self, victim: Victim, folder: Path, number: int, size: int, records: int = RECORDS, start: float = 0.0
    ) -> None:
        victim.refresh(folder, size)
        self.pipe, reports = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(reports)
            return
        try:
            os.close(self.pipe)
            time.sleep(max(start - time.time(), 0))
            write = victim.writer(folder, number, size)
            for record in range(records):
                began = time.perf_counter()
                if not write(record):
                    break
                os.write(reports, f"{record} {(time.perf_counter() - began) * 1000:.3f}\n".encode())
            if records == RECORDS:
                signal.pause()
            os._exit(0)
        finally:
            os._exit(1)

    def wait(self) -> dict[int, float]:
        """Wait for its end; return what it acknowledged: record -> milliseconds."""
        with open(self.pipe, "rb") as lines:
            reports = [line.split() for line in lines if line.endswith(b"\n")]
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return {int(record): float(milliseconds) for record, milliseconds in reports}


def crowd(folder: Path, writers: int, events: int) -> dict[str, Any]:
    """Let ``writers`` processes write ``events`` events each to one session, all at once; return times and faults."""
    victim, start = JournalVictim(), time.time() + 0.2 + writers * 0.01
    begun = [Writer(victim, folder, number, CROWD_SIZE, events, start) for number in range(writers)]
    times: list[float] = []
    for number, writer in enumerate(begun):
        stored = writer.wait()
        times += stored.values()
        victim.acknowledge(number, stored)
    times.sort()
    [session] = open_journal(folder).sessions()
    return {
        "median_ms": times[len(times) // 2],
        "p99_ms": times[len(times) * 99 // 100],
        "worst_ms": times[-1],
        "stored": len(times),
        "failed": sum(writer.code != 0 for writer in begun),
        "miscounted": abs(session.state.loop.iterations + 1 - len(times)),
        "wrong": victim.left_behind(folder),
    }


def kill(folder: Path, victim: Victim, size: int, kills: int, seed: int) -> Counter[str]:
    """Kill a writer of ``victim`` ``kills`` times; return what was counted: faults, and how much was looked at."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    for first in range(0, kills, SAME_FOLDER):
        place = folder / f"{victim.name} {size} {first}"
        place.mkdir()
        victim.prepare(place, size)
        times = list(Writer(victim, place, -1, size, 2).wait().values())
        life = LIFE_IN_WRITES * (times[-1] / 1000 if times else MOST_LIFE)
        for number in range(first + 1, min(first + SAME_FOLDER, kills) + 1):
            stored = _kill_writer(victim, place, number, size, chance.uniform(0, max(life, LEAST_LIFE)))
            counts += Counter(hung=int(stored is None), records=len(stored or []))
            counts += victim.faults(place, number, stored or [], size)
        Writer(victim, place, 0, size, 2).wait()
        counts += Counter(left_behind=len(victim.left_behind(place)))
    return counts


def _kill_writer(victim: Victim, folder: Path, number: int, size: int, seconds: float) -> Sequence[int] | None:
    """Return the records that a writer acknowledged before it was killed after ``seconds``.

    Every other one has that time from its first record on, the rest from their start: they may still be opening what
    the one before left. None when a first record did not come at all.
    """
    writer, is_from_start = Writer(victim, folder, number, size), number % 2 == 0
    is_at_work = is_from_start or bool(select.select([writer.pipe], [], [], PATIENCE)[0])
    time.sleep(seconds)
    os.kill(writer.pid, signal.SIGKILL)
    stored = list(writer.wait())
    return stored if is_at_work and (stored or is_from_start) else None


def kill_writers(folder: Path, amount: tuple[int, int]) -> Iterator[Seen]:
    """Kill so many writers of each kind of file, for so many sizes each."""
    kills, sizes = amount[0], SIZES[: amount[1]]
    for seed, victim in enumerate(VICTIMS):
        counts: Counter[str] = Counter()
        for size in sizes:
            counts += kill(folder, victim, size, kills, seed)
        yield none_counted(
            f"A writer of the {victim.name} is killed at a random moment: nothing acknowledged is lost or duplicated, "
            "the file can be read, the next write works and leaves nothing behind",
            f"0 faults, {kills:,} kills for each of {len(sizes)} sizes ({', '.join(f'{size:,}' for size in sizes)} B)",
            counts,
            FAULTS,
            f"{counts['records']:,} records acknowledged, {kills * len(sizes):,} kills",
            holds=counts["records"] > kills,
        )
