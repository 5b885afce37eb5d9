"""Where what is known of a repository lies on disk: one private folder for each, shared by its worktrees.

Law: a file is replaced as a whole or not at all, nobody else can read it, and a file that is not as it was
written counts as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import zlib
from pathlib import Path

from ..local import atomic
from ..local.git_root import RootInfo

MAX_READ = 64_000_000

_DIGEST = 16


def folder_of(state_home: Path, info: RootInfo, root: str) -> Path:
    """The folder for the repository of ``info``, or for the plain folder ``root``; it may not exist yet."""
    name = hashlib.blake2b(os.fsencode(info.common_dir or root), digest_size=10).hexdigest()
    return state_home / "upbeat" / "index" / name


def make_private(folder: Path) -> None:
    """Make ``folder`` and what is missing above it, for its owner alone. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise NotADirectoryError(0, "is not a folder of yours", str(folder))
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)


def write(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data``, compressed and with its digest. Raises OSError."""
    make_private(path.parent)
    packed = zlib.compress(data, 1)
    atomic.write(path, _digest(packed) + packed, private=True, durable=False)


def read(path: Path) -> bytes | None:
    """What ``write`` put there; None for anything else."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            data = file.read(MAX_READ) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return None
    if len(data) <= _DIGEST or _digest(data[_DIGEST:]) != data[:_DIGEST]:
        return None
    try:
        unpack = zlib.decompressobj()
        found = unpack.decompress(data[_DIGEST:], MAX_READ)
    except zlib.error:
        return None
    return found if unpack.eof else None


def latest(folder: Path, pattern: str) -> list[Path]:
    """The files of ``folder`` like ``pattern``, the last written first."""
    found = []
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):
            found.append((-path.lstat().st_mtime_ns, path))
    return [path for _, path in sorted(found)]


def sweep(folder: Path, pattern: str, keep: int) -> None:
    """Remove all but the last ``keep`` files like ``pattern``."""
    for path in latest(folder, pattern)[keep:]:
        with contextlib.suppress(OSError):
            path.unlink()


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()
