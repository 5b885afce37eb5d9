"""Write files atomically: the whole file or nothing, also after a crash or a disk error.

Invariant: at every moment the file is either the old one or the new one. The new content is written to a draft in the
same folder, synced and renamed, so a file with hard links becomes a separate file. Mode and owner of the old file are
kept, the target of a symbolic link is replaced, and anything but a regular file is refused. A draft is locked while
its writer lives; the next writer in the folder removes drafts of dead writers.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path

from upbeat.adapters.system.files.lock import try_lock
from upbeat.core import lazy_re as re

DRAFT_NAME = re.compile(r"\..+\.upbeat-[0-9]+-[0-9a-f]{8}", re.DOTALL)
"""The names of drafts: the beginning of the file's name, and a unique suffix."""
STALE_SECONDS = 3600.0
"""The age at which a draft counts as abandoned on file systems without locks."""

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NAME_CHARS = 40
_TRIES = 8
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


def write_file(
    path: str | os.PathLike[str],
    data: bytes,
    *,
    is_private: bool = False,
    is_durable: bool = True,
    is_new: bool = False,
) -> None:
    """Write ``data`` to ``path``, following a symbolic link. The folder must exist.

    Args:
        is_private: Only the owner may read the file; otherwise a new file gets the mode of the umask.
        is_durable: Sync, so that the file survives a power failure.
        is_new: Fail if the name exists.

    Raises:
        FileExistsError: ``is_new`` is set and the name exists.
        OSError: The file is unchanged and no draft is left, except if only the sync of the folder failed.
    """
    folder, name = os.path.split(os.path.abspath(path) if is_new else os.path.realpath(path))
    try:
        descriptor = os.open(folder, _FOLDER_FLAGS)
        try:
            write_file_at(descriptor, name, data, is_private=is_private, is_durable=is_durable, is_new=is_new)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.path.join(folder, name)) from None  # hide the name of the draft


def write_file_at(
    folder: int, name: str, data: bytes, *, is_private: bool = False, is_durable: bool = True, is_new: bool = False
) -> None:
    """Like ``write_file``, for ``name`` in an open folder; a symbolic link raises OSError."""
    former = _stat_existing(folder, name)
    if former and is_new:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    if former and not stat.S_ISREG(former.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", name)
    remove_stale_drafts(folder)
    draft, descriptor = _create_draft(folder, name, 0o600 if is_private or former else 0o666)
    try:
        _write_all(descriptor, data, is_durable=is_durable)
        if former:
            _copy_owner_and_mode(descriptor, former, is_private=is_private)
        _publish(folder, draft, name, is_new=is_new)
    finally:
        _remove(folder, draft)
        os.close(descriptor)
    if is_durable:
        sync_folder(folder)


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Create the folder ``path`` with these files in one step. Raises OSError, also if the name exists."""
    parent = os.open(path.parent, _FOLDER_FLAGS)
    draft = _draft_name(path.name)
    try:
        if _stat_existing(parent, path.name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        remove_stale_drafts(parent)
        os.mkdir(draft, dir_fd=parent)
        inside = os.open(draft, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=parent)
        try:
            try_lock(inside)
            for name, data in files.items():
                write_file_at(inside, name, data)
            os.rename(draft, path.name, src_dir_fd=parent, dst_dir_fd=parent)
        finally:
            _remove(parent, draft)
            os.close(inside)
        sync_folder(parent)
    finally:
        os.close(parent)


def remove_stale_drafts(folder: int) -> None:
    """Remove the drafts of dead writers in an open folder. Never raises."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listdir(folder)
    for name in names:
        if DRAFT_NAME.fullmatch(name):
            with contextlib.suppress(OSError):
                _remove_if_abandoned(folder, name)


def sync_folder(folder: int) -> None:
    """Sync an open folder, on file systems that support it. Raises OSError."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def _stat_existing(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _draft_name(name: str) -> str:
    return f".{name[:_NAME_CHARS]}.upbeat-{os.getpid()}-{os.urandom(4).hex()}"


def _create_draft(folder: int, name: str, mode: int) -> tuple[str, int]:
    """Create a locked draft of ``name``; return its name and a descriptor."""
    for _ in range(_TRIES):
        draft = _draft_name(name)
        descriptor = os.open(draft, _CREATE_FLAGS, mode, dir_fd=folder)
        if try_lock(descriptor) is not False and os.fstat(descriptor).st_nlink:
            return draft, descriptor
        os.close(descriptor)  # another process removed it before it was locked
    raise BlockingIOError(errno.EAGAIN, "other processes keep removing the draft", name)


def _write_all(descriptor: int, data: bytes, *, is_durable: bool) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
    if is_durable:
        os.fsync(descriptor)


def _copy_owner_and_mode(descriptor: int, former: os.stat_result, *, is_private: bool) -> None:
    """Give the draft the owner and mode of the ``former`` file, as far as permitted."""
    drafted = os.fstat(descriptor)
    with contextlib.suppress(PermissionError):
        if (drafted.st_uid, drafted.st_gid) != (former.st_uid, former.st_gid):
            os.fchown(descriptor, former.st_uid, former.st_gid)
    with contextlib.suppress(PermissionError):
        os.fchmod(descriptor, 0o600 if is_private else stat.S_IMODE(former.st_mode))


def _publish(folder: int, draft: str, name: str, *, is_new: bool) -> None:
    if is_new:
        try:
            os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
        else:
            return
        if _stat_existing(folder, name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)


def _remove_if_abandoned(folder: int, draft: str) -> None:
    """Remove a draft whose lock is free, holding the lock: its writer may be about to take it."""
    descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        is_free = try_lock(descriptor)
        if is_free is None:
            is_free = time.time() - os.fstat(descriptor).st_mtime > STALE_SECONDS
        if is_free:
            _remove(folder, draft)
    finally:
        os.close(descriptor)


def _remove(folder: int, name: str) -> None:
    with contextlib.suppress(OSError):
        try:
            os.unlink(name, dir_fd=folder)
        except (IsADirectoryError, PermissionError):
            import shutil

            shutil.rmtree(name, dir_fd=folder)
