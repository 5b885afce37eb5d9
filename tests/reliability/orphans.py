"""Which processes are left of those that this process started. Invariant: who escapes from everybody else comes to us.

Linux only: there a process can be the one to which orphans fall (``PR_SET_CHILD_SUBREAPER``).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
SETTLE_SECONDS = 10.0
"""What a killed process may take to be gone: to die needs its share of the machine, too."""


def adopt() -> bool:
    """Be the parent of all orphans below this process; whether the system can do that."""
    if sys.platform != "linux":
        return False
    return ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def left_over(known: int) -> list[int]:
    """The children of this process but ``known`` that still run after a moment. All of them are ended and collected."""
    end = time.monotonic() + SETTLE_SECONDS
    while (found := [pid for pid in _running_children() if pid != known]) and time.monotonic() < end:
        time.sleep(0.02)
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while _collect():
        pass
    return found


def _running_children() -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b") ")[2].split()
                if int(fields[1]) == os.getpid() and fields[0] not in (b"Z", b"X"):
                    found.append(int(name))
    return found


def _collect() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


class Memory:
    """The most memory that this process had since the last ``begin``."""

    def begin(self) -> None:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def most(self) -> int:
        """Megabytes."""
        with open("/proc/self/status", encoding="utf-8") as file:
            line = next(line for line in file if line.startswith("VmHWM:"))
        return int(line.split()[1]) // 1024
