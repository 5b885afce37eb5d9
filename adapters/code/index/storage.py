"""Storage of what is known about a repository: one private folder for each, shared by its worktrees.

Invariant: a file is replaced atomically, only its owner can read it, and a damaged file counts as missing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import zlib
from pathlib import Path

from upbeat.adapters.system.files import atomic
from upbeat.adapters.system.git.root import RootInfo

MAX_READ_BYTES = 64_000_000

_DIGEST = 16


def repository_folder(state_home: Path, info: RootInfo, root: str) -> Path:
    """Return the folder for the repository of ``info``, or for the plain folder ``root``; it may not exist yet."""
    name = hashlib.blake2b(os.fsencode(info.common_dir or root), digest_size=10).hexdigest()
    return state_home / "upbeat" / "index" / name


def ensure_private_folder(folder: Path) -> None:
    """Create ``folder`` and its missing parents, accessible only to the owner. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise NotADirectoryError(0, "is not a folder that you own", str(folder))
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)


def store_blob(path: Path, data: bytes) -> None:
    """Replace ``path`` with ``data``, compressed and with a digest. Raises OSError."""
    ensure_private_folder(path.parent)
    packed = zlib.compress(data, 1)
    atomic.write_file(path, _digest(packed) + packed, is_private=True, is_durable=False)


def load_blob(path: Path) -> bytes | None:
    """Return what ``store_blob`` wrote; None for anything else."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            data = file.read(MAX_READ_BYTES) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return None
    if len(data) <= _DIGEST or _digest(data[_DIGEST:]) != data[:_DIGEST]:
        return None
    try:
        unpack = zlib.decompressobj()
        content = unpack.decompress(data[_DIGEST:], MAX_READ_BYTES)
    except zlib.error:
        return None
    return content if unpack.eof else None


def newest_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of ``folder`` that match ``pattern``, the newest first."""
    files = []
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):
            files.append((-path.lstat().st_mtime_ns, path))
    return [path for _, path in sorted(files)]


def remove_oldest(folder: Path, pattern: str, keep: int) -> None:
    """Remove all but the newest ``keep`` files that match ``pattern``."""
    for path in newest_files(folder, pattern)[keep:]:
        with contextlib.suppress(OSError):
            path.unlink()


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()
