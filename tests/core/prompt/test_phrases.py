"""The tables are written in the form that a prompt is compared in, and the longest phrase wins."""

from __future__ import annotations

from itertools import pairwise

import pytest

from upbeat.core.package_data import load_rows, load_text
from upbeat.core.prompt.phrases import PhraseHit, PhraseTag, find_phrase_hits, parse_words, to_simplified, words

TRADITIONAL = "".join(load_text("upbeat.core.prompt", "traditional_characters.tsv").splitlines()[1:])
ROWS = load_rows("upbeat.core.prompt", "phrases.tsv")


@pytest.mark.parametrize("tag", PhraseTag)
def test_every_tag_has_phrases(tag: PhraseTag) -> None:
    """Each tag has phrases: simplified, without repetition, and each found whole when it stands alone."""
    phrases = [phrase for name, row in ROWS if name == tag for phrase in row.split(", ")]
    assert phrases
    assert sorted(set(phrases)) == sorted(phrases)
    for phrase in phrases:
        hit = find_phrase_hits(phrase)[0]
        assert (to_simplified(phrase), hit.phrase, tag in hit.tags) == (phrase, phrase, True)


def test_the_rows_of_a_tag_are_together() -> None:
    """No tag has rows in two places of the table, and each row has a known tag."""
    names = [name for name, _ in ROWS]
    assert len({*names}) == 1 + sum(before != after for before, after in pairwise(names))
    assert {*names} == {*PhraseTag}


def test_traditional_characters_are_pairs() -> None:
    """No character has two simplified forms, and no simplified form is itself simplified."""
    old, new = TRADITIONAL[::2], TRADITIONAL[1::2]
    assert len(set(old)) == len(old) == len(new)
    assert not set(old) & set(new)


def test_words() -> None:
    """A list of words continues in the next rows of its name; an unknown list is an error."""
    assert parse_words(" a b\n a ") == frozenset({"a", "b"})
    assert {"py", "service"} <= words("code_extension")
    with pytest.raises(KeyError):
        words("no such list")


SIMPLIFIED = [
    ("FIX the Bug", "fix the bug"),
    ("修復這個函數的報錯", "修复这个函数的报错"),
    ("ｆｉｘ（ｘ）", "fix(x)"),
    ("修复，好。吗？！：；", "修复，好。吗？！：；"),
    ("don’t　stop", "don't stop"),
    ("İstanbul ß", "İstanbul ß"),
]


@pytest.mark.parametrize(("text", "simplified"), SIMPLIFIED)
def test_to_simplified(text: str, simplified: str) -> None:
    """Characters change one for one; the marks that end a clause stay."""
    assert to_simplified(text) == simplified
    assert len(to_simplified(text)) == len(text)


HITS = [
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


@pytest.mark.parametrize(("text", "expected"), HITS)
def test_find_phrase_hits(text: str, expected: list[tuple[str, str]]) -> None:
    """The longest phrase of whole words wins; a hit names the word before it."""
    assert [(hit.phrase, hit.preceding_word) for hit in find_phrase_hits(text)] == expected


def test_a_hit_has_offsets_and_tags() -> None:
    """A hit has its offsets and all its tags."""
    assert find_phrase_hits("middlewares")[0].tags == frozenset({PhraseTag.STRONG_TECH_TERM})
    assert find_phrase_hits("go fix") == (
        PhraseHit("fix", frozenset({PhraseTag.DEBUG, PhraseTag.WEAK_TECH_TERM}), 3, 6, "go"),
    )
