"""Deduplication of concurrent searches: the tools of one turn that ask the same share one search.

Invariant: a result is shared only while it is being computed, so no answer is older than its question.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Event, Lock

from upbeat.adapters.code.cancellation import raise_if_cancelled
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.engine.ports import Cancellation

POLL_SECONDS = 0.02


@dataclass(slots=True)
class _PendingResult:
    done: Event = field(default_factory=Event)
    result: ToolOutput | None = None


class SingleFlight:
    """The searches in progress."""

    def __init__(self) -> None:
        self._pending: dict[Hashable, _PendingResult] = {}
        self._lock = Lock()

    def get_or_compute(self, key: Hashable, compute: Callable[[], ToolOutput], cancelled: Cancellation) -> ToolOutput:
        """Return the result of ``compute``, or of the call in progress with the same ``key``.

        If that call fails, ``compute`` is called after all.

        Raises:
            ToolFailure: The call was cancelled.
        """
        with self._lock:
            flight = self._pending.get(key)
            is_first = flight is None
            if flight is None:
                flight = self._pending[key] = _PendingResult()
        if not is_first:
            while not flight.done.wait(POLL_SECONDS):
                raise_if_cancelled(cancelled)
            return flight.result if flight.result is not None else compute()
        try:
            flight.result = compute()
            return flight.result
        finally:
            with self._lock:
                del self._pending[key]
            flight.done.set()
