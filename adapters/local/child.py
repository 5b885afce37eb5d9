"""Runs a program that somebody else wrote, to look at it. Law: it ends in time, and with it all that it has started."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from .family import MARK, Family, new_mark

MAX_OUTPUT = 8 * 1024 * 1024
MAX_COMPLAINT = 400
"""Characters of the last that it complained of."""
_LEAVE_SECONDS = 2.0
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
    mark = new_mark()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            list(command),
            env={**variables, MARK: mark},
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        family = Family(process.pid, mark)
        try:
            with contextlib.suppress(BrokenPipeError):
                assert process.stdin
                process.stdin.write(words)
                process.stdin.flush()
                if not until:
                    process.stdin.close()
            output = _heard(process, monotonic() + seconds, until)
            code = _left(process)
        finally:
            _end(process, family)
        errors.seek(max(errors.seek(0, os.SEEK_END) - 4096, 0))
        complaint = errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
    return Ended(code, output, complaint[-MAX_COMPLAINT:])


def _heard(process: subprocess.Popen[bytes], deadline: float, until: bytes) -> bytes:
    """What it says until it ends, or its time does."""
    assert process.stdout
    heard = b""
    while len(heard) < MAX_OUTPUT and (left := deadline - monotonic()) > 0 and not (until and until in heard):
        if select.select([process.stdout], [], [], left)[0]:
            part = os.read(process.stdout.fileno(), _CHUNK)
            if not part:
                break
            heard += part
    return heard


def _left(process: subprocess.Popen[bytes]) -> int | None:
    """Its exit code, once its stdin is closed; None when it stays."""
    with contextlib.suppress(BrokenPipeError):
        assert process.stdin
        process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(_LEAVE_SECONDS)
    return None


def _end(process: subprocess.Popen[bytes], family: Family) -> None:
    """End the process and all that it has started."""
    family.end(process)
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()
