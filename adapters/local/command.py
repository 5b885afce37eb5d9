"""Runs a program for what it prints. Law: it has its time and its room, and with it goes all that is left of its group.

Where there was any of that, or it had to be ended, its daemons go, too. Who ends by itself and leaves nothing but
daemons keeps them: to look for them through all processes takes 23 ms, and git is asked often.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from time import monotonic

from ...core.ports import Cancellation
from .family import Family, start

MAX_OUTPUT = 64_000_000
"""Bytes that are taken of one program."""

POLL_MS = 10
END_SECONDS = 0.5
"""How long the end of a program that was killed is waited for when this process ends."""


class _Never:
    """A cancellation that does not come."""

    def is_set(self) -> bool:
        return False


NEVER: Cancellation = _Never()


def output_of(
    command: Sequence[str],
    cwd: str,
    variables: Mapping[str, str],
    seconds: float,
    cancelled: Cancellation = NEVER,
    most: int = MAX_OUTPUT,
) -> bytes | None:
    """What ``command`` prints; None when it fails, is stopped, needs more than its time or says more than ``most``."""
    deadline = monotonic() + seconds
    try:
        process, family = start(command, variables, cwd=cwd, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    _running[process] = family
    with process:
        output = _drain(process, cancelled, deadline, most)
        if output is None or not _has_ended(process, cancelled, deadline) or family.end_group():
            family.end(process)
    _running.pop(process, None)
    return output if process.returncode == 0 else None


def end_all() -> None:
    """End every program that is running; who waits for it gets nothing. For the end of this process."""
    for process, family in list(_running.items()):
        if process.poll() is None:
            family.end(process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_SECONDS)


_running: dict[subprocess.Popen[bytes], Family] = {}
"""Of threads that nobody waits for when the process ends; a FIFO among a repository's objects keeps git for ever."""
atexit.register(end_all)


def _drain(process: subprocess.Popen[bytes], cancelled: Cancellation, deadline: float, most: int) -> bytes | None:
    """All of the output, or None when it has to be cut short."""
    assert process.stdout
    fd = process.stdout.fileno()
    poll = select.poll()
    poll.register(fd, select.POLLIN | select.POLLHUP)
    parts: list[bytes] = []
    size = 0
    while size <= most:
        if cancelled.is_set() or monotonic() > deadline:
            return None
        if poll.poll(POLL_MS):
            part = os.read(fd, 1 << 20)
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
    return None


def _has_ended(process: subprocess.Popen[bytes], cancelled: Cancellation, deadline: float) -> bool:
    """Wait for the end of a process that has said all; it may stay for all that."""
    while not cancelled.is_set() and monotonic() <= deadline:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POLL_MS / 1000)
            return True
    return False
