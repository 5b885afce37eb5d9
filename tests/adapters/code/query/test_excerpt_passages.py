"""Of a file the definitions that a question means come first, with their share of the best one's worth."""

from __future__ import annotations

import pytest

from upbeat.adapters.code.query.excerpt import rank_definitions
from upbeat.adapters.code.query.features import FeatureExtractor
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.rank import compute_corpus_statistics
from upbeat.adapters.code.query.retrieval import RetrievalResult

TEXT = '''
"""The cart of the shop, with its discounts and the total price of the cart."""
LIMIT = 10  # discounts of a cart


class Cart:
    """A cart of goods."""

    def add(self, good):
        self.goods.append(good)

    def total_price(self):
        """The price of all goods after discounts."""
        return sum(good.price for good in self.goods) - self.discount()

    def discount(self):
        return LIMIT if len(self.goods) > LIMIT else 0


def unrelated(queue):
    return queue.pop()
'''


def ranked(query: str) -> list[tuple[str, float]]:
    """The symbols of the places in ``TEXT`` for ``query``, best first; empty for what is outside of all."""
    question = parse_search_query(query)
    profile = FeatureExtractor(question).extract("shop/cart.py", TEXT)
    corpus = compute_corpus_statistics([profile], question, RetrievalResult(scanned_count=10))
    definitions = profile.document.definitions
    return [
        (definitions[part.position].symbol if part.position >= 0 else "", share)
        for share, part in rank_definitions(profile, question, corpus)
    ]


@pytest.mark.parametrize(
    ("query", "symbol"),
    [
        ("total_price is wrong after a discount", "Cart.total_price"),
        ("Cart.add loses a good", "Cart.add"),
        ("a good is appended twice", "Cart.add"),
    ],
)
def test_the_place_that_is_meant_is_first(query: str, symbol: str) -> None:
    """Named, named with its owner, or described: the definition comes before the rest of its file."""
    assert symbol == ranked(query)[0][0]


def test_shares_fall_from_one() -> None:
    """The best place has a share of 1, the others less and less; what says nothing is left out."""
    found = ranked("the total price of a cart after discounts")
    shares = [share for _, share in found]

    assert 1.0 == shares[0]
    assert shares == sorted(shares, reverse=True)
    assert all(0 < share <= 1 for share in shares)
    assert "unrelated" not in [symbol for symbol, _ in found]


def test_what_is_outside_of_all_definitions_comes_late() -> None:
    """Comments and constants at the top repeat the words of a file, and are seldom what is meant."""
    assert "" != ranked("discounts of the cart")[0][0]
    assert "" in [symbol for symbol, _ in ranked("discounts of the cart")]


def test_nothing_is_no_place() -> None:
    """A question that the file says nothing to has no places there."""
    assert [] == ranked("zebra crossing")
