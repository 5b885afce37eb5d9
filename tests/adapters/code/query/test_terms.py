"""Names become terms that are prefixes of the words they come from; Chinese terms become English words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.query.terms import (
    STOP_WORDS,
    cjk_bigrams,
    joined_key,
    split_identifier,
    stem,
    terms_in,
    translate_to_english,
)
from upbeat.core.package_data import load_rows

SPLIT = [
    ("fileUploadHandler", ("file", "upload", "handler")),
    ("FILE_UPLOAD_PERMISSIONS", ("file", "upload", "permissions")),
    ("HTTPServer", ("http", "server")),
    ("parse_HTML5Doc", ("parse", "html", "5", "doc")),
    ("utf8", ("utf", "8")),
    ("__init__", ("init",)),
    ("_", ()),
    ("", ()),
]


@pytest.mark.parametrize(("name", "words"), SPLIT)
def test_split_name(name: str, words: tuple[str, ...]) -> None:
    """split_name parts a name where a reader would."""
    assert words == split_identifier(name)


SAME_STEM = [
    ("cache", "caches", "cached", "caching"),
    ("validate", "validates", "validated", "validating", "validation", "validator", "validators"),
    ("query", "queries", "queried"),
    ("parse", "parser", "parsers", "parsing"),
    ("connect", "connects", "connected", "connection", "connector"),
    ("match", "matches", "matching", "matcher"),
    ("redirect", "redirects", "redirection"),
    ("stop", "stopped", "stopping", "stopper"),
]
DIFFERENT_STEM = [
    ("class", "clash"),
    ("status", "state"),
    ("string", "strip"),
    ("user", "use"),
    ("thing", "this"),
    ("red", "reds2"),
]


@pytest.mark.parametrize("words", SAME_STEM, ids=lambda words: words[0])
def test_stem_is_shared_by_inflected_forms(words: tuple[str, ...]) -> None:
    """stem gives the forms of one word one term."""
    assert {stem(words[0])} == {stem(word) for word in words}


@pytest.mark.parametrize("words", DIFFERENT_STEM)
def test_stem_keeps_words_apart(words: tuple[str, str]) -> None:
    """stem leaves other words different."""
    assert stem(words[0]) != stem(words[1])


@given(st.from_regex(r"[a-z]{1,30}", fullmatch=True))
def test_stem_is_a_prefix(word: str) -> None:
    """A stem begins its word and is never empty, so that searching for it finds the word."""
    assert stem(word)
    assert word.startswith(stem(word))


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,60}", fullmatch=True))
def test_terms_are_found_in_the_lower_cased_name(name: str) -> None:
    """Every term of a name stands in the name's lower-cased text, once in the tuple, and is no stop word's."""
    terms = terms_in(name)

    assert all(term in name.lower() for term in terms)
    assert len(set(terms)) == len(terms)
    assert set(terms) == {stem(part) for part in split_identifier(name) if len(part) > 1 and part not in STOP_WORDS} - {
        term for term in terms if term.isdigit()
    } - {part for part in split_identifier(name) if part.isdigit()}


@given(st.text(max_size=200))
def test_any_text_is_split_without_loss_of_letters(text: str) -> None:
    """split_name keeps every ASCII letter and digit of any text, in order."""
    expected = "".join(character.lower() for character in text if character.isascii() and character.isalnum())

    assert expected == "".join(split_identifier(text))


def test_cjk_pairs_stay_inside_their_stretch() -> None:
    """Bigrams are adjacent characters of one CJK run; Latin letters and punctuation end a run."""
    assert ("登录", "录重", "重试") == cjk_bigrams("登录重试")
    assert ("登录", "重试") == cjk_bigrams("登录 login 重试，的")
    assert () == cjk_bigrams("fix 我")


def test_joined_key_forgets_how_words_are_joined() -> None:
    """Names of the same words have one key, in the plural too."""
    names = ("FILE_UPLOAD", "fileUploads", "file-upload", "FileUpload")

    assert {"fileupload"} == {joined_key(name) for name in names}


TRANSLATIONS = [
    ("登录", ("login", "signin", "auth")),
    ("連線", ("connect", "connection")),
    ("连接池", ("pool", "connection")),
    ("用户登录用户", ("user", "login", "signin", "auth")),
    ("你好", ()),
    ("", ()),
]


@pytest.mark.parametrize(("text", "words"), TRANSLATIONS)
def test_the_longest_glossary_entry_wins(text: str, words: tuple[str, ...]) -> None:
    """Both scripts are known, other characters are skipped, and no word comes twice."""
    assert words == translate_to_english(text)


def test_every_glossary_row_has_a_term_and_words() -> None:
    """The glossary has two columns, and each term once."""
    rows = load_rows("upbeat.adapters.code.query", "zh_glossary.tsv")

    assert all(len(row) == 2 and row[1].isascii() and not row[0].isascii() for row in rows)
    assert len(rows) == len({term for term, _ in rows})
