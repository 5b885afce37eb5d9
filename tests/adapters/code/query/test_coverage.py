"""Coverage counts everything of a question once, by where a definition has it."""

from __future__ import annotations

import pytest

from upbeat.adapters.code.query.coverage import Coverage
from upbeat.adapters.code.query.features import FeatureExtractor, FileFeatures
from upbeat.adapters.code.query.parse_query import parse_search_query


def covered(question: str, path: str, text: str = "") -> FileFeatures:
    """Return the features of ``text`` for ``question``; all words are equally rare."""
    search_query = parse_search_query(question)
    extractor = FeatureExtractor(search_query)
    features = extractor.extract(path, text)
    coverage = Coverage(search_query, dict.fromkeys((*search_query.terms, *search_query.neighbors), 2.0))
    coverage.add_to(features, extractor.matching_words(features.document))
    return features


def scores(question: str, path: str, text: str) -> dict[str, float]:
    """Return the score of each definition of ``text`` for ``question``, by name."""
    features = covered(question, path, text)
    names = features.document.definitions.names
    return {names[position] if position >= 0 else "": score for position, score in features.coverages.items()}


def test_much_of_one_word_is_less_than_something_of_all() -> None:
    """A function that has two words of a question once is before one that has the first ten times."""
    text = "def one():\n    parcel(parcel, parcel) + parcel * parcel\n\ndef two():\n    parcel(weight)\n"

    found = scores("what is the weight of a parcel?", "shop.py", text)

    assert found["two"] > found["one"] > 0


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("def parcel():\n    x = 1", "def other():\n    x = parcel"),
        ("# a parcel\ndef a():\n    x = 1", "def a():\n    # a parcel\n    x = 1"),
        ("def a():\n    # parcel\n    x = 1", "def a():\n    x = 'parcel'"),
        ("def a():\n    x = parcel", "def a():\n    x = parcel\n" + "    x += 1\n" * 100),
    ],
)
def test_the_place_of_a_word_counts(better: str, worse: str) -> None:
    """Names, then documentation, comments and string literals; short definitions before long ones."""
    question = "where is the parcel?"

    assert max(scores(question, "a.py", better).values()) > max(scores(question, "a.py", worse).values())


def test_names_around_a_definition_count() -> None:
    """The names of the file, of its folders and of the class are part of what a method has."""
    question, text = "where does a parcel find its price?", "class Other:\n    def find(self):\n        return price\n"
    plain = scores(question, "a.py", text)["find"]

    assert plain < scores(question, "parcel/a.py", text)["find"] < scores(question, "parcel.py", text)["find"]
    assert plain < scores(question, "a.py", text.replace("Other", "Parcel"))["find"]
    assert scores(question, "parcel.py", text) == scores(question, "parcel/__init__.py", text)


def test_a_word_and_its_neighbor_count_once() -> None:
    """What has a word and what people call it has no more than what has the word."""
    question, text = "where are old keys thrown away?", "def f():\n    evict(old)\n"
    assert "evict" in parse_search_query(question).neighbors

    once = scores(question, "a.py", text)["f"]

    assert scores(question, "a.py", "def f():\n    old()\n")["f"] < once
    assert once == scores(question, "a.py", text.replace("evict", "evict(drop)"))["f"]


def test_a_path_covers_a_question() -> None:
    """The name of a file counts fully and that of a folder half; each word of the question once."""
    question = "where does a parcel get its price?"
    paths = ["a/b.py", "parcel/a.py", "a/parcel.py", "parcel/parcel.py", "parcel_price.py"]

    assert [0, 1, 2, 2, 4] == [
        round(2 * covered(question, path).path_coverage / covered(question, "parcel.py").path_coverage, 6)
        for path in paths
    ]


def test_names_cover_a_question() -> None:
    """The names of all definitions and of the file count together, and nothing else of the text."""
    question = "where does a parcel get its price?"
    apart = covered(question, "a.py", "def parcel():\n    x = 1\n\ndef price():\n    x = 1\n").name_coverage
    one = covered(question, "a.py", "def parcel():\n    price()\n").name_coverage

    assert apart == 2 * one > 0
    assert one < covered(question, "parcel.py").name_coverage < apart
