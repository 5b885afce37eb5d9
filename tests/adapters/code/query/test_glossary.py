"""Chinese terms of code become the English words that code uses, in simplified and traditional characters."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.query.glossary import CHARACTER_FACTOR, WEIGHTS_BY_PLACE, content_runs, translate_to_english
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.core.package_data import load_rows
from upbeat.core.prompt.phrases import to_simplified

ROWS = load_rows("upbeat.adapters.code.query", "zh_glossary.tsv")
CASES = read_groups(Path(__file__).with_name("cases.tsv"))


@pytest.mark.parametrize(("text", "words"), CASES["translation"])
def test_the_longest_glossary_entry_wins(text: str, words: str) -> None:
    """Both scripts are known, other characters are skipped, and no word is repeated."""
    assert words.split() == list(translate_to_english(text))


@given(st.text("登录断线主从的時候資料庫a", max_size=20))
def test_any_text_gives_english_words_with_weights(text: str) -> None:
    """Whatever the text is, the translation consists of ASCII words that weigh at most as much as the text's own."""
    for word, weight in translate_to_english(text).items():
        assert word.isascii()
        assert 0.0 < weight <= 1.0


def test_words_that_say_nothing_separate_runs() -> None:
    """Pairs of characters are made only of what is left without question words, in both scripts."""
    assert ["中文", "是", "切成词去搜索"] == content_runs("中文的问题是怎么切成词去搜索的")
    assert ["啟動"] == content_runs("什麼時候啟動")
    assert {"中文", "切成", "成词"} < parse_search_query("中文的问题是怎么切成词去搜索的").terms.keys()
    assert "么切" not in parse_search_query("中文的问题是怎么切成词去搜索的").terms


def test_every_glossary_row_has_terms_and_words() -> None:
    """The glossary has two columns; each term is simplified and stands once, with at most four English words."""
    terms = [term for row in ROWS for term in row[0].split(" ")]

    assert all(len(row) == 2 and row[1].isascii() and len(row[1].split(" ")) <= len(WEIGHTS_BY_PLACE) for row in ROWS)
    assert sorted(set(terms)) == sorted(terms)
    assert [] == [term for term in terms if term.isascii() or to_simplified(term) != term]


def test_mixed_prompts_keep_both_languages() -> None:
    """A Chinese prompt with English names gives the names and the translation."""
    terms = parse_search_query("redis 的 key 过期后在哪里删除").terms

    assert {"redis", "key", "expir", "delet"} <= terms.keys()


def test_terms_of_one_character_weigh_half() -> None:
    """A single character is more often part of another word than a term of its own."""
    assert {"close": 1.0}.items() <= translate_to_english("关闭").items()
    assert all(weight <= CHARACTER_FACTOR for weight in translate_to_english("删").values())
