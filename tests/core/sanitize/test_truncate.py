"""Truncated text is within its limit."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.sanitize.truncate import LengthUnit, TextLimit, measure_text, truncate_to_limit

TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab\n é中\u0301\u200d😀🏽🇩🇪\ud83d\ude00"),
        st.characters(),
    ),
    max_size=120,
)


@pytest.mark.parametrize(
    ("text", "chars", "utf16", "utf8"),
    [
        ("", 0, 0, 0),
        ("abc", 3, 3, 3),
        ("é", 1, 1, 2),
        ("中文", 2, 2, 6),
        ("\uffff", 1, 1, 3),
        ("😀", 1, 2, 4),
        pytest.param("\ud83d", 1, 1, 3, id="a lone surrogate"),
    ],
)
def test_measure_text(text: str, chars: int, utf16: int, utf8: int) -> None:
    """The length is counted in the client's unit."""
    assert (chars, utf16, utf8) == tuple(
        measure_text(text, unit) for unit in (LengthUnit.CHARS, LengthUnit.UTF16, LengthUnit.UTF8)
    )


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("", TextLimit(0)),
        ("abc", TextLimit(3)),
        ("中文", TextLimit(6, LengthUnit.UTF8)),
        ("😀", TextLimit(2, LengthUnit.UTF16)),
        ("a\nb\n", TextLimit(4)),
    ],
)
def test_text_within_the_limit_stays(text: str, limit: TextLimit) -> None:
    """Text within the limit stays unchanged, to the last unit."""
    assert (text, False) == truncate_to_limit(text, limit)


@pytest.mark.parametrize(
    ("text", "limit", "note", "expected"),
    [
        ("abcdef", TextLimit(4), "…", "abc…"),
        ("abcdef", TextLimit(5), " [cut]", "abcde"),
        ("abcdef", TextLimit(6 - 1), "…", "abcd…"),
        ("abcdefg", TextLimit(6), " [cut]", " [cut]"),
        ("abc", TextLimit(1), "…", "…"),
        pytest.param("abc", TextLimit(0), "…", "", id="no room for the note"),
        pytest.param("abc", TextLimit(-5), "…", "", id="a negative limit is zero"),
        pytest.param("abc", TextLimit(2), "", "ab", id="an empty note"),
        ("中文字", TextLimit(6, LengthUnit.UTF8), "…", "中…"),
        ("中文字", TextLimit(8, LengthUnit.UTF8), "…", "中…"),
        ("a😀b", TextLimit(3, LengthUnit.UTF16), "…", "a…"),
        ("a😀bc", TextLimit(4, LengthUnit.UTF16), "…", "a😀…"),
        ("abe\u0301def", TextLimit(4), "…", "ab…"),
        ("abe\u0301def", TextLimit(5), "…", "abe\u0301…"),
        ("a👍🏽bcd", TextLimit(3), "…", "a…"),
        ("a👩\u200d💻bcd", TextLimit(3), "…", "a…"),
        ("a👩\u200d💻bcd", TextLimit(4), "…", "a…"),
        ("a👩\u200d💻bcd", TextLimit(5), "…", "a👩\u200d💻…"),
        ("a🇩🇪🇫🇷b", TextLimit(3), "…", "a…"),
        ("a🇩🇪🇫🇷b", TextLimit(4), "…", "a🇩🇪…"),
        ("a🇩🇪🇫🇷b", TextLimit(5), "…", "a🇩🇪…"),
        ("ab👍🏻c", TextLimit(3), "", "ab"),
        ("ab👍🏿c", TextLimit(3), "", "ab"),
        ("a🇦🇿🇿🇦b", TextLimit(2), "", "a"),
        ("a🇦🇿🇿🇦b", TextLimit(3), "", "a🇦🇿"),
        ("🇿🇦🇦🇿b", TextLimit(3), "", "🇿🇦"),
        ("ab\r\ncd", TextLimit(4), "…", "ab…"),
        pytest.param("x" * 95 + "\nabcdefgh", TextLimit(100), "…", "x" * 95 + "\n…", id="a line end in the last tenth"),
        pytest.param(
            "x" * 80 + "\n" + "y" * 40, TextLimit(100), "…", "x" * 80 + "\n" + "y" * 18 + "…", id="one before it"
        ),
        pytest.param(
            "x" * 89 + "\n" + "y" * 40, TextLimit(101), "…", "x" * 89 + "\n" + "y" * 10 + "…", id="just before it"
        ),
        pytest.param("x" * 90 + "\n" + "y" * 40, TextLimit(101), "…", "x" * 90 + "\n…", id="the first of it"),
        pytest.param("x" * 99 + "\n" + "y" * 40, TextLimit(101), "…", "x" * 99 + "\n…", id="the last of it"),
        pytest.param("x" * 92 + "\nyy\n" + "z" * 40, TextLimit(100), "…", "x" * 92 + "\nyy\n…", id="the last of two"),
        pytest.param("e" + "\u0301" * 200, TextLimit(100), "…", "e" + "\u0301" * 98 + "…", id="a heap of marks"),
        pytest.param("e" + "\u0301" * 60, TextLimit(50), "…", "…", id="a small heap goes with its letter"),
    ],
)
def test_truncates(text: str, limit: TextLimit, note: str, expected: str) -> None:
    """A truncated text is within the limit; the cut is at a line end or between letters."""
    assert (expected, True) == truncate_to_limit(text, limit, note)


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
