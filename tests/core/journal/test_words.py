"""Names and values of records in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from journal_values import JSON

from upbeat.core.journal import words
from upbeat.core.journal.codec import FACT_KINDS
from upbeat.core.messages.catalogue import LANGUAGES


def test_format_time() -> None:
    """A time is shown without T and milliseconds; other text is shown unchanged."""
    times = ("2026-01-02T03:04:05.678Z", "", "soon")

    assert ["2026-01-02 03:04:05Z", "", "soon"] == [words.format_time(at) for at in times]


def test_facts_in_words() -> None:
    """Every kind of fact has words in Chinese; in English, they are the words of its name."""
    kinds = list(FACT_KINDS.values())

    assert ", ".join(kinds).replace("_", " ") == words.in_words(", ".join(kinds), "en")
    assert not set(kinds) & set(words.in_words(", ".join(kinds), "zh").split(", "))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (["a.py", "b.py"], "a.py, b.py"),
        (["ci_search: ok, 26 ms", "explicit: total_price"], "ci_search (ok, 26 ms), explicit: total_price"),
        ({"step": "PLAN", "n": 1}, "step PLAN, n 1"),
        (True, "yes"),
        ("two\n lines", "two lines"),
        (None, "None"),
    ],
)
def test_a_value_in_words(value: object, shown: str) -> None:
    """No value looks as Python or JSON writes it."""
    assert shown == words.format_value(value, "en")


@given(JSON)
def test_any_value_has_words(value: object) -> None:
    """Any value that a record can have is one line."""
    assert all(len(words.format_value(value, language).splitlines()) <= 1 for language in LANGUAGES)


@pytest.mark.parametrize(
    ("part", "english", "chinese"),
    [("turn", "search", "搜索"), ("policy a-b", "policy a-b", "策略 a-b"), ("x y", "x y", "x y"), ("", "", "")],
)
def test_a_part_in_words(part: str, english: str, chinese: str) -> None:
    """A part of upbeat has a name that its users know; an unknown one stays."""
    assert (english, chinese) == (words.name_part(part, "en"), words.name_part(part, "zh"))


def test_a_quote_is_short_and_one_line() -> None:
    """A prompt in a sentence is cut to its beginning."""
    assert "a b" == words.quote("a\n  b")
    assert words.MAX_QUOTED_CHARS == len(words.quote("word " * 100))
