"""How the tools of one turn run at the same time: they can be cancelled, and share caches and searches in progress.

Invariant: a cached value of a key never changes. The result of a search is shared only while it is being computed, so
no answer is older than its question.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Generic, TypeVar

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.engine.ports import Cancellation
from upbeat.core.errors import ToolFailure

POLL_SECONDS = 0.02

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def raise_if_cancelled(cancelled: Cancellation) -> None:
    """Raise ``ToolFailure`` (timeout) once ``cancelled`` is set."""
    if cancelled.is_set():
        raise ToolFailure(ErrorCode.TIMEOUT, "the search was stopped before it had an answer")


class LruCache(Generic[K, V]):
    """Values with sizes, at most ``max_size`` in total; the least recently used one is evicted first. Thread-safe."""

    def __init__(self, max_size: int) -> None:
        self.size = 0
        """Total size of the values."""
        self._max_size = max_size
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """Return the value of ``key``, if it is still cached."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Cache ``value``, whose size is ``size``, unless it is larger than the cache or ``key`` has a value."""
        with self._lock:
            if key in self._entries or size > self._max_size:
                return
            self._entries[key] = value, size
            self.size += size
            while self.size > self._max_size:
                self.size -= self._entries.popitem(last=False)[1][1]


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
