"""Open the journal's file, keep it private, and set a damaged one aside.

Invariant: an unusable file is renamed, never deleted, so that the user can inspect it; the latest such files are kept.
Only one process at a time creates, migrates or sets aside a file, never one that another has just created.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from upbeat.adapters.system.files.lock import hold_lock
from upbeat.adapters.system.journal.faults import StorageError, StorageErrorKind, file_identity
from upbeat.adapters.system.journal.schema import READABLE_VERSIONS, SCHEMA_VERSION, migrate, schema_version
from upbeat.core import lazy_re as re

if TYPE_CHECKING:
    from upbeat.adapters.system.journal.database import Database

FILE_NAME = "journal.db"
SIDE_FILE_SUFFIXES = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite stores next to its file."""
LOCK_NAME = "journal.lock"
FAILURES_NAME = "journal.failures"
MAX_FAILURES_BYTES = 64 * 1024
"""Bytes of the file that counts failures, one line each."""
MAX_DAMAGED_FILES = 3
DAMAGED_NAME = re.compile(r"journal\.damaged-[0-9TZ]+(-[0-9]+)?\.db")

_LOCK_SECONDS = 5.0
"""How long another process is waited for; then, and on file systems without locks, the work goes on without it."""
_CREATE_FLAGS = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS_MODE_BITS = 0o077


class JournalFile:
    """The files of one user's journal below ``state_home``."""

    def __init__(self, state_home: Path) -> None:
        self.folder = state_home / "upbeat"
        self.path = self.folder / FILE_NAME

    def open(self) -> Database:
        """Return a connection to a file of the present version, created if needed. Raises StorageError."""
        try:
            self._make_private()
            with _connect(self.path) as database:
                if schema_version(database) != SCHEMA_VERSION:
                    with hold_lock(self.folder / LOCK_NAME, _LOCK_SECONDS):
                        migrate(database)
                database.ensure_journal_mode()
        except OSError as error:
            raise StorageError(StorageErrorKind.OTHER, f"{error.filename or self.path}: {error.strerror}") from None
        return database

    def exists(self) -> bool:
        return os.path.lexists(self.path)

    def open_to_read(self) -> Database | None:
        """Return a connection to the existing file, or None. Creates no file. Raises StorageError."""
        if not os.path.lexists(self.path):
            return None
        with _connect(self.path) as database:
            version = schema_version(database)
            if version > SCHEMA_VERSION:
                migrate(database)
        if version not in READABLE_VERSIONS:
            database.close()
            return None
        return database

    def set_aside(self, identity: tuple[int, int] | None, stamp: str) -> str:
        """Rename the unusable file ``identity``; return its new name, or "" if another process has renamed it.

        Raises:
            StorageError: The file cannot be renamed.
        """
        try:
            with hold_lock(self.folder / LOCK_NAME, _LOCK_SECONDS):
                if not os.path.lexists(self.path) or file_identity(self.path) != identity:
                    return ""
                names = (f"journal.damaged-{stamp}{f'-{number}' if number else ''}.db" for number in range(1000))
                name = next(name for name in names if not os.path.lexists(self.folder / name))
                os.rename(self.path, self.folder / name)
                for suffix in SIDE_FILE_SUFFIXES:
                    with contextlib.suppress(FileNotFoundError):
                        os.rename(self.folder / (FILE_NAME + suffix), self.folder / (name + suffix))
                self._remove_old_damaged()
                return name
        except OSError as error:
            raise StorageError(StorageErrorKind.OTHER, f"{self.path} cannot be set aside: {error.strerror}") from None

    def damaged_files(self) -> tuple[str, ...]:
        """Return the names of the files that were set aside, the oldest first."""
        try:
            return tuple(sorted(name for name in os.listdir(self.folder) if DAMAGED_NAME.fullmatch(name)))
        except OSError:
            return ()

    def count_failure(self, line: str) -> None:
        """Append a line for an event that could not be stored. Never raises."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with contextlib.suppress(OSError):
            descriptor = os.open(self.folder / FAILURES_NAME, flags, 0o600)
            try:
                if os.fstat(descriptor).st_size < MAX_FAILURES_BYTES:
                    os.write(descriptor, (" ".join(line.split())[:300] + "\n").encode("utf-8", "replace"))
            finally:
                os.close(descriptor)

    def failures(self) -> tuple[str, ...]:
        """Return the lines of ``count_failure``, the oldest first."""
        try:
            descriptor = os.open(
                self.folder / FAILURES_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            )
            with open(descriptor, encoding="utf-8", errors="replace") as file:
                return tuple(file.read(2 * MAX_FAILURES_BYTES).splitlines())
        except OSError:
            return ()

    def clear_failures(self) -> None:
        """Reset the count of failures. Never raises."""
        with contextlib.suppress(OSError):
            os.unlink(self.folder / FAILURES_NAME)

    def size_on_disk(self) -> int:
        """Return the bytes of the journal and SQLite's files next to it."""
        total = 0
        for suffix in ("", *SIDE_FILE_SUFFIXES):
            with contextlib.suppress(OSError):
                total += os.lstat(self.folder / (FILE_NAME + suffix)).st_size
        return total

    def _make_private(self) -> None:
        """Create the private folder and file if needed. SQLite gives its other files the same mode."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        _restrict_to_owner(self.folder)
        try:
            os.close(os.open(self.path, _CREATE_FLAGS, 0o600))
        except FileExistsError:
            _restrict_to_owner(self.path)

    def _remove_old_damaged(self) -> None:
        for name in self.damaged_files()[:-MAX_DAMAGED_FILES]:
            for suffix in ("", *SIDE_FILE_SUFFIXES):
                with contextlib.suppress(OSError):
                    os.unlink(self.folder / (name + suffix))


@contextlib.contextmanager
def _connect(path: Path) -> Iterator[Database]:
    """Connect to the file, and close it again if the block raises StorageError.

    SQLite is imported only here, because many commands do not need it.
    """
    try:
        from upbeat.adapters.system.journal.database import Database
    except ImportError as error:
        raise StorageError(StorageErrorKind.OTHER, f"{error}; reinstall upbeat, or install apsw>=3.51.3") from None
    database = Database(path)
    try:
        yield database
    except StorageError as error:
        error.file_identity = database.identity
        database.close()
        raise


def _restrict_to_owner(path: Path) -> None:
    status = os.lstat(path)
    is_ours = status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode)
    if is_ours and status.st_mode & _OTHERS_MODE_BITS:
        with contextlib.suppress(OSError):
            os.chmod(path, stat.S_IMODE(status.st_mode) & ~_OTHERS_MODE_BITS)
