"""What was read last is kept, inside its bound."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.index.lru_bytes import ByteLruCache


def test_the_longest_unasked_goes_first() -> None:
    """Asking for a value keeps it; of the others the oldest makes room."""
    kept: ByteLruCache[str] = ByteLruCache(10)
    kept.put(1, "one", 4)
    kept.put(2, "two", 4)
    assert "one" == kept.get(1)
    kept.put(3, "three", 4)

    assert ["one", None, "three"] == [kept.get(key) for key in (1, 2, 3)]
    assert 8 == kept.size


def test_a_value_stays_under_its_key() -> None:
    """The first value of a key is kept, and what is larger than the bound is not kept at all."""
    kept: ByteLruCache[str] = ByteLruCache(10)
    kept.put(1, "first", 2)
    kept.put(1, "second", 3)
    kept.put(2, "large", 11)

    assert ("first", None, 2) == (kept.get(1), kept.get(2), kept.size)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=40))
def test_the_bound_holds(steps: list[tuple[int, int]]) -> None:
    """However values come, no more than the bound is held, and what is found is what was put there."""
    kept: ByteLruCache[int] = ByteLruCache(20)
    for key, size in steps:
        kept.put(key, key * 100, size)
        assert kept.size <= 20
        assert kept.get(key) in (None, key * 100)
