"""Kills a function of ours at its Nth call of the system. Law: it is the real signal, at the real call.

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
from collections.abc import Callable, Iterator

CALLS = (
    *("mkdir", "mkdirat", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "rmdir"),
    *("write", "fchmod", "fchown", "ftruncate", "fsync"),
)
"""Every call that changes a file or makes one last; a draft that was only opened meets its ``write``."""

_SET_PTRACER, _ANY = 0x59616D61, -1
_SECONDS = 60


class NoStrace(Exception):
    """There is no strace, or it may not look at our own children."""


def require_strace() -> None:
    """Raise NoStrace unless kills can be tried here."""
    if shutil.which("strace") is None:
        raise NoStrace("strace is not installed; without it nothing is known about kills")


def kills(work: Callable[[], object], begin: Callable[[], object], step: int = 1) -> Iterator[str]:
    """Do ``begin`` and ``work`` again and again, the latter in a child, killed at its first call of a kind, at the one
    ``step`` further, and so on, until it comes to its end; each place where it was killed (``rename 7``), with what it
    did there to be seen."""
    for call in CALLS:
        number = 1
        while _begun(begin) and killed_at(work, call, number):
            yield f"{call} {number}"
            number += step


def _begun(begin: Callable[[], object]) -> bool:
    begin()
    return True


def killed_at(work: Callable[[], object], call: str, number: int) -> bool:
    """Do ``work`` in a child, killed at its ``number``th ``call``; False when it came to its end before."""
    child = os.fork()
    if child == 0:
        _become(work)
    os.waitpid(child, os.WUNTRACED)
    inject = f"inject=?{call}:signal=SIGKILL:when={number}"  # not every machine has every call
    command = ["strace", "-p", str(child), "-o", os.devnull, "-e", f"trace=?{call}", "-e", inject]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as tracer:
        assert tracer.stderr
        said = tracer.stderr.readline()
        if "attached" not in said:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise NoStrace(f"strace cannot look at our own child: {said.strip()}")
        os.kill(child, signal.SIGCONT)
        tracer.stderr.read()
    _pid, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return True
    if os.WEXITSTATUS(status) != 0:
        raise AssertionError(f"not killed at {call} {number}, and not well either: {os.WEXITSTATUS(status)}")
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
