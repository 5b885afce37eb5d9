"""Signals to codex-auto itself.

Law: while a turn runs a signal is a message to read; otherwise it ends what is going on.

Ctrl-C outside of a turn is ``KeyboardInterrupt``; SIGTERM and SIGHUP are ``SystemExit`` with 128 + number.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Self

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Catches SIGINT, SIGTERM and SIGHUP while it is entered. ``fileno`` becomes readable when one is pending."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._pending: list[int] = []
        self._watched = False
        self._former: dict[int, object] = {}

    def __enter__(self) -> Self:
        for number in _NUMBERS:
            # what our parent had us ignore (nohup, a background job) stays ignored
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._former[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)  # type: ignore[arg-type]
        self._former.clear()
        os.close(self._reader)
        os.close(self._writer)

    def fileno(self) -> int:
        return self._reader

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Inside, signals are kept for ``take``; what is left of them in the end takes effect then."""
        self._watched = True
        try:
            yield
        finally:
            self._watched = False
            for number in self._pending:
                if number != signal.SIGINT:
                    self._pending.clear()
                    self._receive(number, None)
            self._pending.clear()

    def take(self) -> int:
        """The oldest pending signal, or 0."""
        with suppress(BlockingIOError):
            os.read(self._reader, 1)
        return self._pending.pop(0) if self._pending else 0

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self._watched:
            self._pending.append(number)
            with suppress(BlockingIOError):
                os.write(self._writer, b"!")
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)
