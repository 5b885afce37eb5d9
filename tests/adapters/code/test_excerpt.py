"""Rows show the lines that answer best, and say which lines those are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.excerpt import shown, window

WEIGHTS = st.dictionaries(st.integers(1, 80), st.floats(0.1, 5), max_size=20)


@given(st.integers(1, 60), st.integers(0, 80), WEIGHTS, st.integers(1, 25))
def test_window_is_the_heaviest(first: int, more: int, weights: dict[int, float], size: int) -> None:
    """window stays inside, has the size asked for, and no other window of that size weighs more."""
    last = first + more
    start, end = window(first, last, weights, size)

    def weight(at: int) -> float:
        return sum(weights.get(line, 0.0) for line in range(at, at + size))

    assert first <= start <= end <= last
    assert end - start + 1 == min(size, more + 1)
    if more + 1 > size:
        assert weight(start) >= max(weight(at) for at in range(first, last - size + 2)) - 1e-6


def test_window_prefers_the_earliest() -> None:
    """Of equal windows the first is taken."""
    assert (1, 20) == window(1, 100, {5: 1.0, 50: 1.0})
    assert (1, 20) == window(1, 100, {})


@given(st.text(max_size=50))
def test_shown_names_are_printable(name: str) -> None:
    """shown has no control, format or undecodable character, and leaves printable names alone."""
    assert all(character.isprintable() or character.isspace() for character in shown(name))
    assert "\n" not in shown(name)
    if name.isprintable():
        assert name == shown(name)


def test_shown_escapes() -> None:
    """Control characters, bidi controls and bytes that are no text become escapes."""
    assert "a\\nb\\u202e\\xff\\x1b.py" == shown("a\nb\u202e\udcff\x1b.py")
    assert "目录/my file.py" == shown("目录/my file.py")
