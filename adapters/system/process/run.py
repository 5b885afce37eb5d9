"""Run a child process to its end, with limits on time and output.

Invariant: the program and everything that it started are gone when a function of this module returns. The one
exception: ``capture_output`` keeps the daemons of a program that exits by itself and leaves nothing else behind,
because the search for daemons reads the whole process table (23 ms), and git runs often.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from upbeat.adapters.system.process.tree import ProcessTree, start_process
from upbeat.core.engine.ports import Cancellation

MAX_OUTPUT_BYTES = 8 * 1024 * 1024
"""Bytes of stdout that ``run_program`` keeps."""
MAX_CAPTURED_BYTES = 64_000_000
"""Bytes of stdout that ``capture_output`` accepts."""
MAX_ERROR_CHARS = 400
"""Characters of ``ProgramResult.last_error_line``."""
POLL_MS = 10
KILL_WAIT_SECONDS = 0.5
"""How long ``kill_running`` waits for a killed program."""

_STDERR_TAIL_BYTES = 4096
_EXIT_GRACE_SECONDS = 2.0
_CHUNK_BYTES = 1 << 20


NEVER_CANCELLED: Cancellation = threading.Event()


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The result of a program. ``exit_code`` is None if it was killed; ``last_error_line`` comes from its stderr."""

    exit_code: int | None
    output: bytes
    last_error_line: str = ""


def run_program(
    command: Sequence[str],
    *,
    variables: Mapping[str, str],
    cwd: str,
    timeout_seconds: float,
    stdin_data: bytes = b"",
    stop_marker: bytes = b"",
) -> ProgramResult:
    """Run ``command`` with ``stdin_data``, for at most ``timeout_seconds``, and end everything that it started.

    With ``stop_marker`` its stdin stays open, and the run is over as soon as stdout contains the marker.

    Raises:
        OSError: The program cannot be started.
    """
    process, tree = start_process(command, variables, cwd=cwd)
    reader = _OutputReader(process, MAX_OUTPUT_BYTES)
    deadline = monotonic() + timeout_seconds
    assert process.stdin
    try:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(stdin_data)
            process.stdin.flush()
            if not stop_marker:
                process.stdin.close()
        while not reader.is_complete() and monotonic() < deadline:
            if stop_marker and stop_marker in reader.output:
                break
            has_exited = process.poll() is not None
            if not reader.read(0 if has_exited else POLL_MS) and has_exited:
                break  # another process holds its pipes
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        code = _wait_for_exit(process, reader, monotonic() + _EXIT_GRACE_SECONDS, NEVER_CANCELLED)
    finally:
        tree.kill(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()
    last_line = reader.stderr_tail.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return ProgramResult(code, bytes(reader.output), last_line[-MAX_ERROR_CHARS:])


def capture_output(
    command: Sequence[str],
    cwd: str,
    variables: Mapping[str, str],
    timeout_seconds: float,
    cancelled: Cancellation = NEVER_CANCELLED,
    max_bytes: int = MAX_CAPTURED_BYTES,
) -> bytes | None:
    """Return the stdout of ``command``; None if it fails, is cancelled, times out or prints over ``max_bytes``."""
    deadline = monotonic() + timeout_seconds
    try:
        process, tree = start_process(command, variables, cwd=cwd, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    _running[process] = tree
    reader = _OutputReader(process, max_bytes + 1)
    with process:
        while not reader.is_complete() and not cancelled.is_set() and monotonic() <= deadline:
            reader.read(POLL_MS)
        is_whole = reader.is_complete() and len(reader.output) <= max_bytes
        code = _wait_for_exit(process, reader, deadline, cancelled) if is_whole else None
        if code is None or tree.kill_group():
            tree.kill(process)
    _running.pop(process, None)
    return bytes(reader.output) if code == 0 else None


def kill_running() -> None:
    """Kill every program that ``capture_output`` runs in any thread. For the end of this process."""
    for process, tree in list(_running.items()):
        if process.poll() is None:
            tree.kill(process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(KILL_WAIT_SECONDS)


_running: dict[subprocess.Popen[bytes], ProcessTree] = {}
"""The programs of daemon threads. A FIFO among a repository's objects would keep git waiting forever."""
atexit.register(kill_running)


class _OutputReader:
    """Reads the pipes of a process: up to ``max_bytes`` of its stdout, and the tail of its stderr."""

    def __init__(self, process: subprocess.Popen[bytes], max_bytes: int) -> None:
        assert process.stdout
        self._stdout = process.stdout.fileno()
        self._max_bytes = max_bytes
        self._poll = select.poll()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                self._poll.register(pipe, select.POLLIN | select.POLLHUP)
        self._has_ended = False
        self.output = bytearray()
        self.stderr_tail = b""

    def is_complete(self) -> bool:
        """Return whether stdout is closed or full."""
        return self._has_ended or len(self.output) >= self._max_bytes

    def read(self, timeout_ms: int) -> bool:
        """Read a chunk of each ready pipe, waiting up to ``timeout_ms``; return whether any pipe was ready."""
        ready = self._poll.poll(timeout_ms)
        for pipe, _ in ready:
            part = os.read(pipe, _CHUNK_BYTES)
            if not part:
                self._poll.unregister(pipe)
                self._has_ended = self._has_ended or pipe == self._stdout
            elif pipe == self._stdout:
                self.output += part[: self._max_bytes - len(self.output)]
            else:
                self.stderr_tail = (self.stderr_tail + part)[-_STDERR_TAIL_BYTES:]
        return bool(ready)


def _wait_for_exit(
    process: subprocess.Popen[bytes], reader: _OutputReader, deadline: float, cancelled: Cancellation
) -> int | None:
    """Wait for a process whose stdout is read; return its exit code, or None if it does not exit in time.

    Keep reading meanwhile, so that the process does not block on a full pipe.
    """
    while not cancelled.is_set() and monotonic() <= deadline:
        reader.read(0)
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(POLL_MS / 1000)
            reader.read(0)
            return code
    return None
