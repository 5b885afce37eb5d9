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

NAMES = {"claude-code": "claude", "codex-cli": "codex"}
PATIENCE = 10.0
"""Seconds after which a client gives up on a hook."""
LEFT_RUNNING = 30.0
MOST_SHOWN = 3


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

    def look(self, what: str, client: str, payload: bytes, output: bytes, code: int | None, seconds: float) -> None:
        """One run: ``code`` None where it had to be killed."""
        self.count += 1
        self.answered += bool(output)
        self.slowest = max(self.slowest, seconds)
        fault = "" if code == 0 else "had to be killed" if code is None else f"exit code {code}"
        fault = fault or ("took too long" if seconds > PATIENCE else "") or fault_of(client, payload, output)
        if fault:
            self.faults.append(f"{what}: {fault}: {payload[:120]!r}")

    def __str__(self) -> str:
        shown = "".join(f"; {fault}" for fault in self.faults[:MOST_SHOWN])
        return f"{len(self.faults)} of {self.count:,} ({self.answered:,} answers), slowest {self.slowest:.1f} s{shown}"


def run_hook(command: list[str], payload: bytes, home: Path, **options: Any) -> tuple[bytes, int | None, float]:
    """Run it; its stdout, its exit code and the seconds."""
    options = {"env": environment(home), "cwd": home} | options
    given: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.DEVNULL,
    } | options
    started = time.monotonic()
    with subprocess.Popen(command, **given) as process:
        try:
            output, _ = process.communicate(payload if given["stdin"] == subprocess.PIPE else None, LEFT_RUNNING)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            output, code = b"", None
    return output or b"", code, time.monotonic() - started


Arrange = Callable[[ExitStack, bytes, Path], Mapping[str, Any]]
"""Makes the options of a process for a payload, and puts on the stack what is to be closed."""


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
    return lambda _stack, _payload, _folder: {"preexec_fn": lambda: os.close(number)}


def _nobody_reads(stack: ExitStack, _payload: bytes, _folder: Path) -> Mapping[str, Any]:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    while _takes(writer):
        pass
    os.set_blocking(writer, True)
    stack.callback(os.close, reader)
    stack.callback(os.close, writer)
    return {"stdout": writer}


def _takes(writer: int) -> bool:
    try:
        return os.write(writer, b"x" * 4096) > 0
    except BlockingIOError:
        return False


def _reader_gone(stack: ExitStack, _payload: bytes, _folder: Path) -> Mapping[str, Any]:
    reader, writer = os.pipe()
    os.close(reader)
    stack.callback(os.close, writer)
    return {"stdout": writer}


def _stdout_full(stack: ExitStack, _payload: bytes, _folder: Path) -> Mapping[str, Any]:
    return {"stdout": stack.enter_context(open("/dev/full", "wb"))}


def _cwd_deleted(_stack: ExitStack, _payload: bytes, folder: Path) -> Mapping[str, Any]:
    gone = folder / "gone"
    gone.mkdir()
    return {"cwd": gone, "preexec_fn": gone.rmdir}


def _variables(**changed: str | None) -> Arrange:
    def arrange(_stack: ExitStack, _payload: bytes, folder: Path) -> Mapping[str, Any]:
        variables = environment(folder) | {name: value for name, value in changed.items() if value is not None}
        return {"env": {name: value for name, value in variables.items() if changed.get(name, "") is not None}}

    return arrange


def _plain(_stack: ExitStack, _payload: bytes, _folder: Path) -> Mapping[str, Any]:
    return {}


SCENARIOS: Mapping[str, Arrange] = {
    "stdin a pipe": _plain,
    "stdin a file": _stdin_file,
    "stdin a socket": _stdin_socket,
    "stdin a terminal": _stdin_terminal,
    "stdin closed": _closed(0),
    "stdin empty": lambda *_: {"stdin": subprocess.DEVNULL},
    "stdout closed": _closed(1),
    "stdout without a reader": _reader_gone,
    "stdout on a full disk": _stdout_full,
    "stderr closed": _closed(2),
    "HOME unset": _variables(HOME=None),
    "HOME not there": lambda _stack, _payload, folder: {
        "env": environment(folder) | {"HOME": str(folder / "nowhere/at/all")}
    },
    "HOME not writable": _variables(HOME="/proc"),
    "HOME relative": _variables(HOME="a/b"),
    "no environment": lambda *_: {"env": {}},
    "a locale that is none": _variables(LANG="xx_XX.nothing", LC_ALL="nowhere"),
    "no PATH": _variables(PATH=None),
    "working folder deleted": _cwd_deleted,
}
"""What a client, or a machine, may do to a hook."""
WRITES_NO_LOG = {"HOME unset", "HOME not there", "HOME not writable", "HOME relative", "no environment"}
"""Where there is no folder of its own for the log."""
SLOW_SCENARIOS: Mapping[str, Arrange] = {"stdout that nobody reads": _nobody_reads}
"""Those that end by the hook's own limit."""

BROKEN = (
    "pydantic",
    "re2",
    "yaml",
    "apsw",
    "tree_sitter",
    "upbeat.core.engine.handle",
    "upbeat.adapters.wiring",
    "json",
)
"""Modules without which it is tried."""


def without(module: str, client: str) -> Iterator[list[str]]:
    """The commands of both routes where ``module`` cannot be imported."""
    lost = f"import sys; sys.modules[{module!r}] = None; "
    yield [sys.executable, "-I", "-S", "-c", f"{lost}sys.argv = ['shim', {client!r}]; {_RUN % str(SHIM)}"]
    if module != "json":
        main = f"{lost}from upbeat.adapters.cli.main import main; sys.exit(main(['hook', {NAMES[client]!r}]))"
        yield [sys.executable, "-I", "-c", main]


_RUN = "exec(compile(open(%r, encoding='utf-8').read(), 'shim.py', 'exec'))"
