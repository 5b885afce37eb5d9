"""The journal on a disk that refuses: each call of SQLite to its file system fails once, one after another.

Invariant: it is SQLite's own file system that fails (a VFS between it and the system), in a process of its own, and no
other call fails than the one that is meant: once (EIO), or with every later one (ENOSPC, until there is room again).
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw

from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.record import Retention

from .lost_victims import append, open_journal, written
from .promise import Seen

WRITES = ("open", "write", "sync", "truncate", "delete")
READS = ("read",)
FEW = 6
"""Calls of each scenario that fail where little time is."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What fails: the call ``at`` (from 1) of ``calls``, and with ``stays`` all that come later."""

    calls: tuple[str, ...]
    at: int
    code: int
    stays: bool


class FailingDisk(apsw.VFS):
    """SQLite's file system, which fails as ``fault`` says while ``is_armed``; ``seen`` counts the calls meant."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.is_armed = False
        self.seen = 0
        super().__init__("failing", base="unix", makedefault=True)

    def pass_or_fail(self, call: str) -> None:
        if not self.is_armed or call not in self.fault.calls:
            return
        self.seen += 1
        if self.seen == self.fault.at or (self.fault.stays and self.seen > self.fault.at > 0):
            raise apsw.exception_for(self.fault.code)

    def excepthook(self, *_: object) -> None:
        """What is raised here on purpose needs no traceback on stderr."""

    def xOpen(self, name: Any, flags: list[int]) -> FailingFile:  # noqa: N802 -- SQLite's names
        self.pass_or_fail("open")
        return FailingFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.pass_or_fail("delete")
        super().xDelete(filename, syncdir)


class FailingFile(apsw.VFSFile):
    def __init__(self, disk: FailingDisk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("unix", name, flags)

    def excepthook(self, *_: object) -> None:
        """As above."""

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.pass_or_fail("write")
        super().xWrite(data, offset)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.pass_or_fail("read")
        return super().xRead(amount, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.pass_or_fail("sync")
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.pass_or_fail("truncate")
        super().xTruncate(size)


# What happens while it fails


def nothing(folder: Path) -> None:
    """No file yet: the event makes it."""


def some_records(folder: Path) -> None:
    journal = open_journal(folder)
    for number in range(5):
        append(journal, 0, number, 400)


def full_log(folder: Path) -> None:
    """So much in the write-ahead log that the next event brings it into the main file."""
    journal, number = open_journal(folder), 0
    wal = folder / "upbeat/journal.db-wal"
    while number < 5 or wal.stat().st_size < 995 * 4120:
        append(journal, 0, number, 8000)
        number += 1


@dataclass(frozen=True, slots=True)
class Scenario:
    """``prepare`` makes what is there; ``days`` and ``most`` make the event prune."""

    name: str
    prepare: Callable[[Path], None]
    days: int = 0


SCENARIOS = (
    Scenario("the first event", nothing),
    Scenario("an event", some_records),
    Scenario("an event that checkpoints", full_log),
    Scenario("an event that prunes", some_records, days=1),
)


class LaterClock:
    """Some days later."""

    def __init__(self, days: int) -> None:
        self._later = timedelta(days=days)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._later


def journal_of(folder: Path, scenario: Scenario) -> SqliteJournal:
    retention = Retention(max_days=36500, max_mb=10**6)
    return SqliteJournal(folder, LaterClock(scenario.days), lambda: retention)  # type: ignore[arg-type]


def outcome(prepared: Path, scenario: Scenario, fault: Fault) -> dict[str, Any]:
    """What came of one event in a copy of ``prepared`` while the disk failed, and of the next one."""
    with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name:
        folder = Path(name, "state")
        shutil.copytree(prepared, folder)
        had = written(open_journal(folder)) if (folder / "upbeat/journal.db").exists() else []
        told = in_child(lambda: happen(folder, scenario, fault))
        journal = open_journal(folder)
        found, verified, health = written(journal), journal.verify(), journal.health()
        wanted = {*had, *(tuple(one) for one in told.get("kept", []))}
        return {
            "fired": told.get("seen", 0) >= fault.at,
            "seen": told.get("seen", 0),
            "raised": "raised" in told or not told,
            "lost": len(wanted - set(found)),
            "doubled": sum(count > 1 for count in Counter(found).values()),
            "unreadable": int(not verified.is_intact or bool(health.problem)),
            "set_aside": len(health.damaged_files),
            "not_stored_after": int((1, 1) not in found),
        }


def happen(folder: Path, scenario: Scenario, fault: Fault) -> dict[str, Any]:
    """The event while the disk fails, and the next one when it works again; runs in a process of its own."""
    disk = FailingDisk(fault)
    journal = journal_of(folder, scenario)
    kept = []
    for number in range(2):
        failures = len(journal.file.failures())
        disk.is_armed = number == 0
        append(journal, 1, number, 400)
        if len(journal.file.failures()) == failures:
            kept.append((1, number))
    return {"seen": disk.seen, "kept": kept}


def in_child(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What ``work`` gives in a process of its own; ``raised`` is what it raised."""
    reading, telling = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.close(reading)
            try:
                told = work()
            except Exception as error:
                told = {"raised": repr(error)}
            os.write(telling, json.dumps(told).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(telling)
    with open(reading, "rb") as told_by:
        text = told_by.read()
    os.waitpid(process, 0)
    return json.loads(text) if text else {}


KINDS = (("ENOSPC", apsw.SQLITE_FULL, True), ("EIO", apsw.SQLITE_IOERR_WRITE, False), ("EIO", apsw.SQLITE_IOERR, True))
BAD = ("raised", "lost", "doubled", "unreadable", "set_aside", "not_stored_after")


def tried(scenario: Scenario, calls: tuple[str, ...], *, full: bool) -> tuple[int, int, Counter[str]]:
    """How many calls there are, how often one failed, and what was wrong afterwards."""
    figures: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name:
        prepared = Path(name, "state")
        prepared.mkdir()
        scenario.prepare(prepared)
        number = outcome(prepared, scenario, Fault(calls, 10**9, apsw.SQLITE_IOERR, stays=False))["seen"]
        places = range(1, number + 1, 1 if full else max(number // FEW, 1))
        kinds = KINDS if full else KINDS[:2]
        for at in places:
            for _, code, stays in kinds:
                came = outcome(prepared, scenario, Fault(calls, at, code, stays))
                figures["fired"] += came["fired"]
                figures.update({fault: int(came[fault]) for fault in BAD})
    return number, figures["fired"], figures


def look(full: bool) -> Iterator[Seen]:
    """Every write of SQLite, and every read, fails in turn."""
    for what, calls, scenarios in (("write", WRITES, SCENARIOS), ("read", READS, SCENARIOS[1:2])):
        figures: Counter[str] = Counter()
        numbers = []
        for scenario in scenarios:
            number, _, found = tried(scenario, calls, full=full)
            figures.update(found)
            numbers.append(f"{number} in {scenario.name}")
        faults = ", ".join(f"{figures[fault]} {fault.replace('_', ' ')}" for fault in BAD)
        yield Seen(
            f"Every {what} of the journal's SQLite fails in turn (ENOSPC until there is room, EIO): no "
            "exception, nothing acknowledged lost or doubled, no file set aside, and the next event is stored",
            f"0 faults; {what}s: " + ", ".join(numbers),
            f"{faults}; a {what} failed in {figures['fired']} events",
            not any(figures[fault] for fault in BAD) and figures["fired"] > 0,
        )
