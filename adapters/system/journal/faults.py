"""What can go wrong with the journal's file, sorted by what is to be done about it."""

from __future__ import annotations

import stat
from enum import Enum, auto
from pathlib import Path


class StorageErrorKind(Enum):
    """What to do about a failure."""

    DAMAGED = auto()
    """The file can no longer be used as it is."""
    BUSY = auto()
    """Another process holds the file for too long."""
    OTHER = auto()
    """Nothing can be stored: no room, no right, no folder."""


class StorageError(Exception):
    """The journal could not be used; the text says why. ``seen`` is the file that was tried, if a regular one."""

    def __init__(self, kind: StorageErrorKind, problem: str) -> None:
        self.kind = kind
        self.file_identity: tuple[int, int] | None = None
        super().__init__(problem)


def file_identity(path: Path) -> tuple[int, int] | None:
    """Which file this is; None for what is no regular file. Raises StorageError when there is none to be seen."""
    try:
        found = path.lstat()
    except OSError as error:
        raise StorageError(StorageErrorKind.OTHER, f"{path}: {error.strerror}") from None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
