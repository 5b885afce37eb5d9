"""One running ``codex app-server``: its pipes, its processes, and who waits for which answer.

Law: one thread of its own does all reading, writing and killing, and never waits for anybody who calls; so the
server is never held up, and its end is noticed at once. Every question gets an answer or ``ConnectionLost``.

The thread starts the process, too: where the end of a parent is a signal to its child (``family.guarded``), the
parent is the thread.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from threading import Lock, Thread
from time import monotonic

from ...local.family import STAGES, Family, guarded, start
from . import app_server_rpc as rpc
from .app_server_events import KNOWN
from .exec_events import Lines

LEAVE_SECONDS = 2.0
"""How long the server may take to end after its standard input was closed."""

_EOF_SECONDS = 0.3
_TICK = 1.0
_WATCH_TICK = 0.25
_CHUNK = 1 << 18
_MAX_STDERR = 1 << 14
_SHOWN_LINES = 6
_IS_LOG = re.compile(r"(\x1b\[[0-9;]*m)*\d{4}-\d\d-\d\dT")
"""A line of the server's log on standard error; what it says before it ends is none."""

Incoming = rpc.Request | rpc.Notification | rpc.Noise


class ConnectionLost(Exception):
    """The server has ended before it answered; the text says how."""


class RequestRefused(Exception):
    """The server will not do what it was asked; the text says why."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Connection:
    """A server that is being started, runs, or has ended. ``fileno`` is readable when there is news of any kind."""

    def __init__(self, argv: Sequence[str], variables: Mapping[str, str]) -> None:
        self._argv = list(argv)
        self._variables = dict(variables)
        self._lock = Lock()
        self._pending: dict[int, Future[rpc.Fields]] = {}
        self._number = 0
        self._inbox: deque[Incoming] = deque()
        self._outbox: deque[memoryview] = deque()
        self._news_reader, self._news_writer = _pipe()
        self._orders_reader, self._orders_writer = _pipe()
        self._stopping: tuple[tuple[int, float], ...] | None = None
        self._ended = ""
        self.is_working = False
        """Whether the server runs commands now: then it is remembered who belongs to it, in case it dies."""
        self._thread = Thread(target=self._run, name="codex app-server", daemon=True)
        self._thread.start()

    # --- for everybody ---

    def fileno(self) -> int:
        return self._news_reader

    @property
    def ended(self) -> str:
        """How the server has ended; empty while it runs."""
        return self._ended

    def ask(self, method: str, fields: rpc.Fields) -> Future[rpc.Fields]:
        """The answer to come. Its exception is ``RequestRefused`` or ``ConnectionLost``."""
        future: Future[rpc.Fields] = Future()
        with self._lock:
            self._number += 1
            number = self._number
            if self._ended:
                future.set_exception(ConnectionLost(self._ended))
                return future
            self._pending[number] = future
        self._send(rpc.request(number, method, fields))
        return future

    def tell(self, method: str) -> None:
        """Send a notification."""
        self._send(rpc.notification(method))

    def answer(self, request: rpc.Request, fields: rpc.Fields) -> None:
        """Give the server what it asked for."""
        self._send(rpc.answer(request.number, fields))

    def refuse(self, request: rpc.Request, text: str) -> None:
        """Tell the server that it will not get what it asked for."""
        self._send(rpc.refusal(request.number, text))

    def hush(self) -> None:
        """Take the news that there is news, and leave it where it is."""
        _drain(self._news_reader)

    def take(self) -> list[Incoming]:
        """What the server has said since the last time."""
        _drain(self._news_reader)
        taken = []
        while self._inbox:
            taken.append(self._inbox.popleft())
        return taken

    def close(self) -> None:
        """Let the server end, and see to it. No process of it is left, as far as the system lets us know."""
        self._stop(((0, LEAVE_SECONDS), *STAGES[1:]))

    def kill(self) -> None:
        """End the server and everything that it has started, now."""
        self._stop(((signal.SIGTERM, 0.5), STAGES[-1]))

    def _stop(self, stages: tuple[tuple[int, float], ...]) -> None:
        self._stopping = self._stopping or stages
        _poke(self._orders_writer)
        self._thread.join(sum(seconds for _, seconds in stages) + 5)

    def _send(self, line: bytes) -> None:
        self._outbox.append(memoryview(line))
        _poke(self._orders_writer)

    # --- for the thread ---

    def _run(self) -> None:
        try:
            process, family = start(guarded(self._argv), self._variables, bufsize=0, spares_terminals=True)
        except OSError as error:
            self._end(f"{self._argv[0]}: {error.strerror}")
            return
        pump = _Pump(process, family, self._outbox, self._receive, self._orders_reader)
        while not pump.is_over:
            pump.step(is_working=self.is_working)
            if self._stopping is not None:
                pump.stop(self._stopping)
        self._end(pump.finish())

    def _receive(self, line: bytes) -> None:
        message = rpc.parse(line)
        match message:
            case rpc.Result() | rpc.Refusal():
                with self._lock:
                    future = self._pending.pop(message.number, None)
                if future is None:
                    return
                if isinstance(message, rpc.Result):
                    future.set_result(message.fields)
                else:
                    future.set_exception(RequestRefused(message.code, message.text))
            case rpc.Notification() if message.method not in KNOWN:
                return
            case _:
                self._inbox.append(message)
        _poke(self._news_writer)

    def _end(self, how: str) -> None:
        with self._lock:
            self._ended = how
            left, self._pending = self._pending, {}
        for future in left.values():
            future.set_exception(ConnectionLost(how))
        _poke(self._news_writer)

    def __del__(self) -> None:
        for descriptor in (self._news_reader, self._news_writer, self._orders_reader, self._orders_writer):
            with contextlib.suppress(OSError):
                os.close(descriptor)


class _Pump:
    """Moves bytes to and from one process until it has ended."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        family: Family,
        outbox: deque[memoryview],
        receive: Callable[[bytes], None],
        orders: int,
    ) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._process = process
        self._family = family
        self._outbox = outbox
        self._receive = receive
        self._orders = orders
        self._lines = Lines()
        self._stderr = bytearray()
        self._stages: list[tuple[int, float]] = []
        self._is_stopping = False
        self._deadline = self._looked = 0.0
        self.is_over = False
        self._selector = DefaultSelector()
        for stream in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
        self._selector.register(process.stdout, EVENT_READ, self._read_lines)
        self._selector.register(process.stderr, EVENT_READ, self._read_errors)
        self._selector.register(orders, EVENT_READ, self._read_orders)

    def step(self, *, is_working: bool) -> None:
        """Do what can be done now, or wait for it a little."""
        patience = _WATCH_TICK if is_working else _TICK
        ready = self._selector.select(0.02 if self._is_stopping else patience)
        if is_working and monotonic() - self._looked > _WATCH_TICK:
            self._looked = monotonic()
            self._family.is_alive()
        for key, _ in ready:
            key.data()
        self._watch_writing()
        if self._is_stopping:
            self._go_on_stopping(is_quiet=not ready)
        elif self._process.poll() is not None:  # its pipes may be held by what it has started
            self.stop(((0, _EOF_SECONDS), *STAGES[1:]))

    def stop(self, stages: Sequence[tuple[int, float]]) -> None:
        """End the process: each stage is a signal (0: the end of its input) and the seconds that it has."""
        if not self._is_stopping:
            self._is_stopping = True
            self._family.is_alive()  # remember who belongs to it while that can be seen
            self._stages = list(stages)
            self._next_stage()

    def finish(self) -> str:
        """End what is left, and close everything; how the process has ended."""
        self._family.end(self._process)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream and not stream.closed:
                stream.close()
        self._selector.close()
        try:
            code: object = self._process.wait(2)
        except subprocess.TimeoutExpired:
            code = "unknown"
        lines = self._stderr.decode("utf-8", "replace").split("\n")
        lines = [line for line in lines if line.strip() and not _IS_LOG.match(line)]
        return "\n".join([f"exit code {code}", *lines[-_SHOWN_LINES:]])

    def _go_on_stopping(self, *, is_quiet: bool) -> None:
        if is_quiet and self._process.poll() is not None and not self._family.is_alive():
            self.is_over = True
        elif monotonic() > self._deadline:
            self._next_stage()

    def _next_stage(self) -> None:
        if not self._stages:
            self.is_over = True
            return
        number, seconds = self._stages.pop(0)
        self._deadline = monotonic() + seconds
        if number:
            self._family.signal(number)
        else:
            self._drop(self._process.stdin)

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
            written = os.write(self._process.stdin.fileno(), self._outbox[0][:_CHUNK])
        except BlockingIOError:
            return
        except OSError:  # it has ended, and standard output will say so
            self._drop(self._process.stdin)
            return
        self._outbox[0] = self._outbox[0][written:]
        if not self._outbox[0]:
            self._outbox.popleft()

    def _read_lines(self) -> None:
        assert self._process.stdout
        chunk = _read(self._process.stdout.fileno())
        for line in self._lines.feed(chunk or b""):
            self._receive(line)
        if chunk == b"":
            self._drop(self._process.stdout)
            self.stop(((0, _EOF_SECONDS), *STAGES[1:]))

    def _read_errors(self) -> None:
        assert self._process.stderr
        chunk = _read(self._process.stderr.fileno())
        self._stderr += chunk or b""
        del self._stderr[:-_MAX_STDERR]
        if chunk == b"":
            self._drop(self._process.stderr)

    def _read_orders(self) -> None:
        _drain(self._orders)

    def _drop(self, stream: object) -> None:
        if stream in self._selector.get_map():
            self._selector.unregister(stream)  # type: ignore[arg-type]
        stream.close()  # type: ignore[attr-defined]


def _pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    return reader, writer


def _poke(descriptor: int) -> None:
    with contextlib.suppress(BlockingIOError):  # full: it is readable anyway
        os.write(descriptor, b"!")


def _drain(descriptor: int) -> None:
    with contextlib.suppress(BlockingIOError):
        while os.read(descriptor, 4096):
            continue


def _read(descriptor: int) -> bytes | None:
    """The next chunk; empty at the end, None when there is none now."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
