"""Run a server process and its pipes as a transport of the official SDK. Invariant: all its output is bounded.

Lines, unsolicited output and stderr have limits. At the end the whole process tree is gone, even if it ignores signals
or has become a daemon.
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

from upbeat.adapters.mcp_client.program import Program
from upbeat.adapters.system.process.tree import SWEEP_SECONDS, ProcessTree, start_process, with_death_signal

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Bytes per message."""
MAX_VALUES = 50_000
"""Values per message, counted by their separators: parsing a message blocks all threads."""
MAX_UNSOLICITED_BYTES = 8 * 1024 * 1024
"""Bytes that a server may write between two client messages."""
MAX_SERVER_REQUESTS = 100
"""Requests of a server between two client messages. Each is parsed and refused."""
MAX_INVALID_LINES = 100
"""Lines that are not messages; a start-up banner is tolerated."""
MAX_STDERR_BYTES = 2000
CHUNK_BYTES = 65536
EXIT_GRACE_SECONDS = 0.4
"""The time to exit after its stdin is closed, and again after SIGTERM."""
REAP_SECONDS = 1.0
FINAL_SWEEP_SECONDS = 0.3
"""How long processes that keep starting others are killed."""

_Incoming = SessionMessage | Exception


class StdioTransport:
    """Implements the SDK's ``Transport``. ``end_requested`` is set when the server has exited, or must exit."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._process_tree: ProcessTree | None = None
        self._tasks: TaskGroup | None = None
        self._incoming: tuple[MemoryObjectSendStream[_Incoming], MemoryObjectReceiveStream[_Incoming]] | None = None
        self._outgoing: tuple[MemoryObjectSendStream[SessionMessage], MemoryObjectReceiveStream[SessionMessage]] | None
        self._outgoing = None
        self._unsolicited_bytes = 0
        self._server_requests = 0
        self._stderr_tail = b""
        self._write_scope = anyio.CancelScope()
        self._writer_finished = anyio.Event()
        self._is_closing = False
        self._exit_code: int | None = None
        self.end_requested = anyio.Event()
        self.failure = ""
        """The reason why upbeat ends the server; empty if there is none."""

    async def __aenter__(self) -> tuple[MemoryObjectReceiveStream[_Incoming], MemoryObjectSendStream[SessionMessage]]:
        program = self._program
        command = with_death_signal([program.path, *program.args], signal.SIGKILL)
        process, self._process_tree = start_process(command, program.variables, cwd=program.cwd, bufsize=0)
        self._process = process
        for pipe in _open_pipes(process):
            os.set_blocking(pipe.fileno(), False)
        self._incoming = anyio.create_memory_object_stream[_Incoming](0)
        self._outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self._tasks = await anyio.create_task_group().__aenter__()
        self._tasks.start_soon(self._read_messages, process, self._incoming[0])
        self._tasks.start_soon(self._write_messages, process, self._outgoing[1])
        self._tasks.start_soon(self._read_stderr, process)
        return self._incoming[1], self._outgoing[0]

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._process
        assert self._process_tree
        assert self._tasks
        process, tree = self._process, self._process_tree
        try:
            with anyio.CancelScope(shield=True):
                if self.end_requested.is_set():
                    await _wait_for_exit(process, EXIT_GRACE_SECONDS / 2)
                self._exit_code, self._is_closing = process.poll(), True
                self._write_scope.cancel()
                await self._writer_finished.wait()  # no write to a pipe that is being closed
                await _terminate(process, tree)
        finally:  # also if this task is cancelled from outside, despite the shield
            tree.send_signal(signal.SIGKILL)
            self._tasks.cancel_scope.cancel()
        try:
            return await self._tasks.__aexit__(kind, error, trace)
        finally:
            for stream in (*(self._incoming or ()), *(self._outgoing or ())):
                stream.close()
            for pipe in _open_pipes(process):
                with contextlib.suppress(OSError):
                    pipe.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(REAP_SECONDS)

    def describe_exit(self) -> str:
        """Describe why the server ended: the reason, its exit code, the last line of its stderr."""
        code = self._exit_code if self._is_closing or not self._process else self._process.poll()
        stderr = self._stderr_tail
        if len(stderr) >= MAX_STDERR_BYTES:
            stderr = stderr.partition(b"\n")[2]  # a truncated line may contain part of a secret
        lines = stderr.decode("utf-8", "replace").strip().splitlines()
        exited = "" if code is None or self.failure else f"it exited with code {code}"
        return "; ".join(part for part in (self.failure, exited, lines[-1].strip() if lines else "") if part)

    def request_end(self, failure: str = "") -> None:
        """Ask for the end of the server; the first failure is kept."""
        self.failure = self.failure or failure
        self.end_requested.set()

    async def _read_messages(
        self, process: subprocess.Popen[bytes], incoming: MemoryObjectSendStream[_Incoming]
    ) -> None:
        """Read messages until the server closes its stdout or exceeds a limit."""
        assert process.stdout
        invalid_lines = 0
        rest = b""
        with incoming, contextlib.suppress(anyio.BrokenResourceError):
            while chunk := await _read_available(process.stdout):
                self._unsolicited_bytes += len(chunk)
                *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else [rest + chunk]
                for line in filter(bytes.strip, lines):
                    if _count_values(line) > MAX_VALUES:
                        self.request_end(f"it wrote a message with more than {MAX_VALUES} values")
                        return
                    message = _parse_message(line)
                    invalid_lines += message is None
                    self._server_requests += isinstance(message, JSONRPCRequest)
                    if message is not None:
                        await incoming.send(SessionMessage(message))
                if violation := self._limit_violation(len(rest), invalid_lines):
                    self.request_end(violation)
                    return
            self.request_end()

    def _limit_violation(self, partial_bytes: int, invalid_lines: int) -> str:
        if self._unsolicited_bytes > MAX_UNSOLICITED_BYTES:
            return f"it wrote more than {MAX_UNSOLICITED_BYTES} unsolicited bytes"
        if self._server_requests > MAX_SERVER_REQUESTS:
            return f"it sent more than {MAX_SERVER_REQUESTS} requests at once"
        if partial_bytes > MAX_LINE_BYTES:
            return f"it wrote a line of more than {MAX_LINE_BYTES} bytes"
        return "its output is not MCP messages" if invalid_lines > MAX_INVALID_LINES else ""

    async def _write_messages(
        self, process: subprocess.Popen[bytes], messages: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        assert process.stdin
        pipe = process.stdin.fileno()
        try:
            with self._write_scope, messages:
                async for message in messages:
                    data = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                    if isinstance(message.message, JSONRPCRequest):
                        self._unsolicited_bytes = self._server_requests = 0
                    while data:
                        await anyio.wait_writable(pipe)
                        with contextlib.suppress(BlockingIOError):
                            data = data[os.write(pipe, data) :]
        except OSError:  # the server has closed its stdin
            self.request_end()
        finally:
            self._writer_finished.set()

    async def _read_stderr(self, process: subprocess.Popen[bytes]) -> None:
        """Keep the tail of stderr, which usually explains a failed start."""
        assert process.stderr
        while chunk := await _read_available(process.stderr):
            self._stderr_tail = (self._stderr_tail + chunk)[-MAX_STDERR_BYTES:]


async def _read_available(pipe: IO[bytes]) -> bytes:
    """Read the available bytes; empty at the end."""
    while True:
        await anyio.wait_readable(pipe.fileno())
        with contextlib.suppress(BlockingIOError):
            return os.read(pipe.fileno(), CHUNK_BYTES)


def _count_values(line: bytes) -> int:
    """Return an upper bound of the values in ``line``; 0 if the line is too short for too many."""
    return sum(map(line.count, (b",", b":", b"[", b"{"))) if len(line) > MAX_VALUES else 0


def _parse_message(line: bytes) -> Any:
    """Parse the message in ``line``; None if it is invalid."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


async def _terminate(process: subprocess.Popen[bytes], process_tree: ProcessTree) -> None:
    """Close the server's stdin, then send SIGTERM and SIGKILL to its process tree."""
    assert process.stdin
    with contextlib.suppress(OSError):
        process.stdin.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        await _wait_for_exit(process, EXIT_GRACE_SECONDS)
        process_tree.send_signal(number)  # its children may outlive it
    await _wait_for_exit(process, REAP_SECONDS)
    with anyio.move_on_after(FINAL_SWEEP_SECONDS):
        for _ in process_tree.kill_repeatedly():
            process.poll()
            await anyio.sleep(SWEEP_SECONDS)


async def _wait_for_exit(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait for the process itself; other processes may hold its pipes open."""
    with anyio.move_on_after(seconds):
        while process.poll() is None:
            await anyio.sleep(0.01)


def _open_pipes(process: subprocess.Popen[bytes]) -> list[IO[bytes]]:
    return [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe]
