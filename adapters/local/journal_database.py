"""One connection to the journal's SQLite file. Law: nobody else imports apsw, and nothing but ``StorageError`` leaves.

apsw brings its own SQLite. One with the WAL-reset bug (fixed in 3.51.3) is refused: two processes that write and
checkpoint at the same moment can damage the file, and several processes writing is what a journal is for.
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

from .journal_trouble import StorageError, Trouble, identity_of

FIRST_SOUND = (3, 51, 3)
BACKPORTED = {(3, 50): 7, (3, 44): 6}
"""Older lines of SQLite that have the mend from this patch on."""

PATIENCE = 4.0
"""Seconds that one transaction waits for others; a client gives up on a hook after ten."""
_LEAST_WAIT, _MOST_WAIT = 0.0005, 0.004
_CROWD_AFTER, _CROWD_WAIT = 0.2, 0.04
"""Seconds after which others are taken for a crowd, and the longest pause then: those who ask again and again take the
processor from the one who writes."""

NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "fuse", "gluster", "lustre", "coda", "ncp", "vboxsf", "prl_fs")
"""Kinds of file system without the shared memory that a write-ahead log needs; each with what begins so."""

_OPEN = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.SchemaChangeError)
"""SQL that SQLite does not take means other tables than ours: all of it is text in this folder."""


def sqlite_version() -> str:
    """The version of the SQLite that the journal is kept with ("3.51.3")."""
    return str(apsw.sqlite_lib_version())


def is_sound(version: str) -> bool:
    """Whether this SQLite ("3.51.3") is free of the WAL-reset bug."""
    parts = tuple(int(part) for part in version.split(".")[:3])
    least = BACKPORTED.get((parts[0], parts[1]))
    return parts >= FIRST_SOUND or (least is not None and parts[2] >= least)


class Database:
    """A connection to the existing file ``path``. ``identity`` is the file that it is connected to."""

    def __init__(self, path: Path, *, version: str = "", patience: float = PATIENCE) -> None:
        version = version or sqlite_version()
        if not is_sound(version):
            raise StorageError(
                Trouble.OTHER,
                f"SQLite {version} can damage a file that several processes write; install apsw>=3.51.3 with its own",
            )
        self.path = path
        self.patience = patience
        self._waits_since = 0.0
        self.identity = identity_of(path)
        if self.identity is None:
            raise StorageError(Trouble.DAMAGED, f"{path.name} is not a regular file")
        with _translated():
            real = os.path.join(os.path.realpath(path.parent), path.name)
            self._connection = apsw.Connection(real, flags=_OPEN, statementcachesize=40)
            self._connection.set_busy_handler(self._wait)
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self._connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            self._connection.execute("PRAGMA trusted_schema=OFF; PRAGMA journal_size_limit=4194304")

    def row(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        """The first row, or None."""
        with _translated():
            found: tuple[Any, ...] | None = self._connection.execute(sql, values).fetchone()
            return found

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows."""
        with _translated():
            return list(self._connection.execute(sql, values).fetchall())

    def each(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """The rows one by one; for many."""
        with _translated():
            yield from self._connection.execute(sql, values)

    def run(self, sql: str, *values: Any) -> int:
        """Do it; the number of rows changed."""
        with _translated():
            self._connection.execute(sql, values).fetchall()
            return int(self._connection.changes())

    def many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Do it once for each of ``rows``."""
        with _translated():
            self._connection.executemany(sql, rows)

    def number(self, sql: str, *values: Any) -> int:
        """The one whole number that ``sql`` gives; 0 for none."""
        found = self.row(sql, *values)
        return int(found[0] or 0) if found else 0

    def begin(self) -> None:
        """Begin to write, alone; waits for others for ``patience`` seconds.

        SQLite itself tells only whoever writes that a file is read-only; here nobody reads what cannot be kept up.
        """
        if self._connection.readonly("main"):
            raise StorageError(Trouble.OTHER, f"{self.path} can only be read")
        self.rollback()  # of what an interrupt has left behind
        self.run("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self.run("COMMIT")

    def rollback(self) -> None:
        """Undo what was not committed; never raises."""
        with contextlib.suppress(StorageError, apsw.Error):
            if self._connection.in_transaction:
                self.run("ROLLBACK")

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads in the block see the same moment."""
        self.run("BEGIN")
        try:
            yield
        finally:
            self.rollback()

    def checkpoint(self) -> None:
        """Bring everything into the main file, so that freed space is given back; as far as others let it."""
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Let go of the file; never raises."""
        with contextlib.suppress(apsw.Error):
            self._connection.close()

    def prepare_mode(self) -> str:
        """The journal mode in force, after asking for the one that fits the file system: wal or delete."""
        wanted = "delete" if is_network(self.path) else "wal"
        found = self.row("PRAGMA journal_mode")
        if found and found[0] != wanted:
            found = self.row(f"PRAGMA journal_mode={wanted}")
        mode = str(found[0]) if found else ""
        self.run(f"PRAGMA synchronous={'NORMAL' if mode == 'wal' else 'FULL'}")
        return mode

    def _wait(self, tries: int) -> bool:
        """Called by SQLite while somebody else writes: whether to try again.

        A short random pause each time: with SQLite's own, growing ones, those who came first wait longest.
        """
        now = time.monotonic()
        if tries == 0:
            self._waits_since = now
        longest = _MOST_WAIT if now < self._waits_since + _CROWD_AFTER else _CROWD_WAIT
        time.sleep(random.uniform(_LEAST_WAIT, longest))  # noqa: S311 -- not for secrets
        return now < self._waits_since + self.patience


def is_network(path: Path, mounts: str = "/proc/self/mountinfo") -> bool:
    """Whether ``path`` lies on a file system where a write-ahead log does not work."""
    with contextlib.suppress(OSError):
        device = path.stat().st_dev
        if os.major(device):
            return False  # a disk of this machine
        wanted = f"{os.major(device)}:{os.minor(device)}"
        with open(mounts, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                before, _, after = line.partition(" - ")
                if wanted in before.split(" ", 3)[2:3]:
                    return after.startswith(NETWORK)
    return False


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        raise StorageError(Trouble.DAMAGED, str(error)) from None
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StorageError(Trouble.BUSY, str(error)) from None
    except (apsw.Error, OSError) as error:
        raise StorageError(Trouble.OTHER, str(error) or type(error).__name__) from None
