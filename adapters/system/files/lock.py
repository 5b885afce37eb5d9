"""Lock files between the processes of a machine. Invariant: a lock ends with its holder."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

POLL_SECONDS = 0.01
_OPEN_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def try_lock(descriptor: int, timeout_seconds: float = 0.0) -> bool | None:
    """Lock an open file or folder, waiting up to ``timeout_seconds``; return whether it worked.

    Return None on a file system without locks.
    """
    end = monotonic() + timeout_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() >= end:
                return False
            sleep(POLL_SECONDS)
        except OSError:
            return None
        else:
            return True


@contextlib.contextmanager
def hold_lock(path: Path, timeout_seconds: float) -> Iterator[bool | None]:
    """Hold the lock file ``path``, created if needed; yield the result of ``try_lock``. Raises OSError."""
    descriptor = os.open(path, _OPEN_FLAGS, 0o600)
    try:
        yield try_lock(descriptor, timeout_seconds)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def lock_private_file(path: Path, timeout_seconds: float = 5.0) -> Iterator[None]:
    """Create the private folder of ``path`` if needed, and hold the lock file beside ``path``.

    Raises:
        OSError: The lock file cannot be opened; TimeoutError if another process keeps the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with hold_lock(path.with_name(f"{path.name}.lock"), timeout_seconds) as is_ours:
        if is_ours is False:
            raise TimeoutError(f"another upbeat process is writing {path}; try again")
        yield
