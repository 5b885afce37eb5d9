"""Signals are queued during a turn, and take effect at once otherwise."""

from __future__ import annotations

import os
import select
import signal

import pytest

from upbeat.adapters.codex.transport.signals import SignalHandler


def raise_here(number: int) -> None:
    os.kill(os.getpid(), number)


def test_outside_of_a_turn_ctrl_c_interrupts() -> None:
    """SIGINT is KeyboardInterrupt, as everywhere in Python."""
    with SignalHandler(), pytest.raises(KeyboardInterrupt):
        raise_here(signal.SIGINT)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_outside_of_a_turn_other_signals_exit(number: int, code: int) -> None:
    """SIGTERM and SIGHUP exit with 128 and their number."""
    with SignalHandler(), pytest.raises(SystemExit) as ended:
        raise_here(number)

    assert code == ended.value.code


def test_during_a_turn_signals_are_queued() -> None:
    """Signals are taken in order, and the descriptor is readable while there are some."""
    with SignalHandler() as signals, signals.deferring():
        raise_here(signal.SIGINT)
        raise_here(signal.SIGTERM)

        assert [signals] == select.select([signals], [], [], 0)[0]
        assert [signal.SIGINT, signal.SIGTERM, 0] == [signals.take_pending() for _ in range(3)]
        assert [] == select.select([signals], [], [], 0)[0]


def test_a_sigterm_that_nobody_took_is_not_lost() -> None:
    """A SIGTERM that comes too late for the turn ends the program after it; a late Ctrl-C does not."""
    with SignalHandler() as signals:
        with signals.deferring():
            raise_here(signal.SIGINT)
        with pytest.raises(SystemExit) as ended, signals.deferring():
            raise_here(signal.SIGTERM)

    assert 143 == ended.value.code


def test_ignored_signals_stay_ignored_and_handlers_are_restored() -> None:
    """nohup keeps its effect, and leaving restores the handlers."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with SignalHandler():
            raise_here(signal.SIGHUP)
            assert signal.SIG_IGN == signal.getsignal(signal.SIGHUP)
        assert signal.default_int_handler == signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGHUP, before)
