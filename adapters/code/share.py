"""One search for all the tools of a turn that want the same.

Law: a result is shared only while it is being made: nobody gets an answer that is older than their question.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Event, Lock

from ...core.contract.finding import ToolOutput
from ...core.ports import Cancellation
from .scan import check

POLL_SECONDS = 0.02


@dataclass(slots=True)
class _Flight:
    done: Event = field(default_factory=Event)
    result: ToolOutput | None = None


class Shared:
    """Searches that are being made."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], ToolOutput], cancelled: Cancellation) -> ToolOutput:
        """What ``make`` gives, or what somebody is making under the same ``key`` right now.

        When theirs fails, ``make`` is called after all. Raises ``ToolFailure`` (timeout) when cancelled.
        """
        with self._lock:
            flight = self._flights.get(key)
            is_first = flight is None
            if flight is None:
                flight = self._flights[key] = _Flight()
        if not is_first:
            while not flight.done.wait(POLL_SECONDS):
                check(cancelled)
            return flight.result if flight.result is not None else make()
        try:
            flight.result = make()
            return flight.result
        finally:
            with self._lock:
                del self._flights[key]
            flight.done.set()
