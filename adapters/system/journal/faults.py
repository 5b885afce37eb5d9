"""The errors of the journal's file, by the remedy."""

from __future__ import annotations

import os
import stat
from enum import Enum, auto
from pathlib import Path

MIN_FREE_BYTES = 1024 * 1024


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


def storage_problem(folder: Path) -> str:
    """Return why not even a new file could be stored in ``folder``, which may not exist yet; empty if it could."""
    near = folder
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
    return f"no room left at {near}" if room.f_bavail * room.f_frsize < MIN_FREE_BYTES else ""
