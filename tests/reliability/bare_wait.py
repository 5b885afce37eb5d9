"""Measure how late the machine itself makes a process that waits and hardly works.

Invariant: it is a process of its own, so that nothing that runs next to it can make it late.
"""

from __future__ import annotations

import os
import subprocess
import sys

STEP, WORK = 0.03, 0.003
"""Seconds of waiting, then of work."""
NOTED = 0.002
"""Seconds that a wait must be late to be noted."""
_WAIT = f"""
import time
while True:
    started = time.monotonic()
    time.sleep({STEP})
    worked = time.process_time() + {WORK}
    while time.process_time() < worked:
        pass
    late = time.monotonic() - started - {STEP} - {WORK}
    if late > {NOTED}:
        print(started, late, flush=True)
"""


class BareWait:
    """Short waits, one after the other, until ``close``."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-I", "-S", "-c", _WAIT], stdout=subprocess.PIPE)
        assert self._process.stdout
        self.pid = self._process.pid
        self._fd = self._process.stdout.fileno()
        os.set_blocking(self._fd, False)
        self._unread = b""

    def late(self, started: float, ended: float) -> float:
        """The seconds by which all waits between two times of the monotonic clock together were late."""
        try:
            while chunk := os.read(self._fd, 65536):
                self._unread += chunk
        except BlockingIOError:
            pass
        *lines, self._unread = self._unread.split(b"\n")
        waits = [tuple(map(float, line.split())) for line in lines]
        return sum(late for begun, late in waits if started - STEP <= begun <= ended)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
