"""What a process is charged with: the processes that it leaves, its memory, and how late the machine itself is.

Linux only: there a process can be the one to which orphans fall (``PR_SET_CHILD_SUBREAPER``), so that whoever escapes
from everybody else comes to us.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time

from .promise import Seen, none_of

OVER_MS = 250
PR_SET_CHILD_SUBREAPER = 36
SETTLE_SECONDS = 10.0
"""What a killed process may take to be gone: to die needs its share of the machine, too."""
STEP, WORK = 0.03, 0.003
"""Seconds of waiting, then of work."""
LEAST_DELAY = 0.002
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
    if late > {LEAST_DELAY}:
        print(started, late, flush=True)
"""


class BareWait:
    """Short waits, one after the other, in a process of its own: only the machine can make them late."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-I", "-S", "-c", _WAIT], stdout=subprocess.PIPE)
        assert self._process.stdout
        self.pid = self._process.pid
        self._fd = self._process.stdout.fileno()
        os.set_blocking(self._fd, False)
        self._unread = b""

    def late(self, started: float, ended: float) -> float:
        """Return the milliseconds by which all waits between two times of the monotonic clock together were late."""
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self._fd, 65536):
                self._unread += chunk
        *lines, self._unread = self._unread.split(b"\n")
        waits = [tuple(map(float, line.split())) for line in lines]
        return 1000 * sum(late for begun, late in waits if started - STEP <= begun <= ended)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def in_time(claim: str, calls: list[tuple[float, float, str]], missing: int, context: str) -> Seen:
    """Return the promise that no call takes ``OVER_MS`` more than its limit, where the machine is not to blame.

    ``calls``: milliseconds over the limit, those by which a bare wait was late beside it, and what was called.
    """
    over = [f"{how}: {late:.0f} ms" for late, bare, how in calls if late - bare > OVER_MS]
    by_load = sum(late > OVER_MS for late, _, _ in calls) - len(over)
    worst, beside, kind = max(calls)
    return none_of(
        claim,
        f"at most {OVER_MS} ms more, and than what a process that hardly works was late beside it",
        over,
        f"of {len(calls):,} {context}, {missing} without an end, {by_load} more by the machine alone; "
        f"the latest by {max(worst, 0):.0f} ms ({kind}; that process by {beside:.0f})",
        holds=not missing,
    )


def adopt() -> bool:
    """Become the parent of all orphans below this process; return whether the system can do that."""
    if sys.platform != "linux":
        return False
    return ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def left_over(known: int) -> int:
    """End and collect the children of this process but ``known``; return how many still ran after a moment."""
    end = time.monotonic() + SETTLE_SECONDS
    while (running := [pid for pid in _running_children() if pid != known]) and time.monotonic() < end:
        time.sleep(0.02)
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return len(running)


def _running_children() -> list[int]:
    running = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b") ")[2].split()[:2]
                if int(parent) == os.getpid() and state not in (b"Z", b"X"):
                    running.append(int(name))
    return running


class Memory:
    """The most memory that this process had since the last ``begin``."""

    def begin(self) -> None:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def most(self) -> int:
        """Return megabytes."""
        with open("/proc/self/status", encoding="utf-8") as file:
            line = next(line for line in file if line.startswith("VmHWM:"))
        return int(line.split()[1]) // 1024
