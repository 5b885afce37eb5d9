"""Whether the journal loses, doubles or spoils anything when its writers are many.

    PYTHONPATH=tests .venv/bin/python -m reliability.journal_load [--writers 50] [--events 20]

Many processes write to one session at the same moment, each with a connection of its own. The exit code is 1 when any
fault was counted. Figures are printed as one JSON object. Writers that are killed: ``lost_kills.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from journal_values import record, step

from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.journal.store import SqliteJournal

SESSION = "s-1"


def write(folder: Path, writer: int, events: int, told: int) -> None:
    """Write ``events`` events; after each, its number and its milliseconds go to the pipe ``told``."""
    journal = SqliteJournal(folder, SystemClock())
    for number in range(events):
        began = time.perf_counter()
        with journal.transaction() as transaction:
            facts, state = step(transaction.state(SESSION), number)
            about = {"writer": writer, "number": number, "text": "some words " * random.randrange(300)}
            transaction.append(record(SESSION, event_fields=about, facts=facts), state)
        os.write(told, f"{number} {(time.perf_counter() - began) * 1000:.3f}\n".encode())


def begin(folder: Path, writer: int, events: int, start: float = 0.0) -> tuple[int, int]:
    """A writer in a process of its own, which begins at the time ``start``: its id, and the pipe it tells through."""
    reading, telling = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.close(reading)
            random.seed(writer)
            time.sleep(max(start - time.time(), 0))
            write(folder, writer, events, telling)
            code = 0
        finally:
            os._exit(code)
    os.close(telling)
    return process, reading


def heard(pipe: int) -> list[list[str]]:
    """Whole lines from a pipe that nobody writes to any more."""
    with open(pipe, "rb") as lines:
        return [line.decode().split() for line in lines if line.endswith(b"\n")]


def crowd(folder: Path, writers: int, events: int) -> dict[str, Any]:
    """Let ``writers`` processes write ``events`` events each, all at once."""
    start = time.time() + 0.2 + writers * 0.01
    begun = [begin(folder, writer, events, start) for writer in range(writers)]
    lines = [(writer, heard(pipe)) for writer, (_, pipe) in enumerate(begun)]
    failed = sum(os.waitpid(process, 0)[1] != 0 for process, _ in begun)
    times = sorted(float(milliseconds) for _, told in lines for _, milliseconds in told)
    wanted = {(writer, number) for writer in range(writers) for number in range(events)}
    figures = {"median_ms": times[len(times) // 2], "p99_ms": times[len(times) * 99 // 100], "worst_ms": times[-1]}
    return {"writers": writers, "events": events, "failed": failed, **figures, **faults(folder, wanted)}


def faults(folder: Path, stored: set[tuple[int, int]]) -> dict[str, Any]:
    """What is missing, double, broken or not as its records say; all zero when all is well."""
    journal = SqliteJournal(folder, SystemClock())
    found = Counter(
        (entry.body["event_fields"]["writer"], entry.body["event_fields"]["number"])
        for entry in journal.records(last=10**9)
    )
    verified, health = journal.verify(), journal.health()
    [session] = journal.sessions()
    return {
        "stored": len(stored),
        "lost": len(stored - set(found)),
        "doubled": sum(count > 1 for count in found.values()),
        "broken": 0 if verified.is_intact else 1,
        "miscounted": abs(session.state.loop.iterations + 1 - sum(found.values())),
        "failures": health.write_failures,
        "set_aside": len(health.damaged_files),
    }


FAULTS = ("lost", "doubled", "broken", "miscounted", "failures", "set_aside", "failed")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writers", type=int, default=50)
    parser.add_argument("--events", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = crowd(Path(folder), options.writers, options.events)
    print(json.dumps(figures))
    return 1 if any(figures[fault] for fault in FAULTS) else 0


if __name__ == "__main__":
    sys.exit(main())
