"""``upbeat run -- COMMAND…``: run a command and let its exit code be known, also where the client hides it.

The command has this process's own terminal, pipes and signals. At its end one line on stderr is for people, and
the last line of stdout, ``upbeat: exit 3``, is for the hook that sees the output. Nothing is recorded here.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType

from ...core.texts.witness_phrases import TOLD

USAGE = "usage: upbeat run [--] COMMAND [ARGUMENT…]"
NOT_FOUND = 127
NOT_EXECUTABLE = 126

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""A terminal sends these to every process in the foreground: the command has them already."""


def run(arguments: Sequence[str]) -> int:
    """Run the command; its exit code, or 128 and the signal that ended it."""
    words = list(arguments)
    if words[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if words[:1] == ["--"]:
        del words[0]
    if not words:
        print(USAGE, file=sys.stderr)
        return 2
    code = _run(words)
    print(f"upbeat: {shlex.join(words)[:200]} ended with exit code {code}", file=sys.stderr, flush=True)
    print(f"\n{TOLD}{code}", flush=True)
    return code


def _run(words: list[str]) -> int:
    held: list[int] = []
    child: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if child is None:
            held.append(number)
        elif number not in _FROM_TERMINAL or not os.isatty(0):
            child.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (*_PASSED_ON, *_FROM_TERMINAL)}
    try:
        child = subprocess.Popen(words)
        for number in held:
            child.send_signal(number)
        code = child.wait()
    except FileNotFoundError:
        print(f"upbeat: no command {words[0]!r} on the search path", file=sys.stderr)
        return NOT_FOUND
    except OSError as error:
        print(f"upbeat: {words[0]!r} cannot be run: {error.strerror}", file=sys.stderr)
        return NOT_EXECUTABLE
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code
