"""A process that stays collects seldom, and still collects."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from upbeat.adapters.system.gc_tuning import OLDER_THRESHOLD, YOUNG_THRESHOLD, tune_garbage_collection


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Collection is set back after each test."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_what_was_loaded_is_left_alone() -> None:
    """What there is by then is in no collection any more; collecting goes on for what comes."""
    tune_garbage_collection()

    assert gc.get_freeze_count() > 10_000
    assert (True, (YOUNG_THRESHOLD, OLDER_THRESHOLD, OLDER_THRESHOLD)) == (gc.isenabled(), gc.get_threshold())


def test_cycles_are_still_found() -> None:
    """Cycles do not pile up: more of them than the bound are not there at once."""
    tune_garbage_collection()
    for _ in range(3 * YOUNG_THRESHOLD):
        cycle: list[object] = []
        cycle.append(cycle)
    del cycle

    assert gc.get_count()[0] <= YOUNG_THRESHOLD
