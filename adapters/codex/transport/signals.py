"""Signals to codex-auto itself.

Invariant: during a turn a signal is a message to read; otherwise it ends what is running.

Ctrl-C outside of a turn is ``KeyboardInterrupt``; SIGTERM and SIGHUP are ``SystemExit`` with 128 + number.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Self

_HANDLED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalHandler:
    """Catches SIGINT, SIGTERM and SIGHUP while it is entered. ``fileno`` becomes readable when one is pending."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._pending: list[int] = []
        self._is_deferring = False
        self._previous_handlers: dict[int, object] = {}

    def __enter__(self) -> Self:
        for number in _HANDLED_SIGNALS:
            # what the parent process ignores (nohup, a background job) stays ignored
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous_handlers[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        for number, former in self._previous_handlers.items():
            signal.signal(number, former)  # type: ignore[arg-type]
        self._previous_handlers.clear()
        os.close(self._reader)
        os.close(self._writer)

    def fileno(self) -> int:
        return self._reader

    @contextmanager
    def deferring(self) -> Iterator[None]:
        """Queue signals for ``take_pending``; those that are left at the end take effect then."""
        self._is_deferring = True
        try:
            yield
        finally:
            self._is_deferring = False
            for number in self._pending:
                if number != signal.SIGINT:
                    self._pending.clear()
                    self._receive(number, None)
            self._pending.clear()

    def take_pending(self) -> int:
        """Return the oldest pending signal, or 0."""
        with suppress(BlockingIOError):
            os.read(self._reader, 1)
        return self._pending.pop(0) if self._pending else 0

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self._is_deferring:
            self._pending.append(number)
            with suppress(BlockingIOError):
                os.write(self._writer, b"!")
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)
