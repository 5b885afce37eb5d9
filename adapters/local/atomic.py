"""The one way in which a file is written: whole or not at all, whoever dies on the way and whatever the disk refuses.

Law: at every moment the file is the former one or the new one. The new one is written beside it as a draft, brought to
the disk, and given the name; so a file with several names (hard links) becomes one of its own. The mode and the owner
of the former one are kept, a symbolic link stays and what it leads to is replaced, and what is no regular file is left
alone. A draft is locked while its writer lives: what killed writers left in a folder is swept by the next one there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Mapping
from pathlib import Path

from .lock import take

DRAFT = re.compile(r"\..+\.upbeat-[0-9]+-[0-9a-f]{8}", re.DOTALL)
"""The name of every draft: the beginning of its file's name, and what tells it from others."""
STALE_SECONDS = 3600.0
"""The age from which a draft is nobody's any more where there are no locks."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NAME_CHARS = 40
_TRIES = 8
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


def write(
    path: str | os.PathLike[str], data: bytes, *, private: bool = False, durable: bool = True, is_new: bool = False
) -> None:
    """Make ``data`` the content of ``path``; a symbolic link there is followed. The folder must be there.

    ``private``: for its owner alone, whatever the former file was; else a new file gets what the umask leaves.
    ``durable``: it survives a power cut from now on. ``is_new``: only if there is nothing of that name.

    Raises:
        FileExistsError: ``is_new``, and something is there.
        OSError: it is the former file, and no draft is left; only where the last step fails, bringing the folder to
            the disk, it is the new one already.
    """
    folder, name = os.path.split(os.path.abspath(path) if is_new else os.path.realpath(path))
    try:
        descriptor = os.open(folder, _FOLDER)
        try:
            write_in(descriptor, name, data, private=private, durable=durable, is_new=is_new)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.path.join(folder, name)) from None  # not the name of a draft


def write_in(
    folder: int, name: str, data: bytes, *, private: bool = False, durable: bool = True, is_new: bool = False
) -> None:
    """As ``write``, for the file ``name`` in an open folder; a symbolic link there is not followed, and raises."""
    former = _former(folder, name)
    if former and is_new:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    if former and not stat.S_ISREG(former.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", name)
    sweep(folder)
    draft, descriptor = _begin(folder, name, 0o600 if private or former else 0o666)
    try:
        _fill(descriptor, data, durable=durable)
        if former:
            _make_alike(descriptor, former, private=private)
        _publish(folder, draft, name, is_new=is_new)
    finally:
        _remove(folder, draft)
        os.close(descriptor)
    if durable:
        sync_folder(folder)


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """A new folder ``path`` with these files, all of it at once. Raises OSError, also where something is there."""
    parent = os.open(path.parent, _FOLDER)
    draft = _draft_name(path.name)
    try:
        if _former(parent, path.name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        sweep(parent)
        os.mkdir(draft, dir_fd=parent)
        inside = os.open(draft, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
        try:
            take(inside)
            for name, data in files.items():
                write_in(inside, name, data)
            os.rename(draft, path.name, src_dir_fd=parent, dst_dir_fd=parent)
        finally:
            _remove(parent, draft)
            os.close(inside)
        sync_folder(parent)
    finally:
        os.close(parent)


def sweep(folder: int) -> None:
    """Remove the drafts in an open folder whose writers are dead. Never raises."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listdir(folder)
    for name in names:
        if DRAFT.fullmatch(name):
            with contextlib.suppress(OSError):
                _remove_if_abandoned(folder, name)


def sync_folder(folder: int) -> None:
    """Bring the names in an open folder to the disk, on file systems that can do that. Raises OSError."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def _former(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _draft_name(name: str) -> str:
    return f".{name[:_NAME_CHARS]}.upbeat-{os.getpid()}-{os.urandom(4).hex()}"


def _begin(folder: int, name: str, mode: int) -> tuple[str, int]:
    """A new draft of ``name``, locked: its name, and a descriptor to write it with."""
    for _ in range(_TRIES):
        draft = _draft_name(name)
        descriptor = os.open(draft, _CREATE, mode, dir_fd=folder)
        if take(descriptor) is not False and os.fstat(descriptor).st_nlink:
            return draft, descriptor
        os.close(descriptor)  # another process took it for abandoned before it was locked
    raise BlockingIOError(errno.EAGAIN, "other processes remove the draft again and again", name)


def _fill(descriptor: int, data: bytes, *, durable: bool) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
    if durable:
        os.fsync(descriptor)


def _make_alike(descriptor: int, former: os.stat_result, *, private: bool) -> None:
    """Give the draft the owner and the mode of the ``former`` file, as far as we may."""
    drafted = os.fstat(descriptor)
    with contextlib.suppress(PermissionError):
        if (drafted.st_uid, drafted.st_gid) != (former.st_uid, former.st_gid):
            os.fchown(descriptor, former.st_uid, former.st_gid)
    with contextlib.suppress(PermissionError):
        os.fchmod(descriptor, 0o600 if private else stat.S_IMODE(former.st_mode))


def _publish(folder: int, draft: str, name: str, *, is_new: bool) -> None:
    if is_new:
        try:
            os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
        else:
            return
        if _former(folder, name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)


def _remove_if_abandoned(folder: int, draft: str) -> None:
    """Remove a draft whose lock is free, and hold that until it is gone: its writer may be about to take it."""
    descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        is_free = take(descriptor)
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
            shutil.rmtree(name, dir_fd=folder)
