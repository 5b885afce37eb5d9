"""Findings have the lines that answer best: of a file, the definitions that the query means come first."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import read_tree

from upbeat.adapters.code.query import excerpt
from upbeat.adapters.code.query.features import FeatureExtractor, FileFeatures
from upbeat.adapters.code.query.parse_query import SearchQuery, parse_search_query
from upbeat.adapters.code.query.rank import CorpusStatistics, RankedFile, compute_corpus_statistics
from upbeat.adapters.code.query.retrieval import RetrievalResult

WEIGHTS = st.dictionaries(st.integers(1, 80), st.floats(0.1, 5), max_size=20)


@given(st.integers(1, 60), st.integers(0, 80), WEIGHTS, st.integers(1, 25))
def test_window_is_the_heaviest(first: int, more: int, weights: dict[int, float], size: int) -> None:
    """The window is inside the range, has the given size, and no other of that size is heavier."""
    last = first + more
    start, end = excerpt.heaviest_window(first, last, weights, size)

    def weight(line: int) -> float:
        return sum(weights.get(number, 0.0) for number in range(line, line + size))

    assert first <= start <= end <= last
    assert end - start + 1 == min(size, more + 1)
    if more + 1 > size:
        assert weight(start) >= max(weight(line) for line in range(first, last - size + 2)) - 1e-6


def test_window_prefers_the_earliest() -> None:
    """Of equally heavy windows, the first is chosen."""
    assert (1, 20) == excerpt.heaviest_window(1, 100, {5: 1.0, 50: 1.0})
    assert (1, 20) == excerpt.heaviest_window(1, 100, {})


@given(st.text(max_size=50))
def test_printable_paths_are_printable(name: str) -> None:
    """There is no control, format or undecodable character; printable names stay as they are."""
    assert all(character.isprintable() or character.isspace() for character in excerpt.printable_path(name))
    assert "\n" not in excerpt.printable_path(name)
    if name.isprintable():
        assert name == excerpt.printable_path(name)


def test_unprintable_characters_are_escaped() -> None:
    """Control characters, bidirectional controls and undecodable bytes become escapes."""
    assert "a\\nb\\u202e\\xff\\x1b.py" == excerpt.printable_path("a\nb\u202e\udcff\x1b.py")
    assert "目录/my file.py" == excerpt.printable_path("目录/my file.py")


def extract(query: str, texts: dict[str, str]) -> tuple[SearchQuery, list[FileFeatures], CorpusStatistics]:
    """Return the parsed query, the features of ``texts``, and their statistics."""
    search_query = parse_search_query(query)
    extractor = FeatureExtractor(search_query)
    features = [extractor.extract(path, text) for path, text in texts.items()]
    corpus = compute_corpus_statistics(features, search_query, RetrievalResult(scanned_count=10))
    return search_query, features, corpus


def passage_values(query: str, *paths: str) -> list[float]:
    """Return the value of the best passage of each of ``paths``, which have the same text and score."""
    text = "def total_price(cart):\n    return cart.price\n"
    search_query, features, corpus = extract(query, dict.fromkeys(paths, text))
    ranked = [RankedFile(file, 1.0, 1.0) for file in features]
    return [finding.optional_score for finding in excerpt.build_findings(ranked, search_query, corpus)]


@pytest.mark.parametrize("path", ["tests/test_cart.py", "vendor/cart.py", "examples/cart.py"])
def test_tests_and_examples_have_low_values(path: str) -> None:
    """Lines of a named test do not displace the sources that it calls."""
    source, other = passage_values(f"total_price is wrong, see {path}", "shop/cart.py", path)
    assert other == pytest.approx(excerpt.OFF_TARGET_VALUE * source, rel=0.01)


def test_requested_tests_have_full_values() -> None:
    """A query for tests is answered with their lines."""
    source, test = passage_values("extend the tests of total_price", "shop/cart.py", "tests/test_cart.py")
    assert source == test


def test_a_reason_has_two_words_and_two_names() -> None:
    """A finding lists at most two words and two names that matched; its lines show the rest."""
    query = "`total_price` `cart_rows` `tax_rate` are wrong: price, cart, rows, tax, rate, total"
    text = "def total_price(cart_rows, tax_rate):\n    return sum(cart_rows) * tax_rate\n"
    search_query, (features,), corpus = extract(query, {"shop/cart.py": text})
    finding = excerpt.build_findings([RankedFile(features, 1.0, 0.0)], search_query, corpus)[0]
    names, words = finding.why.split("; ")

    assert (2, 2) == (names.count(",") + 1, words.count(",") + 1)


TEXT = read_tree(Path(__file__).with_name("sources.txt"))["cart.py"]


def ranked(query: str) -> list[tuple[str, float]]:
    """Return the symbols in ``TEXT`` for ``query``, best first; the empty one is outside of all definitions."""
    search_query, (features,), corpus = extract(query, {"shop/cart.py": TEXT})
    definitions = features.document.definitions
    return [
        (definitions[hits.position].symbol if hits.position >= 0 else "", share)
        for share, hits in excerpt.rank_definitions(features, search_query, corpus)
    ]


@pytest.mark.parametrize(
    ("query", "symbol"),
    [
        ("total_price is wrong after a discount", "Cart.total_price"),
        ("Cart.add loses a good", "Cart.add"),
        ("a good is appended twice", "Cart.add"),
    ],
)
def test_the_best_definition_is_first(query: str, symbol: str) -> None:
    """A definition that is named, named with its owner, or described ranks before the rest of its file."""
    assert symbol == ranked(query)[0][0]


def test_shares_fall_from_one() -> None:
    """The best definition has a share of 1, the others have less; one without a hit is left out."""
    symbols = ranked("the total price of a cart after discounts")
    shares = [share for _, share in symbols]

    assert 1.0 == shares[0]
    assert shares == sorted(shares, reverse=True)
    assert all(0 < share <= 1 for share in shares)
    assert "unrelated" not in [symbol for symbol, _ in symbols]


def test_lines_outside_of_definitions_rank_late() -> None:
    """Comments and constants at the top repeat the words of a file, and are rarely meant."""
    assert "" != ranked("discounts of the cart")[0][0]
    assert "" in [symbol for symbol, _ in ranked("discounts of the cart")]


def test_a_file_without_hits_has_no_definitions() -> None:
    """A query without a word of the file has no definitions in it."""
    assert [] == ranked("zebra crossing")


def test_a_definition_without_room_is_shown_in_part() -> None:
    """Of a function whose lines are too long to be shown together, the lines with the words of the query are."""
    body = "".join(f"    x{number} = {'1 + ' * 30}1\n" for number in range(120))
    text = f"def total_price(cart):\n{body}    return cart.discount\n"
    search_query, files, corpus = extract("where is the total price discount of a cart?", {"shop.py": text})

    (finding,) = excerpt.build_findings([RankedFile(file, 1.0, 0.0) for file in files], search_query, corpus)

    assert (1, 122) == finding.whole
    assert "return cart.discount" in finding.text or "def total_price" in finding.text


@pytest.mark.parametrize(("end", "first"), [("", "Discount"), ("?", "add_discount")])
def test_a_question_is_answered_by_what_can_be_shown(end: str, first: str) -> None:
    """A class that is too long to be shown leads a report, not a question about one of its methods."""
    filler = "".join(f"    x{number} = {number}\n" for number in range(220))
    method = "    def add_discount(self, cart):\n        y = 1\n        return cart.discount\n"
    text = f"class Discount:\n    # a discount of a cart\n    discount = cart\n{method}{filler}"
    search_query, (file,), corpus = extract(f"add the discount of a cart{end}", {"shop.py": text})

    _, hits = excerpt.rank_definitions(file, search_query, corpus)[0]

    assert first == file.document.definitions[hits.position].name
