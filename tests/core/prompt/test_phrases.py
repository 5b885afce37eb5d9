"""The tables of phrases, the search for them, and what they mean at the opening of a prompt."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.package_data import load_rows, load_text
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.prompt.phrases import (
    PhraseHit,
    PhraseTag,
    PromptOpening,
    find_phrase_hits,
    parse_opening,
    parse_words,
    tag_opening,
    to_simplified,
    words,
)

CASES = read_groups(Path(__file__).with_name("phrases_cases.tsv"))
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


@pytest.mark.parametrize(("text", "simplified"), CASES["simplified"])
def test_to_simplified(text: str, simplified: str) -> None:
    """Characters change one for one; the marks that end a clause stay."""
    assert to_simplified(text) == simplified
    assert len(to_simplified(text)) == len(text)


def test_find_phrase_hits() -> None:
    """The longest phrase of whole words wins; a hit names the word before it."""
    assert {text: expected for text, *expected in CASES["hits"]} == {
        text: [part for hit in find_phrase_hits(text) for part in (hit.preceding_word, hit.phrase)]
        for text, *_ in CASES["hits"]
    }


def test_a_hit_has_offsets_and_tags() -> None:
    """A hit has its offsets and all its tags."""
    assert find_phrase_hits("middlewares")[0].tags == frozenset({PhraseTag.STRONG_TECH_TERM})
    assert find_phrase_hits("go fix") == (
        PhraseHit("fix", frozenset({PhraseTag.DEBUG, PhraseTag.WEAK_TECH_TERM}), 3, 6, "go"),
    )


def test_parse_opening() -> None:
    """List marks, tags, numbers and a label precede the opening; the label has a weight."""
    assert {"": PromptOpening(0)} | {
        prose: PromptOpening(int(start), label, int(weight)) for prose, start, label, weight in CASES["opening"]
    } == {prose: parse_opening(prose) for prose in ["", *(prose for prose, *_ in CASES["opening"])]}


def test_tag_opening() -> None:
    """The first words get the tags that they have at the start of a prompt; all others keep their own."""
    proses = [prose for prose, *_ in CASES["tagged"]]
    tagged = {prose: tag_opening(prose, find_phrase_hits(prose), parse_opening(prose)) for prose in proses}

    assert {prose: expected for prose, *expected in CASES["tagged"]} == {
        prose: [part for hit in hits for part in (hit.phrase, " ".join(sorted(hit.tags)))]
        for prose, hits in tagged.items()
    }


@given(st.text(alphabet="-*[] \n#:,./()!x1fixdon't不要避免\x01", max_size=60))
def test_opening_is_total(prose: str) -> None:
    """Whatever a prompt begins with, the opening lies inside it, and the hits stay in order and do not overlap."""
    opening = parse_opening(prose)
    assert 0 <= opening.start <= len(prose)
    tagged = tag_opening(prose, find_phrase_hits(prose), opening)
    assert all(hit.end <= following.start for hit, following in pairwise(tagged))


def test_a_label_is_no_name() -> None:
    """In "fix(auth): …" fix is a commit type and no function; the scope's names count."""
    plain = analyze_prompt("fix(auth): lost cookies").targets

    assert ((), ()) == (plain.symbols, plain.files)
    assert ("src/auth.py",) == analyze_prompt("fix(src/auth.py): lost cookies").targets.files
    assert ("fix",) == analyze_prompt("the header is lost in fix(auth)").targets.symbols


def test_no_word_has_two_meanings_in_an_opening() -> None:
    """No word is in two tables of openings."""
    tables = [words(name) for name in ("repair", "ambiguous_repair", "change", "behavior")]

    assert sum(map(len, tables)) == len(frozenset().union(*tables))
