"""Runs a program that somebody else wrote, to look at it. Law: it ends in time, and with it all that it has started."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from .family import Family, start

MAX_OUTPUT = 8 * 1024 * 1024
MAX_COMPLAINT = 400
"""Characters of the last that it complained of."""
_ROOM_TO_COMPLAIN = 4096
_LEAVE_SECONDS = 2.0
_LOOK_SECONDS = 0.05
"""So often it is looked whether a process has ended that says nothing."""
_PAUSE_SECONDS = 0.01
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of it. ``code`` is None when it had to be ended; ``complaint`` is the last line on its stderr."""

    code: int | None
    output: bytes
    complaint: str = ""


def run(
    command: Sequence[str],
    *,
    variables: Mapping[str, str],
    cwd: str,
    seconds: float,
    words: bytes = b"",
    until: bytes = b"",
) -> Ended:
    """Run ``command`` with ``words`` on its stdin, for at most ``seconds``; if given, only until it says ``until``.

    Without ``until`` its stdin is closed behind ``words``. Raises OSError when it cannot be started.
    """
    process, family = start(command, variables, cwd=cwd)
    ears = _Ears(process)
    try:
        with contextlib.suppress(BrokenPipeError):
            assert process.stdin
            process.stdin.write(words)
            process.stdin.flush()
            if not until:
                process.stdin.close()
        _listen(process, ears, monotonic() + seconds, until)
        code = _left(process, ears)
    finally:
        _end(process, family)
    complaint = ears.complaint.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return Ended(code, bytes(ears.output), complaint[-MAX_COMPLAINT:])


class _Ears:
    """What a process says, and the last that it complains of, as far as there is room for it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout
        assert process.stderr
        self._stdout, self._stderr = process.stdout.fileno(), process.stderr.fileno()
        self._open = {self._stdout, self._stderr}
        self.output = bytearray()
        self.complaint = b""

    def is_over(self) -> bool:
        """Whether it has said all, or as much as there is room for."""
        return self._stdout not in self._open or len(self.output) >= MAX_OUTPUT

    def hear(self, seconds: float) -> bool:
        """Take a part of what there is, after at most ``seconds``; whether there was anything."""
        ready = select.select(self._open, [], [], seconds)[0]
        for pipe in ready:
            part = os.read(pipe, _CHUNK)
            if not part:
                self._open.remove(pipe)
            elif pipe == self._stderr:
                self.complaint = (self.complaint + part)[-_ROOM_TO_COMPLAIN:]
            else:
                self.output += part[: MAX_OUTPUT - len(self.output)]
        return bool(ready)


def _listen(process: subprocess.Popen[bytes], ears: _Ears, deadline: float, until: bytes) -> None:
    """Hear the process until it ends, or its time does; whoever else holds its pipes is not waited for."""
    while not ears.is_over() and (left := deadline - monotonic()) > 0 and not (until and until in ears.output):
        has_ended = process.poll() is not None
        if not ears.hear(0 if has_ended else min(left, _LOOK_SECONDS)) and has_ended:
            return


def _left(process: subprocess.Popen[bytes], ears: _Ears) -> int | None:
    """Its exit code, once its stdin is closed; None when it stays. Nobody has to stay for want of a hearer."""
    with contextlib.suppress(BrokenPipeError):
        assert process.stdin
        process.stdin.close()
    end = monotonic() + _LEAVE_SECONDS
    while monotonic() < end:
        ears.hear(0)
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(_PAUSE_SECONDS)
            ears.hear(0)
            return code
    return None


def _end(process: subprocess.Popen[bytes], family: Family) -> None:
    """End the process and all that it has started."""
    family.end(process)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()
