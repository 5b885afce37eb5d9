"""Measure what the journal costs an event, compared with a bare SQLite insert.

    python -m benchmarks.journal [--quick] [RECORDS] [WRITERS]

An event is one transaction: the session's state is read, a record with two parts' words and two effects is cleaned,
chained and stored, and the new state with it. The bare insert stores a text of the same length in one transaction of
the same SQLite with the same settings. Both take turns, on files of the same number of rows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
from journal_values import record, step
from reliability.lost_kills import crowd

from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.codec import canonical_json, encode_record
from upbeat.core.workflow.state import NEW_SESSION

from . import SOURCE, TESTS

RECORDS, WRITERS, EVENTS = 100_000, 50, 20
ROUNDS, QUICK_ROUNDS = 2000, 50
PROCESSES, QUICK_PROCESSES = 15, 3
FILL_AT_ONCE = 1000
SESSIONS = 200

COLD = """
import sys, time
from pathlib import Path
import pydantic
import upbeat.core.engine.handle
from journal_values import record, step
began = time.perf_counter()
from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.journal.store import SqliteJournal
import apsw
times = [time.perf_counter() - began]
journal = SqliteJournal(Path(sys.argv[1]), SystemClock())
for number in range(3):
    began = time.perf_counter()
    with journal.transaction() as transaction:
        facts, state = step(transaction.state("s-1"), number)
        transaction.append(record(facts=facts), state)
    times.append(time.perf_counter() - began)
print(*(each * 1000 for each in times))
"""


def event(journal: SqliteJournal, session_id: str, number: int) -> None:
    with journal.transaction() as transaction:
        facts, state = step(transaction.state(session_id), number)
        transaction.append(record(session_id, at="", facts=facts), state)


def fill(folder: Path, records: int) -> SqliteJournal:
    """A journal with as many records, of many sessions."""
    journal = SqliteJournal(folder, SystemClock())
    for start in range(0, records, FILL_AT_ONCE):
        with journal.transaction() as transaction:
            for number in range(start, start + FILL_AT_ONCE):
                session_id = f"s-{number % SESSIONS}"
                facts, state = step(transaction.state(session_id), number)
                transaction.append(record(session_id, at="", facts=facts), state)
    return journal


def bare(path: Path, records: int, text: str) -> apsw.Connection:
    """A table with as many rows of ``text``."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL").fetchall()
    connection.execute("CREATE TABLE rows (seq INTEGER PRIMARY KEY, body TEXT)")
    with connection:
        connection.executemany("INSERT INTO rows (body) VALUES (?)", ((text,) for _ in range(records)))
    return connection


def insert(connection: apsw.Connection, text: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO rows (body) VALUES (?)", (text,))
    connection.execute("COMMIT")


def timed(work: Callable[[], None]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def row(name: str, times: Sequence[float], base: float) -> str:
    """A line of the table: median, p99, and how many times the base the median is."""
    median, worst = statistics.median(times), sorted(times)[len(times) * 99 // 100]
    return f"| {name} | {median:.2f} | {worst:.2f} | {median / base:.1f} |"


def warm(records: int, rounds: int) -> list[str]:
    """One event in a process that is at work, and one bare insert, in turn."""
    facts, _ = step(NEW_SESSION, 1)
    text = canonical_json(encode_record(record(facts=facts)))
    with tempfile.TemporaryDirectory() as folder:
        journal = fill(Path(folder), records)
        connection = bare(Path(folder, "bare.db"), records, text)
        events, inserts = [], []
        for number in range(rounds):
            inserts.append(timed(lambda: insert(connection, text)))
            events.append(timed(lambda number=number: event(journal, f"s-{number % SESSIONS}", number)))  # type: ignore[misc]
        verify = timed(lambda: print("whole:", journal.verify().is_intact, file=sys.stderr))
        health = journal.health()
    base = statistics.median(inserts)
    return [
        row("bare insert of the same text", inserts, base),
        row(f"one event, {records:,} records", events, base),
        f"| `log verify` of all of it ({health.size_bytes / 2**20:.0f} MB) | {verify:.0f} | | |",
    ]


def cold(processes: int) -> list[str]:
    """The first events of processes, after the core is loaded: what the journal itself adds."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(processes):
            done = subprocess.run(
                [sys.executable, "-c", COLD, folder],
                env={"PYTHONPATH": f"{SOURCE}:{TESTS}"},
                capture_output=True,
                text=True,
                check=True,
            )
            found.append([float(each) for each in done.stdout.split()])
    names = ("loading apsw and the journal", "first event, opening included", "second event", "third event")
    return [
        f"| {name} | {statistics.median(times):.2f} | {max(times):.2f} | |"
        for name, times in zip(names, zip(*found[1:], strict=True), strict=True)
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("records", nargs="?", type=int, help=f"default: {RECORDS}")
    parser.add_argument("writers", nargs="?", type=int, help=f"default: {WRITERS}")
    parser.add_argument("--quick", action="store_true", help="few records, rounds and processes")
    options = parser.parse_args()
    records = options.records or (500 if options.quick else RECORDS)
    writers = options.writers or (2 if options.quick else WRITERS)
    print("| what | median ms | p99 ms | x bare |\n|---|---:|---:|---:|")
    print("\n".join(warm(records, QUICK_ROUNDS if options.quick else ROUNDS)))
    print("\n".join(cold(QUICK_PROCESSES if options.quick else PROCESSES)))
    with tempfile.TemporaryDirectory() as folder:
        result = crowd(Path(folder), writers, EVENTS)
    name = f"{writers} processes, one session, {EVENTS} events each, all at once"
    print(f"| {name} | {result['median_ms']:.1f} | {result['p99_ms']:.1f} | |")
    print(json.dumps(result), file=sys.stderr)


if __name__ == "__main__":
    main()
