"""Run turns with ``codex exec --json``: one process for each turn, with the prompt on its standard input.

Invariant: one thread, one ``select``; nothing here can block. Standard input is closed after the prompt (an open pipe
hangs Codex), standard error is drained (a full one would), and the end of the process ends the turn even where a
process that it left behind holds its pipes.

The prompt is never an argument: as one it would end at 131,071 bytes, be read as a subcommand (``resume``) or as a
flag, and be seen by everybody who lists processes.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from time import monotonic

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.exec.events import decode, failure_from_exit
from upbeat.adapters.codex.transport.json_lines import CHUNK_BYTES, LineBuffer, read_chunk
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.adapters.system.process.tree import STOP_SIGNALS, ProcessTree, start_process, with_death_signal

MAX_PROMPT_CHARS = 1_048_576
"""Characters that Codex takes in one turn."""

EFFORT_SETTING = "model_reasoning_effort"
"""Codex's setting for how hard the model thinks."""

IDLE_SECONDS = 600.0
"""A turn without progress is stopped after this time: Codex itself retries a provider forever."""

RUNNING_ITEM_IDLE_FACTOR = 6
"""A running command or tool call may be silent for this many times longer."""

UNREACHABLE_SECONDS = 30.0
"""How long Codex may wait for an unreachable provider; it has no limit of its own."""

EXIT_SECONDS = 10.0
"""How long Codex may take to exit after the end of the turn."""

FORK_SECONDS = 30.0
"""How long Codex may take to copy a thread; it usually takes 0.4 s."""

_MAX_CHUNKS_AFTER_EXIT = 256
"""Chunks that are read after the process exited; more than a pipe holds."""

_MAX_STDERR_BYTES = 1 << 16
_RESERVED_FLAGS = ("--json", "-C", "--cd", "--last", "--all")
_NOT_FLAGS = ("--", "-", "resume", "review", "fork", "help", "-h", "--help", "-V", "--version")


@dataclass(frozen=True, slots=True)
class CodexCommandLine:
    """How Codex is started. ``program`` is a name or a path; ``folder`` and ``flags`` are as the user gave them."""

    program: str = "codex"
    folder: str = ""
    flags: tuple[str, ...] = ()
    is_outside_git: bool = False

    def turn_arguments(self, thread_id: str, effort: str = "") -> list[str]:
        """Return the arguments of one turn on ``thread_id``, or on a new thread; ``effort`` holds for it alone.

        ``-C`` and ``-s`` are not understood behind ``resume``, so all flags stand before it. ``--json`` comes last
        of them: it ends the values of a greedy flag such as ``-i``.
        """
        resume = ["resume", thread_id] if thread_id else []
        return [*self._common_arguments(effort), *resume, "-"]

    def fork_arguments(self, thread_id: str) -> list[str]:
        """Return the arguments that copy ``thread_id``; without a prompt no turn runs."""
        return [*self._common_arguments(), "fork", thread_id]

    def _common_arguments(self, effort: str = "") -> list[str]:
        folder = ["-C", f"./{self.folder}" if self.folder.startswith("-") else self.folder] if self.folder else []
        check = ["--skip-git-repo-check"] if self.is_outside_git else []
        effort_option = ["-c", f"{EFFORT_SETTING}={effort}"] if effort else []
        return ["exec", *folder, *self.flags, *effort_option, *check, "--json"]

    def display(self, thread_id: str, effort: str = "") -> str:
        """Return the command line of a turn, quoted for a shell."""
        return shlex.join([self.program, *self.turn_arguments(thread_id, effort)])


def effort_from_flags(flags: Sequence[str]) -> str:
    """Return the effort that ``flags`` set for every turn; empty if none does."""
    effort = ""
    for flag in flags:
        before, is_set, value = flag.partition(f"{EFFORT_SETTING}=")
        if is_set and before in ("", "-c", "-c=", "--config="):
            effort = value.strip("\"' ")
    return effort


def flags_problem(flags: Sequence[str]) -> str:
    """Return why ``flags`` cannot be passed to ``codex exec``; empty if they can."""
    for flag in flags:
        name = flag.partition("=")[0]
        if name in ("-C", "--cd"):
            return f"{name} is set by codex-auto; use --repo DIR"
        if name in _RESERVED_FLAGS:
            return f"{name} is set by codex-auto; omit it"
        if flag in _NOT_FLAGS:
            return f"'{flag}' is not a flag of codex exec; put only flags after --, and the prompt before it"
    if flags and not flags[0].startswith("-"):
        return f"'{flags[0]}' is not a flag; put only flags of codex exec after --, and the prompt before it"
    return ""


def compose_stdin(turn_input: base.TurnInput) -> str:
    """Join guidance, context and prompt with blank lines; a prompt alone is not changed.

    Codex drops a byte order mark at the start of a prompt, but not after a context, so it is removed here.
    """
    before = [part for part in (turn_input.guidance, turn_input.context) if part]
    return "\n\n".join((*before, turn_input.prompt.removeprefix(chr(0xFEFF)))) if before else turn_input.prompt


class ExecTransport:
    """Implements ``base.Transport``. ``program`` is the absolute path of Codex, ``variables`` its environment."""

    name = "exec"

    def __init__(
        self,
        command_line: CodexCommandLine,
        program: str,
        variables: Mapping[str, str],
        signals: SignalHandler,
        idle_seconds: float = IDLE_SECONDS,
        *,
        emits_raw_lines: bool = False,
    ) -> None:
        self._command_line = command_line
        self._program = program
        self._variables = variables
        self._signals = signals
        self._idle_seconds = idle_seconds
        self._emits_raw_lines = emits_raw_lines
        """Whether each line of Codex follows its event as a ``RawLine``."""

    def planned_command(self, thread_id: str, effort: str = "") -> str:
        return self._command_line.display(thread_id, effort)

    def remaining_chars(self, prompt: str) -> int:
        """Return the characters left for a context next to ``prompt``, without the blank line between them."""
        return MAX_PROMPT_CHARS - len(prompt) - (2 if len(prompt) < MAX_PROMPT_CHARS else 0)

    def send(self, turn_input: base.TurnInput) -> Iterator[base.TurnEvent]:
        if self.remaining_chars(turn_input.prompt) < 0:
            yield base.Failed(base.FailureReason.PROMPT_TOO_LONG)
            return
        if not self._program:
            yield base.Failed(base.FailureReason.LAUNCH_FAILED)
            return
        with self._signals.deferring():
            try:
                arguments = self._command_line.turn_arguments(turn_input.thread_id, turn_input.effort)
                command = with_death_signal([self._program, *arguments])
                process, family = start_process(command, self._variables, bufsize=0, spares_terminals=True)
            except OSError as error:
                yield base.Failed(base.FailureReason.LAUNCH_FAILED, f"{self._program}: {error.strerror}")
                return
            data = compose_stdin(turn_input).encode("utf-8")
            turn = _ExecTurn(
                process, family, data, self._signals, self._idle_seconds, emits_raw_lines=self._emits_raw_lines
            )
            try:
                yield from turn.events()
            finally:
                turn.close()

    def fork(self, thread_id: str) -> str:
        """Copy ``thread_id`` with ``codex exec fork``: no prompt, no turn, no request to a model.

        Standard input is closed; an open one makes Codex hang.
        """
        command = with_death_signal([self._program, *self._command_line.fork_arguments(thread_id)])
        try:
            process, family = start_process(command, self._variables, stdin=subprocess.DEVNULL)
        except OSError as error:
            failure = base.Failed(base.FailureReason.LAUNCH_FAILED, f"{self._program}: {error.strerror}")
            raise base.CodexRequestError(failure) from None
        with process:
            try:
                out, err = process.communicate(timeout=FORK_SECONDS)
            except subprocess.TimeoutExpired:
                failure = base.Failed(base.FailureReason.IDLE_TIMEOUT, f"{FORK_SECONDS:g}")
                raise base.CodexRequestError(failure) from None
            finally:
                family.kill(process)  # also after a timeout or an interrupt
        events = [decode(line) for line in out.split(b"\n") if line]
        started = [event.thread_id for event in events if isinstance(event, base.ThreadStarted)]
        if process.returncode or not started:
            stderr = err.decode("utf-8", "replace")
            raise base.CodexRequestError(failure_from_exit(process.returncode, stderr, has_begun=False))
        return started[-1]

    def close(self) -> None:
        return  # every process ends with its turn


class _ExecTurn:
    """One running Codex."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        family: ProcessTree,
        stdin_data: bytes,
        signals: SignalHandler,
        idle_seconds: float,
        *,
        emits_raw_lines: bool = False,
    ) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._process = process
        self._family = family
        self._signals = signals
        self._unsent = memoryview(stdin_data)
        self._lines = LineBuffer()
        self._events: list[base.TurnEvent] = []
        self._stderr = bytearray()
        self._emits_raw_lines = emits_raw_lines
        self._has_begun = False
        self._running_items: set[str] = set()
        self._ending: base.Ending | None = None
        self._stopped_by = 0
        self._timeout_failure: base.Failed | None = None
        self._offline_since = 0.0
        self._stage = -1
        self._idle_seconds = idle_seconds
        self._last_progress = self._stage_began = self._ended_at = monotonic()
        self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()
        self._selector = DefaultSelector()
        for stream in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
        self._selector.register(process.stdin, EVENT_WRITE, self._write)
        self._selector.register(process.stdout, EVENT_READ, self._read_events)
        self._selector.register(process.stderr, EVENT_READ, self._read_stderr)
        self._selector.register(signals, EVENT_READ, self._read_signal)

    def events(self) -> Iterator[base.TurnEvent]:
        """Yield all events of the turn, the ending last."""
        last_heartbeat = monotonic()
        while not self._is_over():
            # the end of the process is no event of a file, so it is polled
            is_reading = self._stdout in self._selector.get_map() and self._stage < 0
            is_quiet = self._wait(0.1 if is_reading else 0.01)
            yield from self._take_events()
            if monotonic() - last_heartbeat > base.HEARTBEAT_SECONDS:
                last_heartbeat = monotonic()
                yield base.Heartbeat()
            self._check_deadlines(is_quiet)
        for _ in range(_MAX_CHUNKS_AFTER_EXIT):  # not to the end: a process that was left behind may hold the pipe
            if self._wait(0):
                break
            yield from self._take_events()
        if rest := self._lines.remainder():
            self._handle_line(rest)
            yield from self._take_events()
        yield self._final_ending()

    def close(self) -> None:
        """End all processes of a turn that was stopped or not read to its end."""
        if self._process.poll() is None or self._stage >= 0:
            for number, seconds in ((signal.SIGTERM, 0.5), (signal.SIGKILL, 2.0)):
                self._family.send_signal(number)
                end = monotonic() + seconds
                while monotonic() < end and not self._has_exited():
                    self._selector.select(0.02)
            self._family.kill(self._process)
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                stream.close()

    # --- one step ---

    def _wait(self, seconds: float) -> bool:
        """Process what is ready within ``seconds``; return True if nothing was."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            key.data()
        return not ready

    def _check_deadlines(self, is_quiet: bool) -> None:
        now = monotonic()
        if self._stage >= 0:
            if now - self._stage_began > STOP_SIGNALS[self._stage][1] and self._stage + 1 < len(STOP_SIGNALS):
                self._escalate_stop()
        elif self._ending:
            if now - self._ended_at > EXIT_SECONDS:
                self._escalate_stop()
        elif self._idle_seconds and self._offline_since and now - self._offline_since > UNREACHABLE_SECONDS:
            self._timeout_failure = base.Failed(base.FailureReason.PROVIDER_UNREACHABLE)
            self._escalate_stop()
        elif self._idle_seconds and is_quiet:
            patience = self._idle_seconds * (RUNNING_ITEM_IDLE_FACTOR if self._running_items else 1)
            if now - self._last_progress > patience:
                self._timeout_failure = base.Failed(base.FailureReason.IDLE_TIMEOUT, f"{self._idle_seconds:g}")
                self._escalate_stop()

    def _is_over(self) -> bool:
        if self._stage < 0:
            return self._process.poll() is not None
        spent = self._stage + 1 == len(STOP_SIGNALS) and monotonic() - self._stage_began > STOP_SIGNALS[-1][1]
        return spent or self._has_exited()

    def _has_exited(self) -> bool:
        return self._process.poll() is not None and not self._family.is_alive()

    def _escalate_stop(self) -> None:
        self._stage = min(self._stage + 1, len(STOP_SIGNALS) - 1)
        self._stage_began = monotonic()
        self._family.send_signal(STOP_SIGNALS[self._stage][0])

    # --- input and output ---

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._stdin, self._unsent[:CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # Codex exited, and standard error will say why
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._close_stream(self._process.stdin)

    def _read_events(self) -> None:
        chunk = read_chunk(self._stdout)
        if chunk == b"":
            self._close_stream(self._process.stdout)
        for line in self._lines.feed(chunk or b""):
            self._handle_line(line)

    def _read_stderr(self) -> None:
        assert self._process.stderr
        chunk = read_chunk(self._process.stderr.fileno())
        if chunk == b"":
            self._close_stream(self._process.stderr)
        self._stderr += chunk or b""
        del self._stderr[:-_MAX_STDERR_BYTES]

    def _read_signal(self) -> None:
        number = self._signals.take_pending()
        if number:
            self._stopped_by = number if number != signal.SIGINT else self._stopped_by or number
            self._escalate_stop()

    def _close_stream(self, stream: object) -> None:
        self._selector.unregister(stream)  # type: ignore[arg-type]
        stream.close()  # type: ignore[attr-defined]

    def _handle_line(self, line: bytes) -> None:
        self._track_event(decode(line))
        if self._emits_raw_lines:
            self._events.append(base.RawLine(line))

    def _track_event(self, event: base.TurnEvent) -> None:
        match event:
            case base.TurnStarted():
                self._has_begun = True
            case base.ItemStarted():
                self._running_items.add(event.item_id)
            case base.CommandFinished() | base.FilesChanged() | base.ToolCall():
                self._running_items.discard(event.item_id)
            case base.Reconnecting() if base.is_waiting_for_network(event.text):
                self._offline_since = self._offline_since or monotonic()
            case _:
                pass
        if not isinstance(event, base.Reconnecting | base.UnrecognizedEvent):
            self._last_progress = monotonic()
            self._offline_since = 0.0
        if isinstance(event, base.Completed | base.Failed | base.Interrupted):
            self._ending = event
            self._ended_at = monotonic()
        else:
            self._events.append(event)

    def _take_events(self) -> Iterator[base.TurnEvent]:
        events, self._events = self._events, []
        return iter(events)

    def _final_ending(self) -> base.Ending:
        code = self._process.returncode
        if self._stopped_by and not (self._stopped_by == signal.SIGINT and isinstance(self._ending, base.Completed)):
            return base.Interrupted(self._stopped_by)
        if self._timeout_failure:
            return self._timeout_failure
        if isinstance(self._ending, base.Failed):
            return base.classify_failure(self._ending)
        if self._ending and (code == 0 or self._stage >= 0):
            return self._ending
        return failure_from_exit(
            code if code is not None else -1, self._stderr.decode("utf-8", "replace"), has_begun=self._has_begun
        )
