"""The errors of the journal's file, by the remedy."""

from __future__ import annotations

import stat
from enum import Enum, auto
from pathlib import Path


class StorageErrorKind(Enum):
    """The kinds of errors."""

    DAMAGED = auto()
    """The file can no longer be used as it is."""
    BUSY = auto()
    """Another process holds the file for too long."""
    OTHER = auto()
    """Nothing can be stored: no space, no permission, no folder."""


class StorageError(Exception):
    """The journal cannot be used. ``file_identity`` is the file that was tried, if it is a regular one."""

    def __init__(self, kind: StorageErrorKind, problem: str) -> None:
        self.kind = kind
        self.file_identity: tuple[int, int] | None = None
        super().__init__(problem)


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a regular file, None for another kind. Raises StorageError if there is none."""
    try:
        status = path.lstat()
    except OSError as error:
        raise StorageError(StorageErrorKind.OTHER, f"{path}: {error.strerror}") from None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
