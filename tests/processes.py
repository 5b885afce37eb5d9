"""Runs the real commands in processes and environments of their own."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Any, NoReturn, Self, TypeVar

import jsonschema_rs

from upbeat.adapters.cli.main import main
from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.wiring import build_application

Result = TypeVar("Result")
ROOT = Path(__file__).parent.parent
LOADED = (build_application(),)
"""What a command imports when it needs it is here already, so that a fork of this process need not."""
SECONDS = 30.0
"""How long a command may take."""
AT_THE_START = ("PYTHON", "LANG", "LC_", "TZ")
"""Variables that Python reads when it starts."""

BIN = Path(sys.executable).parent
UPBEAT = str(BIN / "upbeat")
SHIM = ROOT / "adapters" / "hook_entry" / "shim.py"
REPORT_SCHEMA = jsonschema_rs.validator_for(
    json.loads((ROOT / "config/schema/v1/turn-report.schema.json").read_text(encoding="utf-8"))
)


@dataclass(frozen=True)
class Finished:
    """What a process left: its exit code, and both streams."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        """The one valid v1 object on stdout."""
        report: dict[str, Any] = json.loads(self.stdout)
        REPORT_SCHEMA.validate(report)
        return report

    @property
    def limits(self) -> list[str]:
        return [limit["code"] for limit in self.report["limits"]]


def environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a whole environment: a home of its own, nothing of the caller's."""
    return {"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"} | dict(extra or {})


def run(
    command: list[str],
    cwd: Path,
    stdin: bytes | int | None = None,
    home: Path | None = None,
    timeout: float = SECONDS,
    **extra: str,
) -> Finished:
    """Run ``command`` to its end. ``stdin`` is what it reads, or a file descriptor; nothing by default."""
    given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin or subprocess.DEVNULL}
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment(home or cwd, extra),
        capture_output=True,
        timeout=timeout,
        check=False,
        **given,
    )
    return Finished(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def upbeat(
    *arguments: str, cwd: Path, stdin: bytes | int | None = None, home: Path | None = None, **extra: str
) -> Finished:
    """Run ``upbeat ARGUMENTS``, in a fork of this process where that makes no difference."""
    if any(name.startswith(AT_THE_START) for name in extra):
        return run([UPBEAT, *arguments], cwd, stdin, home, **extra)
    with Fork(main, arguments, cwd, environment(home or cwd, extra), stdin) as fork:
        return fork.wait()


class Fork:
    """The function behind a console script, in a process of its own that has its imports already.

    What Python does before and after a program is left out: how long it takes, and what ends it, need ``run``.
    The end of the ``with`` kills what still runs.
    """

    def __init__(
        self,
        command: Callable[[Sequence[str]], int],
        arguments: Sequence[str],
        cwd: Path,
        variables: Mapping[str, str],
        stdin: bytes | int | None = None,
    ) -> None:
        self._code: int | None = None
        self._streams = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115 -- closed by __exit__
        if isinstance(stdin, bytes):
            self._streams[0].write(stdin)
            self._streams[0].seek(0)
        numbers = [stream.fileno() for stream in self._streams]
        if isinstance(stdin, int):
            numbers[0] = stdin
        self.pid = os.fork()
        if self.pid == 0:
            _become(command, arguments, numbers, cwd, variables)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._code is None:
            self.send(signal.SIGKILL)
            os.waitpid(self.pid, 0)
        for stream in self._streams:
            stream.close()

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def wait(self, seconds: float = SECONDS) -> Finished:
        """Return what it left. Raises TimeoutError when it does not end within ``seconds``."""
        if self._code is None:
            child = os.pidfd_open(self.pid)
            has_ended = bool(select.select([child], [], [], seconds)[0])
            os.close(child)
            if not has_ended:
                raise TimeoutError(f"it did not end within {seconds:g} s")
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        _, out, err = self._streams
        return Finished(self._code, _content(out), _content(err).decode("utf-8", "replace"))


def in_a_fork(work: Callable[..., Result], *arguments: Any) -> Result:
    """Return the result of ``work(*arguments)``, which runs in a fork of this process. Raises EOFError if it fails."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(work(*arguments)))
    process.start()
    sender.close()
    result: Result = receiver.recv()
    process.join()
    return result


def pids_with_home(home: Path) -> list[int]:
    """Return the processes that were started with ``home`` as HOME, directly or by another one."""
    return pids_with_variables(f"HOME={home}")


def pids_with_variables(*entries: str) -> list[int]:
    """Return the processes that were started with all ``entries`` (``NAME=value``) in their environment."""
    wanted = {entry.encode() for entry in entries}
    pids = []
    for variables in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if wanted <= set(variables.read_bytes().split(b"\0")):
                pids.append(int(variables.parent.name))
    return pids


def command_lines_with(*entries: str) -> list[list[str]]:
    """Return the command lines of the living processes with all ``entries`` in their environment."""
    lines = []
    for pid in pids_with_variables(*entries):
        with contextlib.suppress(OSError):
            lines.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode().rstrip("\0").split("\0"))
    return lines


def wait_until(condition: Callable[[], object], seconds: float = 15.0) -> bool:
    """Return whether ``condition`` becomes true within ``seconds``."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(condition())


def is_gone(pid: int) -> bool:
    """Return whether a process ends within ten seconds; a zombie has ended."""

    def has_ended() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return True

    return wait_until(has_ended, 10)


def _become(
    command: Callable[[Sequence[str]], int],
    arguments: Sequence[str],
    streams: Sequence[int],
    cwd: Path,
    variables: Mapping[str, str],
) -> NoReturn:
    code = 70
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
        os.environ.clear()
        os.environ.update(variables)
        os.chdir(cwd)
        code = command(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _content(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()


def read_log(home: Path) -> list[dict[str, Any]]:
    """Return the records in the journal below ``home``, the oldest first."""
    journal = SqliteJournal(home / ".local/state", SystemClock())
    return [dict(entry.body) for entry in journal.records(last=10**6)]
