"""Prompts that begin as commit messages and reports of one line do, and prompts that only begin like them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.prompt.phrases import (
    PhraseTag,
    PromptOpening,
    find_phrase_hits,
    parse_opening,
    tag_opening,
    words,
)

OPENINGS = [
    ("fix the header", PromptOpening(0)),
    ("  - fix the header", PromptOpening(4)),
    ("[fix] the header", PromptOpening(6)),
    ("## fix the header", PromptOpening(3)),
    ("issue #12: fix the header", PromptOpening(11)),
    ("fix: the header", PromptOpening(5, "fix", 2)),
    ("perf!: the header", PromptOpening(7, "perf", 2)),
    ("build(deps): the header", PromptOpening(13, "build", 3)),
    ("chore: the header", PromptOpening(7, "chore")),
    ("dinner(late): the header", PromptOpening(14, "dinner")),
    ("win,pipe: the header", PromptOpening(10, "win,pipe", 1)),
    ("unix, windows: the header", PromptOpening(15, "unix, windows", 1)),
    ("linux: the header", PromptOpening(7, "linux")),
    ("a:b", PromptOpening(0)),
    ("see https://a.example/b", PromptOpening(0)),
    ("", PromptOpening(0)),
]

TAGGED = [
    ("fixes the cart", [("fixes", {PhraseTag.DEBUG})]),
    ("cart: fixes it", [("fixes", {PhraseTag.DEBUG})]),
    ("bugfix: the cart", [("bugfix", {PhraseTag.DEBUG})]),
    ("ensure it", [("ensure", {PhraseTag.UNSPECIFIED_CHANGE})]),
    ("avoid it", [("avoid", {PhraseTag.UNSPECIFIED_TASK})]),
    ("避免它", [("避免", {PhraseTag.UNSPECIFIED_TASK})]),
    ("it fixes the x", []),
    (
        "don't crash",
        [("don't", {PhraseTag.UNSPECIFIED_TASK}), ("crash", {PhraseTag.SYMPTOM, PhraseTag.WEAK_TECH_TERM})],
    ),
    ("don't worry", [("don't", {PhraseTag.NEGATION, PhraseTag.POSSIBLE_SYMPTOM})]),
    ("don't", [("don't", {PhraseTag.NEGATION, PhraseTag.POSSIBLE_SYMPTOM})]),
    ("不要忘记它", [("不要", {PhraseTag.NEGATION})]),
]


@pytest.mark.parametrize(("prose", "opening"), OPENINGS)
def test_parse_opening(prose: str, opening: PromptOpening) -> None:
    """List marks, tags, numbers and a label precede the opening; the label has a weight."""
    assert opening == parse_opening(prose)


@pytest.mark.parametrize(("prose", "hits"), TAGGED)
def test_tag_opening(prose: str, hits: list[tuple[str, set[PhraseTag]]]) -> None:
    """The first words get the tags that they have at the start of a prompt; all others keep their own."""
    tagged = tag_opening(prose, find_phrase_hits(prose), parse_opening(prose))
    assert hits == [(hit.phrase, set(hit.tags)) for hit in tagged]


@given(st.text(alphabet="-*[] \n#:,./()!x1fixdon't不要避免\x01", max_size=60))
def test_opening_is_total(prose: str) -> None:
    """Whatever a prompt begins with, the opening lies inside it, and the hits stay in order and do not overlap."""
    opening = parse_opening(prose)
    assert 0 <= opening.start <= len(prose)
    tagged = tag_opening(prose, find_phrase_hits(prose), opening)
    assert all(hit.end <= following.start for hit, following in pairwise(tagged))


def test_a_label_is_no_name() -> None:
    """In "fix(auth): …" fix is a commit type and no function; the scope's names count."""
    assert ((), ()) == (
        analyze_prompt("fix(auth): lost cookies").targets.symbols,
        analyze_prompt("fix(auth): lost cookies").targets.files,
    )
    assert ("src/auth.py",) == analyze_prompt("fix(src/auth.py): lost cookies").targets.files
    assert ("fix",) == analyze_prompt("the header is lost in fix(auth)").targets.symbols


def test_tables_are_apart() -> None:
    """No word is in two tables of openings."""
    tables = [words(name) for name in ("repair", "ambiguous_repair", "change", "behavior")]

    assert sum(map(len, tables)) == len(frozenset().union(*tables))
