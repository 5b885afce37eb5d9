"""One connection to the journal's SQLite file.

Invariant: no other module imports apsw, and only ``StorageError`` is raised. apsw brings its own SQLite. A version with
the WAL-reset bug (fixed in 3.51.3) is rejected: two processes that write and checkpoint at the same moment can damage
the file, and several processes write to a journal.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import apsw

from upbeat.adapters.system.journal.faults import StorageError, StorageErrorKind, file_identity

FIRST_SAFE_VERSION = (3, 51, 3)
BACKPORTED_FIXES = {(3, 50): 7, (3, 44): 6}
"""Older lines of SQLite that contain the fix from this patch on."""

BUSY_TIMEOUT_SECONDS = 4.0
"""Seconds that one transaction waits for others; a client gives up on a hook after ten."""
_MIN_WAIT, _MAX_WAIT = 0.0005, 0.004
_CONTENTION_AFTER, _CONTENTION_WAIT = 0.2, 0.04
"""Seconds after which contention is assumed, and the longest pause from then on: frequent retries would take the
processor from the writer."""

NETWORK_FILE_SYSTEMS = (
    *("nfs", "cifs", "smb", "9p", "afs", "ceph", "fuse", "gluster", "lustre", "coda", "ncp"),
    *("vboxsf", "prl_fs"),
)
"""The beginnings of the names of file systems without the shared memory that a write-ahead log needs."""

_OPEN_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
_DAMAGE_ERRORS = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.SchemaChangeError)
"""A rejected statement means foreign tables, because all statements are constants of this folder."""


def sqlite_version() -> str:
    """Return the version of the SQLite that stores the journal ("3.51.3")."""
    return str(apsw.sqlite_lib_version())


def is_safe_version(version: str) -> bool:
    """Return whether this version of SQLite ("3.51.3") is free of the WAL-reset bug."""
    parts = tuple(int(part) for part in version.split(".")[:3])
    least = BACKPORTED_FIXES.get((parts[0], parts[1]))
    return parts >= FIRST_SAFE_VERSION or (least is not None and parts[2] >= least)


class Database:
    """A connection to the existing file ``path``. ``identity`` is the file that it is connected to."""

    def __init__(self, path: Path, *, version: str = "", busy_timeout: float = BUSY_TIMEOUT_SECONDS) -> None:
        version = version or sqlite_version()
        if not is_safe_version(version):
            raise StorageError(
                StorageErrorKind.OTHER,
                f"SQLite {version} can damage a file that several processes write; install apsw>=3.51.3 with its own",
            )
        self.path = path
        self.busy_timeout = busy_timeout
        self._waiting_since = 0.0
        self.identity = file_identity(path)
        if self.identity is None:
            raise StorageError(StorageErrorKind.DAMAGED, f"{path.name} is not a regular file")
        with _translate_errors():
            real = os.path.join(os.path.realpath(path.parent), path.name)
            self._connection = apsw.Connection(real, flags=_OPEN_FLAGS, statementcachesize=40)
            self._connection.set_busy_handler(self._on_busy)
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self._connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            self._connection.execute("PRAGMA trusted_schema=OFF; PRAGMA journal_size_limit=4194304")

    def row(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        """Return the first row, or None."""
        with _translate_errors():
            row: tuple[Any, ...] | None = self._connection.execute(sql, values).fetchone()
            return row

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return all rows."""
        with _translate_errors():
            return list(self._connection.execute(sql, values).fetchall())

    def iterate(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows one by one."""
        with _translate_errors():
            yield from self._connection.execute(sql, values)

    def execute(self, sql: str, *values: Any) -> int:
        """Execute ``sql``; return the number of changed rows."""
        with _translate_errors():
            self._connection.execute(sql, values).fetchall()
            return int(self._connection.changes())

    def execute_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Execute ``sql`` once for each of ``rows``."""
        with _translate_errors():
            self._connection.executemany(sql, rows)

    def scalar(self, sql: str, *values: Any) -> int:
        """Return the integer that ``sql`` selects; 0 for none."""
        row = self.row(sql, *values)
        return int(row[0] or 0) if row else 0

    def begin(self) -> None:
        """Begin an exclusive transaction, waiting ``busy_timeout`` seconds for others.

        A read-only file is an error already here; SQLite reports it only with the first write.
        """
        if self._connection.readonly("main"):
            raise StorageError(StorageErrorKind.OTHER, f"{self.path} can only be read")
        if self._connection.in_transaction:
            self.rollback()  # of what an interrupt has left behind
        self.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        """Roll back what was not committed. Never raises."""
        with contextlib.suppress(StorageError, apsw.Error):
            if self._connection.in_transaction:
                self.execute("ROLLBACK")

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads in the block see the same moment."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.rollback()

    def checkpoint(self) -> None:
        """Write the log back into the main file as far as other readers permit, so that freed space is released."""
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file. Never raises."""
        with contextlib.suppress(apsw.Error):
            self._connection.close()

    def ensure_journal_mode(self) -> str:
        """Request the journal mode that fits the file system, wal or delete; return the mode in effect."""
        wanted = "delete" if is_on_network(self.path) else "wal"
        row = self.row("PRAGMA journal_mode")
        if row and row[0] != wanted:
            row = self.row(f"PRAGMA journal_mode={wanted}")
        mode = str(row[0]) if row else ""
        self.execute(f"PRAGMA synchronous={'NORMAL' if mode == 'wal' else 'FULL'}")
        return mode

    def _on_busy(self, tries: int) -> bool:
        """Return whether SQLite tries again while another connection writes.

        A short random pause each time: with SQLite's own, growing ones, those who came first wait longest.
        """
        now = time.monotonic()
        if tries == 0:
            self._waiting_since = now
        longest = _MAX_WAIT if now < self._waiting_since + _CONTENTION_AFTER else _CONTENTION_WAIT
        time.sleep(random.uniform(_MIN_WAIT, longest))  # noqa: S311 -- not for secrets
        return now < self._waiting_since + self.busy_timeout


def is_on_network(path: Path, mounts: str = "/proc/self/mountinfo") -> bool:
    """Return whether ``path`` is on a file system where a write-ahead log does not work."""
    with contextlib.suppress(OSError):
        device = path.stat().st_dev
        if os.major(device):
            return False  # a disk of this machine
        wanted = f"{os.major(device)}:{os.minor(device)}"
        with open(mounts, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                before, _, after = line.partition(" - ")
                if wanted in before.split(" ", 3)[2:3]:
                    return after.startswith(NETWORK_FILE_SYSTEMS)
    return False


@contextlib.contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except _DAMAGE_ERRORS as error:
        raise StorageError(StorageErrorKind.DAMAGED, str(error)) from None
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StorageError(StorageErrorKind.BUSY, str(error)) from None
    except (apsw.Error, OSError) as error:
        raise StorageError(StorageErrorKind.OTHER, str(error) or type(error).__name__) from None
