"""SIGTERM and SIGHUP for commands that start the user's servers. Law: no server outlives the command.

Both are ``SystemExit`` with 128 + number, as Ctrl-C is ``KeyboardInterrupt``; what our parent had us ignore (nohup)
stays ignored.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn


def end_in_order() -> None:
    """Let a signal to end run what stands in ``finally``. For the main thread."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _leave)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # a second one must not break off the end
    raise SystemExit(128 + number)
