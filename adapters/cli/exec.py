"""``upbeat exec -- COMMAND…``: run a command and report its exit code, even when the client hides it.

The command keeps this process's terminal, pipes and signals. At its end upbeat prints one line on stderr for you, and
as the last line of stdout `upbeat: exit 3 [SIGNATURE]`, for the hook that reads the output. The signature says that
this command ended so, at this time; each is accepted once. Nothing is recorded here.
"""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from types import FrameType

from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.workspace.evidence_files import read_exec_key
from upbeat.core.workflow.evidence.exec_mark import make_mark

USAGE = "usage: upbeat exec [--] COMMAND [ARGUMENT…]"
EXIT_NOT_FOUND = 127
EXIT_NOT_EXECUTABLE = 126

_FORWARDED_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGQUIT)
"""A terminal sends these to every process in the foreground, so the command already has them."""


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code, or 128 plus the number of the signal that ended it."""
    words = list(arguments)
    if words[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if words[:1] == ["--"]:
        del words[0]
    if not words:
        print(USAGE, file=sys.stderr)
        return 2
    code = _run_command(words)
    print(f"upbeat: {shlex.join(words)[:200]} exited with code {code}", file=sys.stderr, flush=True)
    print(
        "\n" + make_mark(read_exec_key(read_environment()), words, code, int(time.time()), secrets.token_hex(4)),
        flush=True,
    )
    return code


def _run_command(words: list[str]) -> int:
    pending: list[int] = []
    child: subprocess.Popen[bytes] | None = None

    def forward(number: int, _frame: FrameType | None) -> None:
        if child is None:
            pending.append(number)
        elif number not in _TERMINAL_SIGNALS or not os.isatty(0):
            child.send_signal(number)

    before = {number: signal.signal(number, forward) for number in (*_FORWARDED_SIGNALS, *_TERMINAL_SIGNALS)}
    before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signaled, wakeup = os.pipe()
    os.set_blocking(wakeup, False)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    try:
        child = subprocess.Popen(words)
        for number in pending:
            child.send_signal(number)
        while (code := child.poll()) is None:
            os.read(signaled, 512)  # not wait(): a signal just before it blocks would be handled only after the child
    except FileNotFoundError:
        print(f"upbeat: command {words[0]!r} not found on PATH", file=sys.stderr)
        return EXIT_NOT_FOUND
    except OSError as error:
        print(f"upbeat: cannot run {words[0]!r}: {error.strerror}", file=sys.stderr)
        return EXIT_NOT_EXECUTABLE
    finally:
        signal.set_wakeup_fd(-1)
        os.close(signaled)
        os.close(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code
