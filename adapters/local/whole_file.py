"""One file, replaced whole. Law: at whatever point the writer is killed, the file is the old one or the new one.

The new bytes go into a draft beside the file, under a name that follows from the file's own: what a killed writer left
is found again by ``sweep``. Links are for the caller to resolve; what is replaced here is the very path.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def draft_of(path: Path) -> Path:
    """Where the next content of ``path`` grows."""
    return path.with_name(f".{path.name}.upbeat-draft")


def write_whole(path: Path, data: bytes, mode: int, *, durable: bool = True) -> None:
    """Make ``data`` the content of ``path``. ``mode`` is for a new file; one that is there keeps mode, owner and
    extended attributes. The folder has to be there. ``durable``: it also survives a power cut from now on.

    Raises OSError, and leaves no draft then: FileExistsError where another writer is at work.
    """
    draft = draft_of(path)
    descriptor = os.open(draft, _FLAGS, 0o600)
    try:
        with open(descriptor, "wb", buffering=0) as file:
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]
            _take_after(path, file.fileno(), mode)
            if durable:
                os.fsync(file.fileno())
        os.rename(draft, path)
    except BaseException:
        sweep(path)
        raise
    if durable:
        settle(path.parent)


def remove(path: Path, *, durable: bool = True) -> None:
    """Take ``path`` away; ``durable`` as above."""
    os.unlink(path)
    if durable:
        settle(path.parent)


def sweep(path: Path) -> bool:
    """Take away what a killed writer of ``path`` left; whether there was anything."""
    draft = draft_of(path)
    if not os.path.lexists(draft):
        return False
    with contextlib.suppress(OSError):
        os.unlink(draft)
    return True


def settle(folder: Path) -> None:
    """What was done to the entries of ``folder`` survives a power cut from now on, where the file system can tell."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _take_after(path: Path, descriptor: int, mode: int) -> None:
    """Give the draft the mode, owner and extended attributes of ``path``, or ``mode`` when there is no such file."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        os.fchmod(descriptor, mode)
        return
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (found.st_uid, found.st_gid):
        os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode))
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):  # a file system that has none, or attributes that are not ours to set
            for name in os.listxattr(path):
                os.setxattr(descriptor, name, os.getxattr(path, name))
