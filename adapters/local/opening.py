"""Opens the files and folders of a repository that may be hostile. Law: nothing outside the root is opened, ever.

A name is followed folder by folder from the root and no link on the way: whatever is put in its place between a look
and the opening is refused, and so is what is no regular file. Nothing waits, and a device or FIFO stays closed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""For the folders on the way, which nothing is read of."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
CHUNK = 1 << 20
_LEADING = frozenset({"", ".", ".."})


class NotRegularError(OSError):
    """A folder, a link, a FIFO, a device or a socket where a file was wanted."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EINVAL, "not a regular file", path)


def open_file(path: str, root: str | None = None, *, is_known: bool = False) -> int:
    """A descriptor of the regular file at ``path``; the caller closes it.

    With ``root`` (real, absolute) ``path`` is relative to it, without ``..``, and leads over no link. Without, it is a
    real path of the user's own. ``is_known`` says that the caller has just seen a file there, so that no look is needed
    to keep a FIFO closed. Raises OSError, or ValueError for a path that the system does not take.
    """
    if root is None:
        return open_at(path)
    folder, name = _above(root, path)
    try:
        return open_at(name, folder, is_known=is_known)
    finally:
        os.close(folder)


def open_folder(root: str, path: str) -> int:
    """A descriptor of the folder at ``path``, relative to ``root`` (empty for ``root`` itself); as ``open_file``."""
    if not path:
        return os.open(root, _FOLDER)
    folder, name = _above(root, path)
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    finally:
        os.close(folder)


@contextmanager
def scanned(root: str, path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder, for as long as the context lasts; paths and errors as for ``open_folder``."""
    folder = open_folder(root, path)
    try:
        with os.scandir(folder) as entries:
            yield entries
    finally:
        os.close(folder)


def read(descriptor: int, most: int) -> bytes:
    """The next bytes of a file, at most ``most``."""
    parts: list[bytes] = []
    while most > 0 and (part := os.read(descriptor, min(most, CHUNK))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def read_file(path: str, most: int, root: str | None = None) -> bytes:
    """The first bytes of a file, at most ``most``; paths and errors as for ``open_file``."""
    descriptor = open_file(path, root)
    try:
        return read(descriptor, most)
    finally:
        os.close(descriptor)


def real_path(path: str | os.PathLike[str]) -> str:
    """Where links lead from ``path``; ``path`` as it is where one was changed meanwhile, which no opening follows.

    Raises ValueError for a path that the system does not take.
    """
    try:
        return os.path.realpath(path)
    except OSError:
        return os.path.abspath(path)


def is_below(root: str, path: str) -> bool:
    """Whether ``path`` is ``root`` or lies below it; both are real."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _above(root: str, path: str) -> tuple[int, str]:
    """The folder that the last part of ``path`` lies in, opened, and that part."""
    folders = path.split(os.sep)
    if not _LEADING.isdisjoint(folders):
        raise OSError(errno.EXDEV, "not a plain relative path", path)
    name = folders.pop()
    descriptor = os.open(root, _WAY)
    for part in folders:
        above = descriptor
        try:
            descriptor = os.open(part, _WAY, dir_fd=above)
        finally:
            os.close(above)
    return descriptor, name


def open_at(name: str, folder: int | None = None, *, is_known: bool = False) -> int:
    """A descriptor of the regular file ``name``, which is no link, in the opened ``folder``. Raises OSError."""
    if not is_known:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        if not stat.S_ISREG(mode):
            raise NotRegularError(name)
    descriptor = os.open(name, _FILE, dir_fd=folder)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise NotRegularError(name)
