"""One running ``codex app-server``: its messages, its pipes, its processes, and the pending requests.

The messages are JSON objects, one per line, without a ``jsonrpc`` field. ``parse_rpc_message`` is total: a line that is
no message is an ``InvalidMessage``.

Invariant: one thread does all reading, writing and killing, and never waits for callers, so the server is never blocked
and its end is noticed at once. Every request gets a response or ``ConnectionLost``.

The thread also starts the process: where the end of the parent is a signal to its child (``with_death_signal``), the
parent is the thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from threading import Lock, Thread
from time import monotonic

from upbeat.adapters.codex.transport.app_server.events import KNOWN_METHODS
from upbeat.adapters.codex.transport.json_lines import CHUNK_BYTES, JsonObject, LineBuffer, read_chunk
from upbeat.adapters.system.process.tree import STOP_SIGNALS, ProcessTree, start_process, with_death_signal
from upbeat.core.json_fields import mapping_of

SHUTDOWN_SECONDS = 2.0
"""How long the server may take to exit after its standard input is closed."""

_EOF_SECONDS = 0.3
_TICK_SECONDS = 1.0
_BUSY_TICK_SECONDS = 0.25
_MAX_STDERR_BYTES = 1 << 14
_MAX_ERROR_LINES = 6
_LOG_LINE = re.compile(r"(\x1b\[[0-9;]*m)*\d{4}-\d\d-\d\dT")
"""A log line on standard error; the message of a failing server does not match."""

METHOD_NOT_FOUND = -32601
"""The JSON-RPC error code for an unknown method."""


@dataclass(frozen=True, slots=True)
class RpcResult:
    """The result of a request."""

    request_id: int
    fields: JsonObject


@dataclass(frozen=True, slots=True)
class RpcErrorResponse:
    """The error of a request."""

    request_id: int
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class RpcRequest:
    """A request of the server, which waits for the response."""

    request_id: int | str
    method: str
    fields: JsonObject


@dataclass(frozen=True, slots=True)
class RpcNotification:
    """A notification of the server."""

    method: str
    fields: JsonObject


@dataclass(frozen=True, slots=True)
class InvalidMessage:
    """A line that is not a message."""

    problem: str


IncomingMessage = RpcRequest | RpcNotification | InvalidMessage
RpcMessage = RpcResult | RpcErrorResponse | IncomingMessage


class ConnectionLost(Exception):
    """The server exited before it answered; the text says how."""


class RpcError(Exception):
    """The server refused a request; the text says why."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def parse_rpc_message(line: bytes) -> RpcMessage:
    """Parse one line, without its end."""
    try:
        raw = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return InvalidMessage("not JSON")
    if not isinstance(raw, dict):
        return InvalidMessage("not an object")
    method, number = raw.get("method"), raw.get("id")
    if isinstance(method, str):
        fields = mapping_of(raw, "params")
        if isinstance(number, int | str) and not isinstance(number, bool):
            return RpcRequest(number, method, fields)
        return RpcNotification(method, fields)
    if not isinstance(number, int) or isinstance(number, bool):
        return InvalidMessage("neither a request nor an answer")
    if "error" in raw:
        error = mapping_of(raw, "error")
        code, text = error.get("code"), error.get("message")
        return RpcErrorResponse(number, code if isinstance(code, int) else 0, text if isinstance(text, str) else "")
    return RpcResult(number, mapping_of(raw, "result"))


def encode_rpc_message(message: JsonObject) -> bytes:
    """Encode ``message`` as one line, with its end."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


class AppServerConnection:
    """A server that is starting, running, or has ended. ``fileno`` is readable when there are messages."""

    def __init__(self, argv: Sequence[str], variables: Mapping[str, str]) -> None:
        self._argv = list(argv)
        self._variables = dict(variables)
        self._lock = Lock()
        self._pending: dict[int, Future[JsonObject]] = {}
        self._last_request_id = 0
        self._inbox: deque[IncomingMessage] = deque()
        self._outbox: deque[memoryview] = deque()
        self._inbox_wakeup_reader, self._inbox_wakeup_writer = _pipe()
        self._wakeup_reader, self._wakeup_writer = _pipe()
        self._stop_stages: tuple[tuple[int, float], ...] | None = None
        self.exit_reason = ""
        """How the server ended; empty while it runs."""
        self.has_running_commands = False
        """Whether the server runs commands; then its child processes are tracked in case it dies."""
        self._thread = Thread(target=self._run, name="codex app-server", daemon=True)
        self._thread.start()

    # --- for callers ---

    def fileno(self) -> int:
        return self._inbox_wakeup_reader

    def request(self, method: str, fields: JsonObject) -> Future[JsonObject]:
        """Send a request; return the future response, whose exception is ``RpcError`` or ``ConnectionLost``."""
        future: Future[JsonObject] = Future()
        with self._lock:
            self._last_request_id += 1
            number = self._last_request_id
            if self.exit_reason:
                future.set_exception(ConnectionLost(self.exit_reason))
                return future
            self._pending[number] = future
        self._send({"id": number, "method": method, "params": fields})
        return future

    def notify(self, method: str) -> None:
        """Send a notification."""
        self._send({"method": method})

    def respond(self, request: RpcRequest, fields: JsonObject) -> None:
        """Respond to a request of the server."""
        self._send({"id": request.request_id, "result": fields})

    def respond_with_error(self, request: RpcRequest, text: str) -> None:
        """Refuse a request of the server."""
        self._send({"id": request.request_id, "error": {"code": METHOD_NOT_FOUND, "message": text}})

    def clear_wakeup(self) -> None:
        """Reset ``fileno`` without taking messages."""
        _drain(self._inbox_wakeup_reader)

    def take_messages(self) -> list[IncomingMessage]:
        """Return the messages since the last call."""
        _drain(self._inbox_wakeup_reader)
        return [self._inbox.popleft() for _ in range(len(self._inbox))]

    def close(self) -> None:
        """End the server, gracefully first, and all its processes."""
        self._stop(((0, SHUTDOWN_SECONDS), *STOP_SIGNALS[1:]))

    def kill(self) -> None:
        """End the server and all its processes immediately."""
        self._stop(((signal.SIGTERM, 0.5), STOP_SIGNALS[-1]))

    def _stop(self, stages: tuple[tuple[int, float], ...]) -> None:
        self._stop_stages = self._stop_stages or stages
        _wake(self._wakeup_writer)
        self._thread.join(sum(seconds for _, seconds in stages) + 5)

    def _send(self, message: JsonObject) -> None:
        self._outbox.append(memoryview(encode_rpc_message(message)))
        _wake(self._wakeup_writer)

    # --- for the thread ---

    def _run(self) -> None:
        try:
            process, family = start_process(
                with_death_signal(self._argv), self._variables, bufsize=0, spares_terminals=True
            )
        except OSError as error:
            self._finish(f"{self._argv[0]}: {error.strerror}")
            return
        pump = _ProcessIO(process, family, self._outbox, self._receive, self._wakeup_reader)
        while not pump.is_over:
            pump.step(has_running_commands=self.has_running_commands)
            if self._stop_stages is not None:
                pump.stop(self._stop_stages)
        self._finish(pump.finish())

    def _receive(self, line: bytes) -> None:
        message = parse_rpc_message(line)
        match message:
            case RpcResult() | RpcErrorResponse():
                with self._lock:
                    future = self._pending.pop(message.request_id, None)
                if future is None:
                    return
                if isinstance(message, RpcResult):
                    future.set_result(message.fields)
                else:
                    future.set_exception(RpcError(message.code, message.text))
            case RpcNotification() if message.method not in KNOWN_METHODS:
                return
            case _:
                self._inbox.append(message)
        _wake(self._inbox_wakeup_writer)

    def _finish(self, exit_reason: str) -> None:
        with self._lock:
            self.exit_reason = exit_reason
            left, self._pending = self._pending, {}
        for future in left.values():
            future.set_exception(ConnectionLost(exit_reason))
        _wake(self._inbox_wakeup_writer)

    def __del__(self) -> None:
        for descriptor in (
            self._inbox_wakeup_reader,
            self._inbox_wakeup_writer,
            self._wakeup_reader,
            self._wakeup_writer,
        ):
            with contextlib.suppress(OSError):
                os.close(descriptor)


class _ProcessIO:
    """Transfers bytes to and from one process until it ends."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        family: ProcessTree,
        outbox: deque[memoryview],
        receive: Callable[[bytes], None],
        wakeup_fd: int,
    ) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._process = process
        self._family = family
        self._outbox = outbox
        self._receive = receive
        self._lines = LineBuffer()
        self._stderr = bytearray()
        self._stages: list[tuple[int, float]] = []
        self._is_stopping = False
        self._deadline = self._last_child_scan = 0.0
        self.is_over = False
        self._selector = DefaultSelector()
        for stream in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
        self._selector.register(process.stdout, EVENT_READ, self._read_lines)
        self._selector.register(process.stderr, EVENT_READ, self._read_errors)
        self._selector.register(wakeup_fd, EVENT_READ, lambda: _drain(wakeup_fd))

    def step(self, *, has_running_commands: bool) -> None:
        """Process what is ready, or wait briefly."""
        patience = _BUSY_TICK_SECONDS if has_running_commands else _TICK_SECONDS
        ready = self._selector.select(0.02 if self._is_stopping else patience)
        if has_running_commands and monotonic() - self._last_child_scan > _BUSY_TICK_SECONDS:
            self._last_child_scan = monotonic()
            self._family.is_alive()
        for key, _ in ready:
            key.data()
        self._watch_writing()
        if self._is_stopping:
            if not ready and self._process.poll() is not None and not self._family.is_alive():
                self.is_over = True
            elif monotonic() > self._deadline:
                self._next_stage()
        elif self._process.poll() is not None:  # its child processes may hold the pipes
            self.stop(((0, _EOF_SECONDS), *STOP_SIGNALS[1:]))

    def stop(self, stages: Sequence[tuple[int, float]]) -> None:
        """End the process: each stage is a signal (0: end of input) and a number of seconds."""
        if not self._is_stopping:
            self._is_stopping = True
            self._family.is_alive()  # track its children while they can be found
            self._stages = list(stages)
            self._next_stage()

    def finish(self) -> str:
        """End all processes and close all streams; return how the process ended."""
        self._family.kill(self._process)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream and not stream.closed:
                stream.close()
        self._selector.close()
        try:
            code: object = self._process.wait(2)
        except subprocess.TimeoutExpired:
            code = "unknown"
        lines = self._stderr.decode("utf-8", "replace").split("\n")
        lines = [line for line in lines if line.strip() and not _LOG_LINE.match(line)]
        return "\n".join([f"exit code {code}", *lines[-_MAX_ERROR_LINES:]])

    def _next_stage(self) -> None:
        if not self._stages:
            self.is_over = True
            return
        number, seconds = self._stages.pop(0)
        self._deadline = monotonic() + seconds
        if number:
            self._family.send_signal(number)
        else:
            self._close_stream(self._process.stdin)

    def _watch_writing(self) -> None:
        stdin = self._process.stdin
        if stdin is None or stdin.closed:
            self._outbox.clear()
            return
        is_watched = stdin in self._selector.get_map()
        if self._outbox and not is_watched:
            self._selector.register(stdin, EVENT_WRITE, self._write)
        elif not self._outbox and is_watched:
            self._selector.unregister(stdin)

    def _write(self) -> None:
        assert self._process.stdin
        if not self._outbox:
            return
        try:
            written = os.write(self._process.stdin.fileno(), self._outbox[0][:CHUNK_BYTES])
        except BlockingIOError:
            return
        except OSError:  # it exited, and standard output will show that
            self._close_stream(self._process.stdin)
            return
        self._outbox[0] = self._outbox[0][written:]
        if not self._outbox[0]:
            self._outbox.popleft()

    def _read_lines(self) -> None:
        assert self._process.stdout
        chunk = read_chunk(self._process.stdout.fileno())
        for line in self._lines.feed(chunk or b""):
            self._receive(line)
        if chunk == b"":
            self._close_stream(self._process.stdout)
            self.stop(((0, _EOF_SECONDS), *STOP_SIGNALS[1:]))

    def _read_errors(self) -> None:
        assert self._process.stderr
        chunk = read_chunk(self._process.stderr.fileno())
        self._stderr += chunk or b""
        del self._stderr[:-_MAX_STDERR_BYTES]
        if chunk == b"":
            self._close_stream(self._process.stderr)

    def _close_stream(self, stream: object) -> None:
        if stream in self._selector.get_map():
            self._selector.unregister(stream)  # type: ignore[arg-type]
        stream.close()  # type: ignore[attr-defined]


def _pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    return reader, writer


def _wake(descriptor: int) -> None:
    with contextlib.suppress(BlockingIOError):  # full: it is readable anyway
        os.write(descriptor, b"!")


def _drain(descriptor: int) -> None:
    with contextlib.suppress(BlockingIOError):
        while os.read(descriptor, 4096):
            continue
