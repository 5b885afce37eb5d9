"""Truncated text is within its limit."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.sanitize.truncate import LengthUnit, TextLimit, measure_text, truncate_to_limit

CASES = read_groups(Path(__file__).with_name("truncate_cases.tsv"))
TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab\n é中\u0301\u200d😀🏽🇩🇪\ud83d\ude00"),
        st.characters(),
    ),
    max_size=120,
)


@pytest.mark.parametrize(("text", "chars", "utf16", "utf8"), CASES["measure"])
def test_measure_text(text: str, chars: str, utf16: str, utf8: str) -> None:
    """The length is counted in the client's unit."""
    units = (LengthUnit.CHARS, LengthUnit.UTF16, LengthUnit.UTF8)

    assert [chars, utf16, utf8] == [str(measure_text(text, unit)) for unit in units]


@pytest.mark.parametrize(("text", "limit", "unit"), CASES["fits"])
def test_text_within_the_limit_stays(text: str, limit: str, unit: str) -> None:
    """Text within the limit stays unchanged, to the last unit."""
    assert (text, False) == truncate_to_limit(text, TextLimit(int(limit), LengthUnit(unit)))


@pytest.mark.parametrize(("text", "limit", "unit", "note", "expected"), CASES["cut"])
def test_truncates(text: str, limit: str, unit: str, note: str, expected: str) -> None:
    """A truncated text is within the limit; the cut is at a line end or between letters."""
    assert (expected, True) == truncate_to_limit(text, TextLimit(int(limit), LengthUnit(unit)), note)


def test_the_note_is_an_ellipsis() -> None:
    """Without another note, an ellipsis marks the truncation."""
    assert ("ab…", True) == truncate_to_limit("abcd", TextLimit(3))


@given(TEXTS, st.integers(-2, 150), st.sampled_from(LengthUnit), st.sampled_from(["", "…", " [cut]", "\n[…]"]))
def test_the_limit_holds(text: str, limit: int, unit: LengthUnit, note: str) -> None:
    """The result is within the limit and begins like the text; the flag says whether it was truncated."""
    truncated, was_cut = truncate_to_limit(text, TextLimit(limit, unit), note)

    assert measure_text(truncated, unit) <= max(limit, 0)
    assert was_cut == (measure_text(text, unit) > limit)
    assert text.startswith(truncated.removesuffix(note) if was_cut else truncated)


@given(TEXTS, st.integers(0, 60), st.sampled_from(LengthUnit))
def test_never_separates_a_letter_from_its_marks(text: str, limit: int, unit: LengthUnit) -> None:
    """The rest never begins with a mark, a skin tone or a joiner."""
    kept, was_cut = truncate_to_limit(text, TextLimit(limit, unit), "")
    rest = text[len(kept) :]

    assert not (was_cut and kept and (unicodedata.category(rest[0])[0] == "M" or rest[0] in "\u200d🏽"))
