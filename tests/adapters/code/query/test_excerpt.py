"""Rows show the lines that answer best, and say which lines those are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.query.excerpt import (
    OFF_TARGET_VALUE,
    build_findings,
    heaviest_window,
    printable_path,
)
from upbeat.adapters.code.query.features import FeatureExtractor
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.rank import RankedFile, compute_corpus_statistics
from upbeat.adapters.code.query.retrieval import RetrievalResult

WEIGHTS = st.dictionaries(st.integers(1, 80), st.floats(0.1, 5), max_size=20)


@given(st.integers(1, 60), st.integers(0, 80), WEIGHTS, st.integers(1, 25))
def test_window_is_the_heaviest(first: int, more: int, weights: dict[int, float], size: int) -> None:
    """window stays inside, has the size asked for, and no other window of that size weighs more."""
    last = first + more
    start, end = heaviest_window(first, last, weights, size)

    def weight(at: int) -> float:
        return sum(weights.get(line, 0.0) for line in range(at, at + size))

    assert first <= start <= end <= last
    assert end - start + 1 == min(size, more + 1)
    if more + 1 > size:
        assert weight(start) >= max(weight(at) for at in range(first, last - size + 2)) - 1e-6


def test_window_prefers_the_earliest() -> None:
    """Of equal windows the first is taken."""
    assert (1, 20) == heaviest_window(1, 100, {5: 1.0, 50: 1.0})
    assert (1, 20) == heaviest_window(1, 100, {})


@given(st.text(max_size=50))
def test_shown_names_are_printable(name: str) -> None:
    """shown has no control, format or undecodable character, and leaves printable names alone."""
    assert all(character.isprintable() or character.isspace() for character in printable_path(name))
    assert "\n" not in printable_path(name)
    if name.isprintable():
        assert name == printable_path(name)


def test_shown_escapes() -> None:
    """Control characters, bidi controls and bytes that are no text become escapes."""
    assert "a\\nb\\u202e\\xff\\x1b.py" == printable_path("a\nb\u202e\udcff\x1b.py")
    assert "目录/my file.py" == printable_path("目录/my file.py")


def worths(query: str, *paths: str) -> list[float]:
    """What the best place of each of ``paths`` is worth, where all have the same text and score."""
    question = parse_search_query(query)
    profiles = [
        FeatureExtractor(question).extract(path, "def total_price(cart):\n    return cart.price\n") for path in paths
    ]
    corpus = compute_corpus_statistics(profiles, question, RetrievalResult(scanned_count=10))
    return [
        row.optional_score for row in build_findings([RankedFile(one, 1.0, 1.0) for one in profiles], question, corpus)
    ]


@pytest.mark.parametrize("path", ["tests/test_cart.py", "vendor/cart.py", "examples/cart.py"])
def test_what_lies_aside_is_worth_little(path: str) -> None:
    """Lines of a named test do not take the room of the sources that it calls."""
    source, aside = worths(f"total_price is wrong, see {path}", "shop/cart.py", path)
    assert aside == pytest.approx(OFF_TARGET_VALUE * source, rel=0.01)


def test_what_is_asked_for_is_worth_as_much() -> None:
    """A question for tests is answered with their lines."""
    source, test = worths("extend the tests of total_price", "shop/cart.py", "tests/test_cart.py")
    assert source == test


def test_a_row_says_little_of_why() -> None:
    """A row names two words and two names that it was found by: its lines say the rest."""
    question = parse_search_query("`total_price` `cart_rows` `tax_rate` are wrong: price, cart, rows, tax, rate, total")
    text = "def total_price(cart_rows, tax_rate):\n    return sum(cart_rows) * tax_rate\n"
    profile = FeatureExtractor(question).extract("shop/cart.py", text)
    row = build_findings(
        [RankedFile(profile, 1.0, 0.0)],
        question,
        compute_corpus_statistics([profile], question, RetrievalResult(scanned_count=10)),
    )[0]
    names, words = row.why.split("; ")
    assert (2, 2) == (names.count(",") + 1, words.count(",") + 1)
