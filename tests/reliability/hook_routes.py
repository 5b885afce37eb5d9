"""A hook as a client runs it: a process with a payload on its stdin, whose exit code, answer and time are looked at."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from processes import SHIM, environment

from .hook_answers import fault_of
from .promise import Seen, none_of

NAMES = {"claude-code": "claude", "codex-cli": "codex"}
PATIENCE = 10.0
"""Seconds after which a client gives up on a hook."""
LEFT_RUNNING = 30.0


def shim(client: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(SHIM), client]


def upbeat_hook(client: str) -> list[str]:
    return [sys.executable, "-I", "-m", "upbeat", "hook", NAMES[client]]


@dataclass
class Tally:
    """What was looked at."""

    count: int = 0
    answered: int = 0
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)

    def note(self, route: str, fault: str, payload: bytes, seconds: float) -> None:
        """Count one run, and its fault if it had one or took too long."""
        self.count += 1
        self.slowest = max(self.slowest, seconds)
        if fault or seconds > PATIENCE:
            self.faults.append(f"{route}: {fault or 'took too long'}: {payload[:120]!r}")

    def note_process(
        self, route: str, client: str, payload: bytes, output: bytes, code: int | None, seconds: float
    ) -> None:
        """Count one process: ``code`` None where it had to be killed."""
        self.answered += bool(output)
        fault = "" if code == 0 else "had to be killed" if code is None else f"exit code {code}"
        self.note(route, fault or fault_of(client, payload, output), payload, seconds)

    def seen(self, claim: str, bound: str) -> Seen:
        """Return the promise that there is no fault."""
        figure = f"of {self.count:,} ({self.answered:,} answers), slowest {self.slowest:.1f} s"
        return none_of(claim, bound, self.faults, figure, holds=self.count > 0)


def run_hook(command: list[str], payload: bytes, home: Path, **options: Any) -> tuple[bytes, int | None, float]:
    """Run it; return its stdout, its exit code and the seconds."""
    options = {"env": environment(home), "cwd": home, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE} | options
    started = time.monotonic()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **options) as process:
        try:
            output, _ = process.communicate(payload if options["stdin"] == subprocess.PIPE else None, LEFT_RUNNING)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            output, code = b"", None
    return output or b"", code, time.monotonic() - started


Arrange = Callable[[ExitStack, bytes, Path], Mapping[str, Any]]
"""Makes the options of a process for a payload, and puts on the stack what has to be closed."""


def _stdin_file(stack: ExitStack, payload: bytes, folder: Path) -> Mapping[str, Any]:
    path = folder / "payload"
    path.write_bytes(payload)
    return {"stdin": stack.enter_context(path.open("rb"))}


def _stdin_socket(stack: ExitStack, payload: bytes, _folder: Path) -> Mapping[str, Any]:
    ours, theirs = map(stack.enter_context, socket.socketpair())
    ours.setblocking(False)
    ours.send(payload[:100_000])
    ours.shutdown(socket.SHUT_WR)
    return {"stdin": theirs.fileno()}


def _stdin_terminal(stack: ExitStack, payload: bytes, _folder: Path) -> Mapping[str, Any]:
    ours, theirs = os.openpty()
    stack.callback(os.close, ours)
    stack.callback(os.close, theirs)
    os.write(ours, payload[:2000] + b"\n\x04\x04")
    return {"stdin": theirs}


def _closed(number: int) -> Arrange:
    return lambda *_: {"preexec_fn": lambda: os.close(number)}


def _nobody_reads(stack: ExitStack, _payload: bytes, _folder: Path) -> Mapping[str, Any]:
    reader, writer = os.pipe()
    stack.callback(os.close, reader)
    stack.callback(os.close, writer)
    os.set_blocking(writer, False)
    try:
        while os.write(writer, b"x" * 4096):
            pass
    except BlockingIOError:
        os.set_blocking(writer, True)
    return {"stdout": writer}


def _reader_gone(stack: ExitStack, _payload: bytes, _folder: Path) -> Mapping[str, Any]:
    reader, writer = os.pipe()
    os.close(reader)
    stack.callback(os.close, writer)
    return {"stdout": writer}


def _full_disk(stack: ExitStack, _payload: bytes, _folder: Path) -> Mapping[str, Any]:
    return {"stdout": stack.enter_context(open("/dev/full", "wb"))}


def _cwd_deleted(_stack: ExitStack, _payload: bytes, folder: Path) -> Mapping[str, Any]:
    gone = folder / "gone"
    gone.mkdir()
    return {"cwd": gone, "preexec_fn": gone.rmdir}


def _variables(**changed: str | None) -> Arrange:
    def arrange(_stack: ExitStack, _payload: bytes, folder: Path) -> Mapping[str, Any]:
        variables = environment(folder) | changed
        return {"env": {name: value for name, value in variables.items() if value is not None}}

    return arrange


CONDITIONS: Mapping[str, Arrange] = {
    "stdin a pipe": lambda *_: {},
    "stdin a file": _stdin_file,
    "stdin a socket": _stdin_socket,
    "stdin a terminal": _stdin_terminal,
    "stdin closed": _closed(0),
    "stdin empty": lambda *_: {"stdin": subprocess.DEVNULL},
    "stdout closed": _closed(1),
    "stdout without a reader": _reader_gone,
    "stdout on a full disk": _full_disk,
    "stderr closed": _closed(2),
    "HOME unset": _variables(HOME=None),
    "HOME not there": lambda _stack, _payload, folder: {"env": environment(folder / "nowhere/at/all")},
    "HOME not writable": _variables(HOME="/proc"),
    "HOME relative": _variables(HOME="a/b"),
    "no environment": lambda *_: {"env": {}},
    "an unknown locale": _variables(LANG="xx_XX.nothing", LC_ALL="nowhere"),
    "no PATH": _variables(PATH=None),
    "working folder deleted": _cwd_deleted,
}
"""What a client, or a machine, may do to a hook."""
WRITES_NO_LOG = {"HOME unset", "HOME not there", "HOME not writable", "HOME relative", "no environment"}
"""Where there is no folder of its own for the log."""
SLOW_CONDITIONS: Mapping[str, Arrange] = {"stdout that nobody reads": _nobody_reads}
"""Those that end by the hook's own limit."""

BROKEN = (
    *("pydantic", "re2", "yaml", "apsw", "tree_sitter"),
    *("upbeat.core.engine.handle", "upbeat.adapters.wiring", "json"),
)
"""Modules without which it is tried."""
_RUN_SHIM = f"exec(compile(open({str(SHIM)!r}, encoding='utf-8').read(), 'shim.py', 'exec'))"


def without(module: str, client: str) -> Iterator[list[str]]:
    """Yield the commands of both routes where ``module`` cannot be imported."""
    lost = f"import sys; sys.modules[{module!r}] = None; "
    yield [sys.executable, "-I", "-S", "-c", f"{lost}sys.argv = ['shim', {client!r}]; {_RUN_SHIM}"]
    if module != "json":
        main = f"{lost}from upbeat.adapters.cli.main import main; sys.exit(main(['hook', {NAMES[client]!r}]))"
        yield [sys.executable, "-I", "-c", main]
