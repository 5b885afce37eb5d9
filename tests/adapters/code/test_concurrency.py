"""Tools of one turn can be cancelled, and share recently used values and searches in progress."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.concurrency import LruCache, SingleFlight, raise_if_cancelled
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.errors import ToolFailure

NEVER = threading.Event()


def test_only_a_cancelled_tool_stops() -> None:
    """Nothing happens before the cancellation is set; then the failure is a timeout."""
    cancelled = threading.Event()
    raise_if_cancelled(cancelled)
    cancelled.set()

    with pytest.raises(ToolFailure) as failure:
        raise_if_cancelled(cancelled)

    assert ErrorCode.TIMEOUT == failure.value.code


def test_the_least_recently_used_value_is_evicted() -> None:
    """Reading a value keeps it; of the others the oldest makes room."""
    cache: LruCache[int, str] = LruCache(10)
    cache.put(1, "one", 4)
    cache.put(2, "two", 4)
    assert "one" == cache.get(1)
    cache.put(3, "three", 4)

    assert ["one", None, "three"] == [cache.get(key) for key in (1, 2, 3)]
    assert 8 == cache.size


def test_a_value_stays_under_its_key() -> None:
    """The first value of a key is kept, and a value larger than the cache is not cached."""
    cache: LruCache[int, str] = LruCache(10)
    cache.put(1, "first", 2)
    cache.put(1, "second", 3)
    cache.put(2, "large", 11)

    assert ("first", None, 2) == (cache.get(1), cache.get(2), cache.size)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=40))
def test_the_cache_is_never_larger_than_its_limit(steps: list[tuple[int, int]]) -> None:
    """The total size is that of the cached values, and each is the one that was put."""
    cache: LruCache[int, int] = LruCache(20)
    sizes: dict[int, int] = {}
    for key, size in steps:
        if cache.get(key) is None:
            sizes[key] = size
        cache.put(key, key * 100, size)
        assert cache.size <= 20
        assert cache.get(key) in (None, key * 100)

    assert cache.size == sum(size for key, size in sizes.items() if cache.get(key) is not None)


class Search:
    """Computes numbered outputs, each after ``may_finish`` is set; with ``fails_first`` the first one fails."""

    def __init__(self, *, fails_first: bool = False) -> None:
        self.may_finish = threading.Event()
        self.has_started = threading.Event()
        self.count = 0
        self._fails_first = fails_first

    def __call__(self) -> ToolOutput:
        self.count += 1
        number = self.count
        self.has_started.set()
        assert self.may_finish.wait(10)
        if self._fails_first and number == 1:
            raise ToolFailure(ErrorCode.TIMEOUT, "cancelled")
        return ToolOutput(str(number))


def ask_twice(flight: SingleFlight, search: Search) -> list[str]:
    """Return the results of two callers, of which the second comes while the first one's search is in progress."""
    answers: list[str] = []

    def ask() -> None:
        try:
            answers.append(flight.get_or_compute("key", search, NEVER).summary)
        except ToolFailure as failure:
            answers.append(failure.code)

    first, second = threading.Thread(target=ask), threading.Thread(target=ask)
    first.start()
    assert search.has_started.wait(10)
    second.start()
    second.join(0.1)
    search.may_finish.set()
    first.join()
    second.join()
    return sorted(answers)


def test_a_search_in_progress_is_shared() -> None:
    """Two callers with the same key at the same time cause one search."""
    search = Search()

    assert (["1", "1"], 1) == (ask_twice(SingleFlight(), search), search.count)


def test_a_finished_search_is_not_shared() -> None:
    """A later caller gets a new result."""
    flight, search = SingleFlight(), Search()
    search.may_finish.set()

    assert ["1", "2"] == [flight.get_or_compute("key", search, NEVER).summary for _ in range(2)]


def test_a_failure_is_not_shared() -> None:
    """When the first search fails, the second caller searches itself."""
    search = Search(fails_first=True)

    assert (["2", "E_TIMEOUT"], 2) == (ask_twice(SingleFlight(), search), search.count)


def test_a_waiting_caller_can_be_cancelled() -> None:
    """A caller that waits for another search stops when it is cancelled."""
    flight, search, cancelled = SingleFlight(), Search(), threading.Event()
    worker = threading.Thread(target=lambda: flight.get_or_compute("key", search, NEVER))
    worker.start()
    assert search.has_started.wait(10)
    cancelled.set()
    with pytest.raises(ToolFailure):
        flight.get_or_compute("key", search, cancelled)
    search.may_finish.set()
    worker.join()
