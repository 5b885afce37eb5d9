"""The one way in which a file is written: whole or not at all, whoever dies on the way and whatever the disk refuses.

Law: at every moment the file is the former one or the new one. The new one is written beside it as a draft, brought to
the disk, and given the name; so a file with several names (hard links) becomes one of its own. The mode and the owner
of the former one are kept, a symbolic link stays and what it leads to is replaced, and what is no regular file is left
alone. A draft is locked while its writer lives: what killed writers left in a folder is swept by the next one there.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from pathlib import Path

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


def sweep(folder: int) -> None:
    """Remove the drafts in an open folder whose writers are dead. Never raises."""
    with contextlib.suppress(OSError):
        for found in os.listdir(folder):
            if DRAFT.fullmatch(found) and _is_abandoned(folder, found):
                _remove(folder, found)


def sync_folder(folder: int) -> None:
    """Bring the names in an open folder to the disk, on file systems that can do that. Raises OSError."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def make_private(folder: Path) -> None:
    """Make ``folder`` and what is missing above it, each for its owner alone. Raises OSError."""
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def _former(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _begin(folder: int, name: str, mode: int) -> tuple[str, int]:
    """A new draft of ``name``, locked: its name, and a descriptor to write it with."""
    for _ in range(_TRIES):
        draft = f".{name[:_NAME_CHARS]}.upbeat-{os.getpid()}-{os.urandom(4).hex()}"
        descriptor = os.open(draft, _CREATE, mode, dir_fd=folder)
        if _is_held(descriptor) is not False and os.fstat(descriptor).st_nlink:
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


def _is_abandoned(folder: int, draft: str) -> bool:
    """Whether nobody writes this draft: its lock is free."""
    try:
        descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return False
    try:
        held = _is_held(descriptor)
        return held if held is not None else time.time() - os.fstat(descriptor).st_mtime > STALE_SECONDS
    finally:
        os.close(descriptor)


def _is_held(descriptor: int) -> bool | None:
    """Whether the lock is ours from now on; None on a file system without locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove(folder: int, name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=folder)
