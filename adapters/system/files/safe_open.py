"""Open files and folders of an untrusted repository. Invariant: nothing outside the root is ever opened.

A path is opened folder by folder from the root without following links, so that a concurrent replacement cannot
redirect it. Only regular files are opened; a device or FIFO is refused without waiting.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

_TRAVERSE_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""For intermediate folders, which are not read."""
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
CHUNK_BYTES = 1 << 20
_FORBIDDEN_PARTS = frozenset({"", ".", ".."})


class NotRegularError(OSError):
    """A folder, a link, a FIFO, a device or a socket where a file was wanted."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EINVAL, "not a regular file", path)


def open_file(path: str, root: str | None = None, *, is_known_regular: bool = False) -> int:
    """Open the regular file at ``path`` and return its descriptor.

    With ``root`` (real, absolute), ``path`` is relative to it, without ``..`` and without links; otherwise it is a real
    path of the user. ``is_known_regular`` skips the check that keeps a FIFO closed.

    Raises:
        OSError: The file cannot be opened, or is not regular.
        ValueError: The path is invalid.
    """
    if root is None:
        return open_at(path)
    folder, name = _open_parent(root, path)
    try:
        return open_at(name, folder, is_known_regular=is_known_regular)
    finally:
        os.close(folder)


def open_folder(root: str, path: str) -> int:
    """Open the folder at ``path`` relative to ``root`` (empty: the root itself); errors as for ``open_file``."""
    if not path:
        return os.open(root, _FOLDER_FLAGS)
    folder, name = _open_parent(root, path)
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


@contextmanager
def scan_folder(root: str, path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Scan the entries of a folder; paths and errors as for ``open_folder``."""
    folder = open_folder(root, path)
    try:
        with os.scandir(folder) as entries:
            yield entries
    finally:
        os.close(folder)


def read_bytes(descriptor: int, max_bytes: int) -> bytes:
    """Read at most ``max_bytes`` from a descriptor."""
    parts: list[bytes] = []
    while max_bytes > 0 and (part := os.read(descriptor, min(max_bytes, CHUNK_BYTES))):
        parts.append(part)
        max_bytes -= len(part)
    return b"".join(parts)


def read_file(path: str, max_bytes: int, root: str | None = None) -> bytes:
    """Read at most ``max_bytes`` of a file; paths and errors as for ``open_file``."""
    descriptor = open_file(path, root)
    try:
        return read_bytes(descriptor, max_bytes)
    finally:
        os.close(descriptor)


def real_path(path: str | os.PathLike[str]) -> str:
    """Resolve the links of ``path``; return it unresolved if a link changed meanwhile, so that opening it fails.

    Raises:
        ValueError: The path is invalid.
    """
    try:
        return os.path.realpath(path)
    except OSError:
        return os.path.abspath(path)


def is_below(root: str, path: str) -> bool:
    """Return whether ``path`` is ``root`` or below it; both are real paths."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _open_parent(root: str, path: str) -> tuple[int, str]:
    """Open the parent folder of ``path``; return its descriptor and the last part of the path."""
    folders = path.split(os.sep)
    if not _FORBIDDEN_PARTS.isdisjoint(folders):
        raise OSError(errno.EXDEV, "not a plain relative path", path)
    name = folders.pop()
    descriptor = os.open(root, _TRAVERSE_FLAGS)
    for part in folders:
        above = descriptor
        try:
            descriptor = os.open(part, _TRAVERSE_FLAGS, dir_fd=above)
        finally:
            os.close(above)
    return descriptor, name


def open_at(name: str, folder: int | None = None, *, is_known_regular: bool = False) -> int:
    """Open the regular file ``name`` (not a link) in the open ``folder``. Raises OSError."""
    if not is_known_regular:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        if not stat.S_ISREG(mode):
            raise NotRegularError(name)
    descriptor = os.open(name, _FILE_FLAGS, dir_fd=folder)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise NotRegularError(name)
