"""The journal's place on disk: private, and good for use again whatever is found there.

Law: what cannot be used is renamed, never deleted, so that a person can look at it; of such files the latest are kept.
Only one process at a time makes, migrates or sets aside a file, and none that another one has just made.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .journal_schema import VERSION, migrate, version_of
from .journal_trouble import StorageError, Trouble, identity_of
from .lock import locked

if TYPE_CHECKING:
    from .journal_database import Database

FILE = "journal.db"
COMPANIONS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside its file."""
LOCK = "journal.lock"
FAILURES = "journal.failures"
MAX_FAILURES = 64 * 1024
"""Bytes of the file that counts failures, one line each."""
MOST_DAMAGED = 3
LEAST_ROOM = 1024 * 1024
DAMAGED = re.compile(r"journal\.damaged-[0-9TZ]+(-[0-9]+)?\.db")

_LOCK_SECONDS = 5.0
_CREATE = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
_TOO_OPEN = 0o077


class JournalFile:
    """The files of one user's journal below ``state_home``."""

    def __init__(self, state_home: Path) -> None:
        self.folder = state_home / "upbeat"
        self.path = self.folder / FILE

    def open(self) -> Database:
        """A connection to a file of the present version, made if need be. Raises StorageError."""
        try:
            self._make_private()
            with _closed_on_failure(_connect(self.path)) as database:
                if version_of(database) != VERSION:
                    with self.alone():
                        migrate(database)
                database.prepare_mode()
        except OSError as error:
            raise StorageError(Trouble.OTHER, f"{error.filename or self.path}: {error.strerror}") from None
        return database

    def open_to_read(self) -> Database | None:
        """A connection to what is there; None when there is nothing. Makes no file. Raises StorageError."""
        if not os.path.lexists(self.path):
            return None
        with _closed_on_failure(_connect(self.path)) as database:
            found = version_of(database)
            if found > VERSION:
                migrate(database)
        if found < VERSION:
            database.close()
            return None
        return database

    def set_aside(self, seen: tuple[int, int] | None, stamp: str) -> str:
        """Rename the file that was ``seen`` to be unusable; its new name.

        Empty when somebody else has done so. Raises StorageError when it cannot be renamed.
        """
        try:
            with self.alone():
                if not os.path.lexists(self.path) or identity_of(self.path) != seen:
                    return ""
                name = self._free_name(stamp)
                os.rename(self.path, self.folder / name)
                for suffix in COMPANIONS:
                    with contextlib.suppress(FileNotFoundError):
                        os.rename(self.folder / (FILE + suffix), self.folder / (name + suffix))
                self._sweep()
                return name
        except OSError as error:
            raise StorageError(Trouble.OTHER, f"{self.path} cannot be set aside: {error.strerror}") from None

    def obstacle(self) -> str:
        """Why nothing could be stored here even in a new file; empty when something could."""
        near = self.folder
        while not os.path.lexists(near) and near != near.parent:
            near = near.parent
        if not near.is_dir():
            return f"{near} is not a folder"
        if not os.access(near, os.W_OK | os.X_OK):
            return f"{near} cannot be written"
        try:
            room = os.statvfs(near)
        except OSError as error:
            return f"{near}: {error.strerror}"
        return f"no room left at {near}" if room.f_bavail * room.f_frsize < LEAST_ROOM else ""

    def damaged(self) -> tuple[str, ...]:
        """The names of files that were set aside, the oldest first."""
        try:
            return tuple(sorted(name for name in os.listdir(self.folder) if DAMAGED.fullmatch(name)))
        except OSError:
            return ()

    def count_failure(self, line: str) -> None:
        """Note that an event could not be stored; never raises."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with contextlib.suppress(OSError):
            descriptor = os.open(self.folder / FAILURES, flags, 0o600)
            try:
                if os.fstat(descriptor).st_size < MAX_FAILURES:
                    os.write(descriptor, (" ".join(line.split())[:300] + "\n").encode("utf-8", "replace"))
            finally:
                os.close(descriptor)

    def failures(self) -> tuple[str, ...]:
        """The lines noted so far, the oldest first."""
        try:
            descriptor = os.open(self.folder / FAILURES, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, encoding="utf-8", errors="replace") as file:
                return tuple(file.read(2 * MAX_FAILURES).splitlines())
        except OSError:
            return ()

    def forget_failures(self) -> None:
        """Begin to count anew; never raises."""
        with contextlib.suppress(OSError):
            os.unlink(self.folder / FAILURES)

    def bytes(self) -> int:
        """What the journal takes on disk, its companions included."""
        total = 0
        for suffix in ("", *COMPANIONS):
            with contextlib.suppress(OSError):
                total += os.lstat(self.folder / (FILE + suffix)).st_size
        return total

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """One process at a time; after some seconds, or on a file system without locks, it goes on all the same."""
        with locked(self.folder / LOCK, _LOCK_SECONDS):
            yield

    def _make_private(self) -> None:
        """The folder and an empty file, for nobody else's eyes. SQLite gives its companions the same mode."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        _close_to_others(self.folder)
        try:
            os.close(os.open(self.path, _CREATE, 0o600))
        except FileExistsError:
            _close_to_others(self.path)

    def _free_name(self, stamp: str) -> str:
        names = (f"journal.damaged-{stamp}{f'-{number}' if number else ''}.db" for number in range(1000))
        return next(name for name in names if not os.path.lexists(self.folder / name))

    def _sweep(self) -> None:
        for name in self.damaged()[:-MOST_DAMAGED]:
            for suffix in ("", *COMPANIONS):
                with contextlib.suppress(OSError):
                    os.unlink(self.folder / (name + suffix))


def _connect(path: Path) -> Database:
    """Only here SQLite is loaded: a command that writes no record does without."""
    try:
        from .journal_database import Database
    except ImportError as error:
        raise StorageError(Trouble.OTHER, f"{error}; install upbeat anew, or apsw>=3.51.3 beside it") from None
    return Database(path)


@contextlib.contextmanager
def _closed_on_failure(database: Database) -> Iterator[Database]:
    try:
        yield database
    except StorageError as error:
        error.seen = database.identity
        database.close()
        raise


def _close_to_others(path: Path) -> None:
    found = os.lstat(path)
    is_ours = found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode)
    if is_ours and found.st_mode & _TOO_OPEN:
        with contextlib.suppress(OSError):
            os.chmod(path, stat.S_IMODE(found.st_mode) & ~_TOO_OPEN)
