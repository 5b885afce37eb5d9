from __future__ import annotations

import threading

import pytest

from upbeat.adapters.code.index.single_flight import SingleFlight
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.errors import ToolFailure

NEVER = threading.Event()


class Maker:
    """Makes numbered outputs, each when it is let go; a failing one fails first."""

    def __init__(self, *, fails_first: bool = False) -> None:
        self.let_go = threading.Event()
        self.begun = threading.Event()
        self.made = 0
        self._fails_first = fails_first

    def __call__(self) -> ToolOutput:
        self.made += 1
        number = self.made
        self.begun.set()
        assert self.let_go.wait(10)
        if self._fails_first and number == 1:
            raise ToolFailure(ErrorCode.TIMEOUT, "cancelled")
        return ToolOutput(str(number))


def two(shared: SingleFlight, make: Maker) -> list[str]:
    """What two callers get of which the second comes while the first one's answer is being made."""
    answers: list[str] = []

    def ask() -> None:
        try:
            answers.append(shared.get_or_compute("key", make, NEVER).summary)
        except ToolFailure as failure:
            answers.append(failure.code)

    first, second = threading.Thread(target=ask), threading.Thread(target=ask)
    first.start()
    assert make.begun.wait(10)
    second.start()
    second.join(0.1)
    make.let_go.set()
    first.join()
    second.join()
    return sorted(answers)


def test_what_is_being_made_is_shared() -> None:
    """Two that ask the same at the same time cost one search."""
    make = Maker()

    assert (["1", "1"], 1) == (two(SingleFlight(), make), make.made)


def test_what_was_made_is_not_kept() -> None:
    """Who asks later gets a new answer."""
    shared, make = SingleFlight(), Maker()
    make.let_go.set()

    assert ["1", "2"] == [shared.get_or_compute("key", make, NEVER).summary for _ in range(2)]


def test_another_one_s_failure_is_not_shared() -> None:
    """When the first one is stopped, the second one searches for itself."""
    make = Maker(fails_first=True)

    assert (["2", "E_TIMEOUT"], 2) == (two(SingleFlight(), make), make.made)


def test_a_waiting_caller_can_be_cancelled() -> None:
    """A caller that waits for another search stops when it is cancelled."""
    shared, make, cancelled = SingleFlight(), Maker(), threading.Event()
    worker = threading.Thread(target=lambda: shared.get_or_compute("key", make, NEVER))
    worker.start()
    assert make.begun.wait(10)
    cancelled.set()
    with pytest.raises(ToolFailure):
        shared.get_or_compute("key", make, cancelled)
    make.let_go.set()
    worker.join()
