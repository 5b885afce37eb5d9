"""The journal on a disk that refuses: each call of SQLite to its file system fails once, one after another.

Invariant: it is SQLite's own file system that fails (a VFS between it and the system), in a process of its own, and no
other call fails than the one that is meant: once (EIO), or with every later one (ENOSPC, until there is room again).
"""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw

from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.record import Retention, VerificationResult

from .lost_victims import append, open_journal, written
from .promise import Seen, none_counted

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


PREPARED = {
    "the first event": (nothing, 0),
    "an event": (some_records, 0),
    "an event that checkpoints": (full_log, 0),
    "an event that prunes": (some_records, 1),
}
"""What happens -> what makes what is there before, and after how many days it happens: old records are pruned."""


class LaterClock:
    """Some days later."""

    def __init__(self, days: int) -> None:
        self._later = timedelta(days=days)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._later

    def monotonic(self) -> float:
        return time.monotonic()


def _is_broken(verified: VerificationResult) -> bool:
    """Return whether the journal is damaged, beyond lacking the records of one that was set aside."""
    found = verified.chain_break
    return bool(verified.inconsistent_sessions) or (found is not None and "is gone" not in found.problem)


def try_fault(prepared: Path, days: int, fault: Fault) -> Counter[str]:
    """Return what came of one event in a copy of ``prepared`` while the disk failed, and of the next one."""
    with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name:
        folder = Path(name, "state")
        shutil.copytree(prepared, folder)
        had = written(open_journal(folder)) if (folder / "upbeat/journal.db").exists() else []
        kept: list[tuple[int, int]] = []
        seen, has_raised = 0, False
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as child:
            try:
                seen, kept = child.submit(happen, folder, days, fault).result()
            except Exception:
                has_raised = True
        journal = open_journal(folder)
        stored, verified, health = written(journal), journal.verify(), journal.health()
        return Counter(
            fired=int(seen >= fault.at),
            seen=seen,
            raised=int(has_raised),
            lost=len({*had, *kept} - set(stored)),
            duplicated=sum(count > 1 for count in Counter(stored).values()),
            unreadable=int(_is_broken(verified) or bool(health.problem)),
            set_aside=len(health.damaged_files),
            not_stored_after=int((1, 1) not in stored),
        )


def happen(folder: Path, days: int, fault: Fault) -> tuple[int, list[tuple[int, int]]]:
    """Let the event happen while the disk fails, and the next one when it works again; in a process of its own.

    Returns how many calls were seen that could have failed, and which of both events are acknowledged.
    """
    disk = FailingDisk(fault)
    retention = Retention(max_days=36500, max_mb=10**6)
    journal = SqliteJournal(folder, LaterClock(days), lambda: retention)  # type: ignore[arg-type]
    kept = []
    for number in range(2):
        failures = len(journal.file.failures())
        disk.is_armed = number == 0
        append(journal, 1, number, 400)
        if len(journal.file.failures()) == failures:
            kept.append((1, number))
    return disk.seen, kept


KINDS = ((apsw.SQLITE_FULL, True), (apsw.SQLITE_IOERR_WRITE, False), (apsw.SQLITE_IOERR, True))
"""ENOSPC, EIO once, EIO from then on: the code, and whether it stays."""
BAD = ("raised", "lost", "duplicated", "unreadable", "set_aside", "not_stored_after")


def fail_calls(folder: Path, is_whole: bool) -> Iterator[Seen]:
    """Let every write of SQLite, and every read, fail in turn; some of them where little time is."""
    for call, calls, names in (("write", WRITES, list(PREPARED)), ("read", READS, ["an event"])):
        counts: Counter[str] = Counter()
        numbers = []
        for name in names:
            prepare, days = PREPARED[name]
            prepared = folder / f"{call} {name}"
            prepared.mkdir()
            prepare(prepared)
            number = try_fault(prepared, days, Fault(calls, 10**9, apsw.SQLITE_IOERR, stays=False))["seen"]
            numbers.append(f"{number} in {name}")
            for at in range(1, number + 1, 1 if is_whole else max(number // FEW, 1)):
                for code, stays in KINDS if is_whole else KINDS[:2]:
                    counts += try_fault(prepared, days, Fault(calls, at, code, stays))
        yield none_counted(
            f"Every {call} of the journal's SQLite fails in turn (ENOSPC until there is room, EIO): no "
            "exception, nothing acknowledged lost or duplicated, no file set aside, and the next event is stored",
            f"0 faults; {call}s: " + ", ".join(numbers),
            counts,
            BAD,
            f"a {call} failed in {counts['fired']} events",
            holds=counts["fired"] > 0,
        )
