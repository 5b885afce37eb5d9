"""Names become terms that are prefixes of the words they come from; Chinese terms become English words."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.query.terms import (
    STOP_WORDS,
    cjk_bigrams,
    joined_key,
    split_identifier,
    stem,
    terms_in,
)

CASES = read_groups(Path(__file__).with_name("cases.tsv"))


@pytest.mark.parametrize(("name", "words"), CASES["split"])
def test_an_identifier_is_split_into_words(name: str, words: str) -> None:
    """Names are split at changes of case, underscores and digits."""
    assert tuple(words.split()) == split_identifier(name)


@pytest.mark.parametrize("words", [words.split() for (words,) in CASES["same stem"]], ids=lambda words: words[0])
def test_inflected_forms_share_a_stem(words: list[str]) -> None:
    """All forms of one word are one term."""
    assert {stem(words[0])} == {stem(word) for word in words}


@pytest.mark.parametrize("words", [words.split() for (words,) in CASES["other stem"]])
def test_other_words_have_other_stems(words: list[str]) -> None:
    """Words with a common beginning are different terms."""
    assert stem(words[0]) != stem(words[1])


@given(st.from_regex(r"[a-z]{1,30}", fullmatch=True))
def test_stem_is_a_prefix(word: str) -> None:
    """A stem is a prefix of its word and never empty, so that a search for it finds the word."""
    assert stem(word)
    assert word.startswith(stem(word))


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,60}", fullmatch=True))
def test_terms_are_parts_of_the_lowercase_name(name: str) -> None:
    """Every term is in the lowercase name, without duplicates, stop words and numbers."""
    terms = terms_in(name)

    assert all(term in name.lower() for term in terms)
    assert len(set(terms)) == len(terms)
    assert set(terms) == {stem(part) for part in split_identifier(name) if len(part) > 1 and part not in STOP_WORDS} - {
        term for term in terms if term.isdigit()
    } - {part for part in split_identifier(name) if part.isdigit()}


@given(st.text(max_size=200))
def test_any_text_is_split_without_loss_of_letters(text: str) -> None:
    """Every ASCII letter and digit of any text is kept, in order."""
    expected = "".join(character.lower() for character in text if character.isascii() and character.isalnum())

    assert expected == "".join(split_identifier(text))


def test_cjk_pairs_are_inside_one_run() -> None:
    """Latin letters and punctuation end a run."""
    assert ("登录", "录重", "重试") == cjk_bigrams("登录重试")
    assert ("登录", "重试") == cjk_bigrams("登录 login 重试，的")
    assert () == cjk_bigrams("fix 我")


def test_joined_key_is_equal_for_all_joined_forms() -> None:
    """Names of the same words have one key, also in the plural."""
    names = ("FILE_UPLOAD", "fileUploads", "file-upload", "FileUpload")

    assert {"fileupload"} == {joined_key(name) for name in names}
