"""A server's process and its three pipes, as a transport of the official SDK. Law: whatever it writes is bounded.

A line has an end, and so has what it says without being asked; of its complaints the last are kept. At the end its
whole family is gone, also where it ignores every request to leave or has become a daemon.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from types import TracebackType
from typing import IO, Any

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

from ..local.family import SWEEP_SECONDS, Family, guarded, start
from .program import Program

MAX_LINE = 4 * 1024 * 1024
"""Bytes of one message."""
MAX_PARTS = 50_000
"""Values of one message, counted by what stands between them: to read a message takes the time of all threads."""
MAX_UNASKED = 8 * 1024 * 1024
"""Bytes that a server may write between two of our messages."""
MAX_REQUESTS = 100
"""Requests of a server between two of ours. None is granted, but each is read, refused and answered."""
MAX_GARBAGE = 100
"""Lines that are no message; a banner is forgiven."""
MAX_COMPLAINT = 2000
CHUNK = 65536
LEAVE_SECONDS = 0.4
"""How long a server gets to leave when its stdin is closed, and once more when it is asked by a signal."""
REAP_SECONDS = 1.0
LAST_SECONDS = 0.3
"""How long whatever goes on starting others is followed."""

_Read = SessionMessage | Exception


class Pipes:
    """Implements the SDK's ``Transport``. ``ended`` is set when the server has gone, or has to."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._family: Family | None = None
        self._tasks: TaskGroup | None = None
        self._inward: tuple[MemoryObjectSendStream[_Read], MemoryObjectReceiveStream[_Read]] | None = None
        self._outward: tuple[MemoryObjectSendStream[SessionMessage], MemoryObjectReceiveStream[SessionMessage]] | None
        self._outward = None
        self._unasked = 0
        self._requests = 0
        self._complaint = b""
        self._writing = anyio.CancelScope()
        self._wrote = anyio.Event()
        self._is_leaving = False
        self._code: int | None = None
        self.ended = anyio.Event()
        self.trouble = ""
        """What the server did that ended it; empty while nothing is wrong."""

    async def __aenter__(self) -> tuple[MemoryObjectReceiveStream[_Read], MemoryObjectSendStream[SessionMessage]]:
        program = self._program
        command = guarded([program.path, *program.args], signal.SIGKILL)
        process, self._family = start(command, program.variables, cwd=program.cwd, bufsize=0)
        self._process = process
        for pipe in _pipes(process):
            os.set_blocking(pipe.fileno(), False)
        self._inward = anyio.create_memory_object_stream[_Read](0)
        self._outward = anyio.create_memory_object_stream[SessionMessage](0)
        self._tasks = await anyio.create_task_group().__aenter__()
        self._tasks.start_soon(self._read, process, self._inward[0])
        self._tasks.start_soon(self._write, process, self._outward[1])
        self._tasks.start_soon(self._overhear, process)
        return self._inward[1], self._outward[0]

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._process
        assert self._family
        assert self._tasks
        process, family = self._process, self._family
        try:
            with anyio.CancelScope(shield=True):
                if self.ended.is_set():
                    await _gone(process, LEAVE_SECONDS / 2)
                self._code, self._is_leaving = process.poll(), True
                self._writing.cancel()
                await self._wrote.wait()  # nobody writes into a pipe that is being closed
                await _leave(process, family)
        finally:  # also where this very task is cancelled from outside, which no scope keeps away
            family.signal(signal.SIGKILL)
            self._tasks.cancel_scope.cancel()
        try:
            return await self._tasks.__aexit__(kind, error, trace)
        finally:
            for stream in (*(self._inward or ()), *(self._outward or ())):
                stream.close()
            for pipe in _pipes(process):
                with contextlib.suppress(OSError):
                    pipe.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(REAP_SECONDS)

    def account(self) -> str:
        """What is known of the server's own end: what it did, its exit code, its last words."""
        code = self._code if self._is_leaving or not self._process else self._process.poll()
        complaint = self._complaint
        if len(complaint) >= MAX_COMPLAINT:
            complaint = complaint.partition(b"\n")[2]  # a line that was cut may hold half of a secret
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        ended = "" if code is None or self.trouble else f"it ended with exit code {code}"
        return "; ".join(part for part in (self.trouble, ended, lines[-1].strip() if lines else "") if part)

    def end(self, trouble: str = "") -> None:
        """Let whoever waits for the server's end go on; the first trouble counts."""
        self.trouble = self.trouble or trouble
        self.ended.set()

    async def _read(self, process: subprocess.Popen[bytes], into: MemoryObjectSendStream[_Read]) -> None:
        """Message by message, until the server closes its stdout or goes too far."""
        assert process.stdout
        garbage = 0
        rest = b""
        with into, contextlib.suppress(anyio.BrokenResourceError):
            while chunk := await _receive(process.stdout):
                self._unasked += len(chunk)
                *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else [rest + chunk]
                for line in filter(bytes.strip, lines):
                    if _parts(line) > MAX_PARTS:
                        self.end(f"it wrote a message of more than {MAX_PARTS} parts")
                        return
                    message = _message(line)
                    garbage += message is None
                    self._requests += isinstance(message, JSONRPCRequest)
                    if message is not None:
                        await into.send(SessionMessage(message))
                if wrong := self._too_much(len(rest), garbage):
                    self.end(wrong)
                    return
            self.end()

    def _too_much(self, unfinished: int, garbage: int) -> str:
        if self._unasked > MAX_UNASKED:
            return f"it wrote more than {MAX_UNASKED} bytes without being asked"
        if self._requests > MAX_REQUESTS:
            return f"it asked for more than {MAX_REQUESTS} things at once"
        if unfinished > MAX_LINE:
            return f"it wrote a line of more than {MAX_LINE} bytes"
        return "what it writes are no messages" if garbage > MAX_GARBAGE else ""

    async def _write(
        self, process: subprocess.Popen[bytes], messages: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        assert process.stdin
        pipe = process.stdin.fileno()
        try:
            with self._writing, messages:
                async for message in messages:
                    data = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                    if isinstance(message.message, JSONRPCRequest):
                        self._unasked = self._requests = 0
                    while data:
                        await anyio.wait_writable(pipe)
                        with contextlib.suppress(BlockingIOError):
                            data = data[os.write(pipe, data) :]
        except OSError:  # the server reads no more
            self.end()
        finally:
            self._wrote.set()

    async def _overhear(self, process: subprocess.Popen[bytes]) -> None:
        """Keep the last that the server complained of: it says why it could not start."""
        assert process.stderr
        while chunk := await _receive(process.stderr):
            self._complaint = (self._complaint + chunk)[-MAX_COMPLAINT:]


async def _receive(pipe: IO[bytes]) -> bytes:
    """What there is; nothing at the end."""
    while True:
        await anyio.wait_readable(pipe.fileno())
        with contextlib.suppress(BlockingIOError):
            return os.read(pipe.fileno(), CHUNK)


def _parts(line: bytes) -> int:
    """How many values there are in ``line`` at most; none are counted where there is no room for too many."""
    return sum(map(line.count, (b",", b":", b"[", b"{"))) if len(line) > MAX_PARTS else 0


def _message(line: bytes) -> Any:
    """The message in ``line``; None when there is none."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


async def _leave(process: subprocess.Popen[bytes], family: Family) -> None:
    """Close the server's stdin, then ask its family, then end it."""
    assert process.stdin
    with contextlib.suppress(OSError):
        process.stdin.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        await _gone(process, LEAVE_SECONDS)
        family.signal(number)  # what it started may outlive it
    await _gone(process, REAP_SECONDS)
    with anyio.move_on_after(LAST_SECONDS):
        for _ in family.sweep():
            process.poll()
            await anyio.sleep(SWEEP_SECONDS)


async def _gone(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait for the end of the process itself; its pipes may be held open by others."""
    with anyio.move_on_after(seconds):
        while process.poll() is None:
            await anyio.sleep(0.01)


def _pipes(process: subprocess.Popen[bytes]) -> list[IO[bytes]]:
    return [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe]
