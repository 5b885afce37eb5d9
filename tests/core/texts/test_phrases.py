"""The tables are written as the lexicon compares them."""

from __future__ import annotations

import pytest

from upbeat.core.texts.phrases import PHRASES, TRADITIONAL, Tag, words
from upbeat.core.turn.lexicon import Hit, find_phrases, fold

PAIRS = "".join(TRADITIONAL.split())


@pytest.mark.parametrize("tag", Tag)
def test_every_tag_has_phrases(tag: Tag) -> None:
    """Each meaning has phrases, none of them twice, and none empty."""
    phrases = [" ".join(phrase.split()) for phrase in PHRASES[tag].split(",")]
    assert "" not in phrases
    assert sorted(set(phrases)) == sorted(phrases)


@pytest.mark.parametrize("tag", Tag)
def test_phrases_are_folded(tag: Tag) -> None:
    """English is in lower case, Chinese in simplified characters."""
    assert fold(PHRASES[tag]) == PHRASES[tag]


@pytest.mark.parametrize("tag", Tag)
def test_phrases_can_be_found(tag: Tag) -> None:
    """Each phrase is found, whole, where it stands alone."""
    for phrase in PHRASES[tag].split(","):
        phrase = " ".join(phrase.split())
        hit = find_phrases(phrase)[0]
        assert (hit.phrase, tag in hit.tags) == (phrase, True)


def test_traditional_characters_are_pairs() -> None:
    """No character has two simplified forms, and no simplified form is folded again."""
    old, new = PAIRS[::2], PAIRS[1::2]
    assert len(set(old)) == len(old) == len(new)
    assert not set(old) & set(new)


def test_words() -> None:
    """words splits at white space."""
    assert words(" a b\n a ") == frozenset({"a", "b"})


FOLDED = [
    ("FIX the Bug", "fix the bug"),
    ("修復這個函數的報錯", "修复这个函数的报错"),
    ("ｆｉｘ（ｘ）", "fix(x)"),
    ("修复，好。吗？！：；", "修复，好。吗？！：；"),
    ("don’t　stop", "don't stop"),
    ("İstanbul ß", "İstanbul ß"),
]


@pytest.mark.parametrize(("text", "folded"), FOLDED)
def test_fold(text: str, folded: str) -> None:
    """fold changes characters one for one, and leaves the marks that end a clause."""
    assert fold(text) == folded
    assert len(fold(text)) == len(text)


FOUND = [
    ("no need to refactor", [("no need to", ""), ("refactor", "to")]),
    ("no  need\nto", [("no need to", "")]),
    ("no   need", [("need", "")]),
    ("the error handler", [("error handler", "the")]),
    ("the error", [("the error", "")]),
    ("endpoints", [("endpoints", "")]),
    ("middlewares", [("middlewares", "")]),
    ("reclassify prefix", []),
    ("don't-fix", []),
    ("code of conduct", [("code of conduct", "")]),
    ("验证码", [("验证码", "")]),
    ("别修bug了", [("别", ""), ("修bug", "别")]),
    ("没有实现", [("没有", ""), ("实现", "没有")]),
    ("人类 fix", [("人类", ""), ("fix", "人类")]),
]


@pytest.mark.parametrize(("text", "found"), FOUND)
def test_find_phrases(text: str, found: list[tuple[str, str]]) -> None:
    """find_phrases takes the longest phrase of whole words, and tells what stands before it."""
    assert [(hit.phrase, hit.before) for hit in find_phrases(text)] == found


def test_hits_say_where() -> None:
    """A hit has its place and all its meanings."""
    assert find_phrases("middlewares")[0].tags == frozenset({Tag.CRAFT3})
    assert find_phrases("go fix") == (Hit("fix", frozenset({Tag.DEBUG, Tag.CRAFT1}), 3, 6, "go"),)
