"""Kills a function of ours at its Nth call of the system. Invariant: it is the real signal, at the real call.

The function runs in a child of this very process, which strace holds on to: it counts, and sends SIGKILL when the call
is entered, so that the call is not done any more. So no start of Python is paid for a kill.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator

CALLS = (
    *("mkdir", "mkdirat", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "rmdir"),
    *("write", "fchmod", "fchown", "ftruncate", "fsync"),
)
"""Every call that changes a file or makes one last; a draft that was only opened meets its ``write``."""

_SET_PTRACER, _ANY = 0x59616D61, -1
_SECONDS = 60


class NoStrace(Exception):
    """There is no strace, or it may not look at our own children: what is not seen does not hold."""


def require_strace() -> None:
    """Raise NoStrace unless kills can be tried here."""
    if shutil.which("strace") is None:
        raise NoStrace("strace is not installed (apt-get install -y strace)")


def kills(work: Callable[[], object], begin: Callable[[], object], step: int = 1) -> Iterator[str]:
    """Do ``begin`` and ``work`` once to count its calls, then again and again, the latter in a child that is killed.

    It is killed at its first call of a kind, at the one ``step`` further, and so on. Yields each place where it was
    killed (``rename 7``), with what it did there to be seen.
    """
    begin()
    for call, count in sorted(calls_of(work).items()):
        for number in range(1, count + 1, step):
            begin()
            if killed_at(work, call, number):
                yield f"{call} {number}"


def calls_of(work: Callable[[], object]) -> Counter[str]:
    """Return how often ``work`` makes each of the calls; it is done in a child, to its end."""
    with tempfile.NamedTemporaryFile("r", prefix="upbeat-calls-") as log:
        every = ",".join(f"?{call}" for call in CALLS)  # not every machine has every call
        assert not _held(work, "-o", log.name, "-e", f"trace={every}")
        return Counter(line.partition("(")[0] for line in log if "(" in line)


def killed_at(work: Callable[[], object], call: str, number: int) -> bool:
    """Do ``work`` in a child, killed at its ``number``th ``call``; return False when it came to its end before."""
    inject = f"inject={call}:signal=SIGKILL:when={number}"
    return _held(work, "-o", os.devnull, "-e", f"trace={call}", "-e", inject)


def _held(work: Callable[[], object], *options: str) -> bool:
    """Do ``work`` in a child that strace holds; return whether it was killed. It does not fail."""
    child = os.fork()
    if child == 0:
        _become(work)
    os.waitpid(child, os.WUNTRACED)
    command = ["strace", "-p", str(child), *options]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as tracer:
        assert tracer.stderr
        first_line = tracer.stderr.readline()
        if "attached" not in first_line:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise NoStrace(f"strace cannot look at our own child: {first_line.strip()}")
        os.kill(child, signal.SIGCONT)
        tracer.stderr.read()
    _pid, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    if status != 0:
        raise AssertionError(f"neither killed nor well: {options} {status}")
    return False


def _become(work: Callable[[], object]) -> None:
    """The child: it waits to be held, works, and ends without any clean-up of its parent's."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(_SET_PTRACER, _ANY, 0, 0, 0)
        signal.alarm(_SECONDS)
        os.kill(os.getpid(), signal.SIGSTOP)
        work()
        code = 0
    except BaseException as error:
        print(f"in the child: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)
