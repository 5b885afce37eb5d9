"""Does turns with ``codex exec --json``: one process a turn, the prompt on its standard input.

Law: one thread, one ``select``; nothing here can block. Standard input is closed after the prompt (an open pipe
hangs Codex), standard error is drained (a full one would), and the end of the process ends the turn even where a
process that it left behind holds its pipes.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from time import monotonic

from ...local.family import STAGES, Family, guarded, start
from .command import Command, compose, room
from .exec_events import Lines, decode, diagnose
from .failures import sharpened, waits_for_network
from .signals import Signals
from .transport import (
    PULSE_SECONDS,
    Ask,
    Began,
    CommandRun,
    Completed,
    Ending,
    Event,
    Failed,
    FileChange,
    Interrupted,
    Pulse,
    ToolCall,
    Trouble,
    TurnStarted,
    Unknown,
    Verbatim,
    Why,
)

IDLE_SECONDS = 600.0
"""Without progress for so long, a turn is stopped: Codex itself tries for ever to reach a provider."""

WORKING_FACTOR = 6
"""A command or tool call that runs may be silent for so many times longer."""

UNREACHABLE_SECONDS = 30.0
"""For so long may Codex wait for a provider that it cannot reach; without a limit of its own it does for ever."""

LINGER_SECONDS = 10.0
"""How long Codex may take to end after it has said that the turn is over."""

_CHUNK = 1 << 18
_LAST_CHUNKS = 256
"""Chunks read after the process has ended; more than a pipe holds."""

_MAX_STDERR = 1 << 16


class ExecTransport:
    """Implements ``transport.Transport``. ``program`` is the absolute path of Codex, ``variables`` its environment."""

    name = "exec"

    def __init__(
        self,
        command: Command,
        program: str,
        variables: Mapping[str, str],
        signals: Signals,
        idle_seconds: float = IDLE_SECONDS,
        *,
        verbatim: bool = False,
    ) -> None:
        self._command = command
        self._program = program
        self._variables = variables
        self._signals = signals
        self._idle_seconds = idle_seconds
        self._verbatim = verbatim
        """Whether each line of Codex is told as it came, too, behind the event that it is."""

    def planned_command(self, thread_id: str, effort: str = "") -> str:
        return self._command.shown(thread_id, effort)

    def room(self, prompt: str) -> int:
        return room(prompt)

    def send(self, ask: Ask) -> Iterator[Event]:
        if self.room(ask.prompt) < 0:
            yield Failed(Why.TOO_LONG)
            return
        if not self._program:
            yield Failed(Why.NO_PROGRAM)
            return
        with self._signals.watched():
            try:
                process, family = self._start(ask)
            except OSError as error:
                yield Failed(Why.NO_PROGRAM, f"{self._program}: {error.strerror}")
                return
            data = compose(ask).encode("utf-8")
            turn = _Turn(process, family, data, self._signals, self._idle_seconds, verbatim=self._verbatim)
            try:
                yield from turn.events()
            finally:
                turn.close()

    def fork(self, thread_id: str) -> str:
        from .exec_fork import fork

        return fork([self._program, *self._command.fork_arguments(thread_id)], self._variables)

    def close(self) -> None:
        return  # no process outlives its turn

    def _start(self, ask: Ask) -> tuple[subprocess.Popen[bytes], Family]:
        command = guarded([self._program, *self._command.arguments(ask.thread_id, ask.effort)])
        return start(command, self._variables, bufsize=0, spares_terminals=True)


class _Turn:
    """One running Codex."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        family: Family,
        data: bytes,
        signals: Signals,
        idle_seconds: float,
        *,
        verbatim: bool = False,
    ) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._process = process
        self._family = family
        self._signals = signals
        self._left = memoryview(data)
        self._lines = Lines()
        self._events: list[Event] = []
        self._stderr = bytearray()
        self._verbatim = verbatim
        self._began = False
        self._working: set[str] = set()
        self._ending: Ending | None = None
        self._stopped_by = 0
        self._given_up: Failed | None = None
        self._waits_since = 0.0
        self._stage = -1
        self._idle_seconds = idle_seconds
        self._progress = self._stage_began = self._ended_at = monotonic()
        self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()
        self._selector = DefaultSelector()
        for stream in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
        self._selector.register(process.stdin, EVENT_WRITE, self._write)
        self._selector.register(process.stdout, EVENT_READ, self._read_events)
        self._selector.register(process.stderr, EVENT_READ, self._read_stderr)
        self._selector.register(signals, EVENT_READ, self._read_signal)

    def events(self) -> Iterator[Event]:
        """All events of the turn, the ending last."""
        pulsed = monotonic()
        while not self._is_over():
            quiet = self._wait(self._patience())
            yield from self._take_events()
            if monotonic() - pulsed > PULSE_SECONDS:
                pulsed = monotonic()
                yield Pulse()
            self._watch_the_time(quiet)
        for _ in range(_LAST_CHUNKS):  # not until its end: a process that was left behind may hold the pipe
            if self._wait(0):
                break
            yield from self._take_events()
        if rest := self._lines.rest():
            self._take_line(rest)
            yield from self._take_events()
        yield self._conclusion()

    def close(self) -> None:
        """Leave nothing of a turn that was stopped, or not read to its end. What another one left behind lives on."""
        if self._process.poll() is None or self._stage >= 0:
            for number, seconds in ((signal.SIGTERM, 0.5), (signal.SIGKILL, 2.0)):
                self._family.signal(number)
                end = monotonic() + seconds
                while monotonic() < end and not self._is_gone():
                    self._selector.select(0.02)
            self._family.end(self._process)
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                stream.close()

    # --- one step ---

    def _wait(self, seconds: float) -> bool:
        """Do what can be done, after at most ``seconds``; True when there was nothing."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            key.data()
        return not ready

    def _patience(self) -> float:
        """Seconds to wait for the next news. The end of the process is no news of a file, so it is asked for."""
        return 0.1 if self._stdout in self._selector.get_map() and self._stage < 0 else 0.01

    def _watch_the_time(self, quiet: bool) -> None:
        now = monotonic()
        if self._stage >= 0:
            if now - self._stage_began > STAGES[self._stage][1] and self._stage + 1 < len(STAGES):
                self._stop_harder()
        elif self._ending:
            if now - self._ended_at > LINGER_SECONDS:
                self._stop_harder()
        elif self._idle_seconds and self._waits_since and now - self._waits_since > UNREACHABLE_SECONDS:
            self._given_up = Failed(Why.UNREACHABLE)
            self._stop_harder()
        elif self._idle_seconds and quiet:
            patience = self._idle_seconds * (WORKING_FACTOR if self._working else 1)
            if now - self._progress > patience:
                self._given_up = Failed(Why.SILENT, f"{self._idle_seconds:g}")
                self._stop_harder()

    def _is_over(self) -> bool:
        if self._stage < 0:
            return self._process.poll() is not None
        spent = self._stage + 1 == len(STAGES) and monotonic() - self._stage_began > STAGES[-1][1]
        return spent or self._is_gone()

    def _is_gone(self) -> bool:
        return self._process.poll() is not None and not self._family.is_alive()

    def _stop_harder(self) -> None:
        self._stage = min(self._stage + 1, len(STAGES) - 1)
        self._stage_began = monotonic()
        self._family.signal(STAGES[self._stage][0])

    # --- what comes in and goes out ---

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._stdin, self._left[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it has ended, and standard error will say why
            self._left = self._left[:0]
        if not self._left:
            self._drop(self._process.stdin)

    def _read_events(self) -> None:
        chunk = _read(self._stdout)
        if chunk == b"":
            self._drop(self._process.stdout)
        for line in self._lines.feed(chunk or b""):
            self._take_line(line)

    def _read_stderr(self) -> None:
        assert self._process.stderr
        chunk = _read(self._process.stderr.fileno())
        if chunk == b"":
            self._drop(self._process.stderr)
        self._stderr += chunk or b""
        del self._stderr[:-_MAX_STDERR]

    def _read_signal(self) -> None:
        number = self._signals.take()
        if number:
            self._stopped_by = number if number != signal.SIGINT else self._stopped_by or number
            self._stop_harder()

    def _drop(self, stream: object) -> None:
        self._selector.unregister(stream)  # type: ignore[arg-type]
        stream.close()  # type: ignore[attr-defined]

    def _take_line(self, line: bytes) -> None:
        self._note(decode(line))
        if self._verbatim:
            self._events.append(Verbatim(line))

    def _note(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._began = True
            case Began():
                self._working.add(event.item)
            case CommandRun() | FileChange() | ToolCall():
                self._working.discard(event.item)
            case Trouble() if waits_for_network(event.text):
                self._waits_since = self._waits_since or monotonic()
            case _:
                pass
        if not isinstance(event, Trouble | Unknown):
            self._progress = monotonic()
            self._waits_since = 0.0
        if isinstance(event, Completed | Failed | Interrupted):
            self._ending = event
            self._ended_at = monotonic()
        else:
            self._events.append(event)

    def _take_events(self) -> Iterator[Event]:
        events, self._events = self._events, []
        return iter(events)

    def _conclusion(self) -> Ending:
        code = self._process.returncode
        if self._stopped_by and not (self._stopped_by == signal.SIGINT and isinstance(self._ending, Completed)):
            return Interrupted(self._stopped_by)
        if self._given_up:
            return self._given_up
        if isinstance(self._ending, Failed):
            return sharpened(self._ending)
        if self._ending and (code == 0 or self._stage >= 0):
            return self._ending
        return diagnose(code if code is not None else -1, self._stderr.decode("utf-8", "replace"), began=self._began)


def _read(descriptor: int) -> bytes | None:
    """The next chunk; empty at the end, None when there is none now."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
