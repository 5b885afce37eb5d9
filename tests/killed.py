"""Work that is killed at every point at which it asks something of the system, one after another."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

CALLS = ("open", "write", "fsync", "rename", "link", "unlink", "mkdir", "close", "fchmod")
MOST_CALLS = 60


def until_killed(work: Callable[[], object], calls: int, *, half: bool = False) -> bool:
    """Run ``work`` in a process that is killed right before its call number ``calls`` to the system.

    ``half``: if that call writes, half of it is written first. True when the process was killed, and did not end.
    """
    pid = os.fork()
    if pid == 0:
        _work_and_die(work, calls, half=half)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, -signal.SIGKILL)
    return status != 0


def every_point(tmp_path: Path, work: Callable[[str], object], prepare: Callable[[str], object]) -> list[str]:
    """A folder for each point at which ``work`` can be killed, prepared, and left as the dead left it."""
    roots = []
    for half in (False, True):
        for calls in range(1, MOST_CALLS):
            root = str(tmp_path / f"{calls}{'half' if half else ''}")
            os.mkdir(root)
            prepare(root)
            roots.append(root)
            if not until_killed(lambda root=root: work(root), calls, half=half):
                break
        else:
            raise AssertionError("more calls than were foreseen")
    return roots


def _work_and_die(work: Callable[[], object], calls: int, *, half: bool) -> NoReturn:
    left = [calls]

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                if half and real is write:
                    write(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **named)

        return call

    write = os.write
    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    fcntl.flock = counted(fcntl.flock)
    code = 1
    try:
        code = 1 if work() else 0
    finally:
        os._exit(code)
