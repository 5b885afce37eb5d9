"""One at a time, among the processes of a machine. Law: a lock dies with its holder, and none is waited for long."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

POLL = 0.01
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def take(descriptor: int, seconds: float = 0.0) -> bool | None:
    """Whether the lock of an open file or folder is ours now; None on a file system without locks.

    One that somebody else has is waited for, for at most ``seconds``.
    """
    end = monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() >= end:
                return False
            sleep(POLL)
        except OSError:
            return None
        else:
            return True


@contextlib.contextmanager
def locked(path: Path, seconds: float) -> Iterator[bool | None]:
    """What ``take`` says of the lock file ``path``, which is made if need be, during the block. Raises OSError."""
    descriptor = os.open(path, _OPEN, 0o600)
    try:
        yield take(descriptor, seconds)
    finally:
        os.close(descriptor)
