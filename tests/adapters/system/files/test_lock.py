"""A lock keeps others out while its holder lives, and no longer."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import time
from pathlib import Path
from typing import NoReturn

import pytest

from upbeat.adapters.system.files.lock import hold_lock, lock_private_file, try_lock


def test_one_at_a_time(tmp_path: Path) -> None:
    """A second one gets it once the first has let go; the file is private."""
    path = tmp_path / "lock"
    with hold_lock(path, 0) as first, hold_lock(path, 0) as second:
        assert (True, False) == (first, second)
    with hold_lock(path, 0) as third:
        assert (True, 0o600) == (third, path.stat().st_mode & 0o777)


def test_it_waits_as_long_as_it_is_told(tmp_path: Path) -> None:
    """The wait for a held lock lasts for its time limit."""
    with hold_lock(tmp_path / "lock", 0):
        began = time.monotonic()
        with hold_lock(tmp_path / "lock", 0.2) as is_ours:
            waited = time.monotonic() - began

    assert (False, True) == (is_ours, 0.2 <= waited < 10)


def test_a_lock_dies_with_its_holder(tmp_path: Path) -> None:
    """The lock of a killed process is free."""
    path = tmp_path / "lock"
    reading, telling = os.pipe()
    holder = os.fork()
    if holder == 0:
        with hold_lock(path, 0):
            os.write(telling, b"!")
            signal.pause()
    os.read(reading, 1)
    with hold_lock(path, 0) as before:
        assert not before
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
    os.close(reading)
    os.close(telling)

    with hold_lock(path, 0) as is_ours:
        assert is_ours


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without locks the result is None, without a wait."""

    def none(*_: object) -> NoReturn:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    descriptor = os.open(tmp_path, os.O_RDONLY)

    assert try_lock(descriptor, 60) is None

    os.close(descriptor)


def test_the_lock_of_a_private_file(tmp_path: Path) -> None:
    """The folder is private; a lock that another process holds becomes an error that says to try again."""
    file = tmp_path / "state" / "trusted.json"
    with lock_private_file(file), pytest.raises(TimeoutError, match="try again"), lock_private_file(file, 0.05):
        pass

    assert (0o700, ["trusted.json.lock"]) == (file.parent.stat().st_mode & 0o777, os.listdir(file.parent))
