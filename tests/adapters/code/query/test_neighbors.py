"""Everyday words of a question lead to the words that code uses for the same thing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.query import neighbors
from upbeat.adapters.code.query.neighbors import find_line, find_neighbors, iter_spellings
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.terms import stem
from upbeat.core.package_data import load_text

KEYS = st.text("ab c", min_size=1, max_size=6)


def _table() -> list[str]:
    return load_text("upbeat.adapters.code.query", "word_neighbors.tsv").splitlines()


@given(st.dictionaries(KEYS, st.text("xyz:1 ", max_size=8)), KEYS)
def test_find_line_agrees_with_a_dictionary(rows: Mapping[str, str], key: str) -> None:
    """A search in the sorted text finds what a dictionary of its lines finds."""
    text = "".join(f"{name}\t{value}\n" for name, value in sorted(rows.items()))

    assert rows.get(key, "") == find_line(text, key)
    assert all(value == find_line(text, name) for name, value in rows.items())


def test_table_is_sorted_and_complete() -> None:
    """Every line of the table is a key and its neighbors, in the order that the search needs."""
    lines = _table()

    assert sorted(lines, key=lambda line: line.partition("\t")[0]) == lines
    for line in lines[1:]:
        _, tab, listed = line.partition("\t")
        assert tab
        assert all(0 < int(item.partition(":")[2]) < 100 for item in listed.split(" "))


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("which keys are thrown away when memory is full", "evict"),
        ("how does it wait before the next attempt", "backoff"),
        ("where is the one-time code checked", "otp"),
        ("how does it throw old keys away", "evict"),
    ],
)
def test_everyday_words_lead_to_words_of_code(question: str, term: str) -> None:
    """A phrase of a question adds the terms that code uses for it."""
    assert term in parse_search_query(question).neighbors


def test_a_phrase_replaces_the_neighbors_of_its_words() -> None:
    """To log out adds the end of a session, and nothing about log files."""
    found = parse_search_query("where do users log out").neighbors

    assert "logout" in found
    assert "logger" not in found


def test_neighbors_weigh_less_than_the_words_of_the_query() -> None:
    """A neighbor is never a term of the query, and weighs less than the heaviest of them."""
    query = parse_search_query("how are expired sessions removed and deleted")

    assert query.neighbors
    assert not query.neighbors.keys() & query.terms.keys()
    assert all(near.weight < max(query.terms.values()) for near in query.neighbors.values())


def test_long_queries_have_words_enough() -> None:
    """A query of many terms adds no neighbors."""
    weights = {f"expir{number}": 1.0 for number in range(neighbors.MAX_EXPANDED_TERMS)} | {"expir": 1.0}

    assert {} == find_neighbors(["expired"], weights)
    assert find_neighbors(["expired"], {"expir": 1.0})


def test_translated_words_have_no_neighbors() -> None:
    """Only words that the question itself has lead to others."""
    assert parse_search_query("where is the login").neighbors
    assert {} == parse_search_query("登录在哪里").neighbors


@pytest.mark.parametrize(
    ("british", "american"),
    [
        *(("colour", "color"), ("behaviour", "behavior"), ("initialise", "initialize"), ("analyse", "analyze")),
        *(
            ("organisation", "organization"),
            ("cancelled", "canceled"),
            ("catalogue", "catalog"),
            ("licence", "license"),
        ),
    ],
)
def test_british_and_american_spelling(british: str, american: str) -> None:
    """A word in one spelling has the other one as its closest neighbor."""
    for word, other in ((british, american), (american, british)):
        neighbor = find_neighbors([word], {stem(word): 1.6})[stem(other)]

        assert (stem(word), 1.6, True) == (neighbor.origin, neighbor.weight, neighbor.is_spelling)


@pytest.mark.parametrize("word", ["for", "is", "retry", "session"])
def test_most_words_have_one_spelling(word: str) -> None:
    """Short words and words with other endings have no second spelling."""
    assert [] == list(iter_spellings(stem(word)))
