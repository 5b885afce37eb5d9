"""A text that was cut lies inside its limit."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.turn.truncate import Cap, Unit, fit, measure

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
def test_measures(text: str, chars: int, utf16: int, utf8: int) -> None:
    """measure counts what the unit's clients count."""
    assert (chars, utf16, utf8) == tuple(measure(text, unit) for unit in (Unit.CHARS, Unit.UTF16, Unit.UTF8))


@pytest.mark.parametrize(
    ("text", "cap"),
    [
        ("", Cap(0)),
        ("abc", Cap(3)),
        ("中文", Cap(6, Unit.UTF8)),
        ("😀", Cap(2, Unit.UTF16)),
        ("a\nb\n", Cap(4)),
    ],
)
def test_says_nothing_for(text: str, cap: Cap) -> None:
    """fit leaves alone what is inside the cap, to the last unit."""
    assert (text, False) == fit(text, cap)


@pytest.mark.parametrize(
    ("text", "cap", "note", "expected"),
    [
        ("abcdef", Cap(4), "…", "abc…"),
        ("abcdef", Cap(5), " [cut]", "abcde"),
        ("abcdef", Cap(6 - 1), "…", "abcd…"),
        ("abcdefg", Cap(6), " [cut]", " [cut]"),
        ("abc", Cap(1), "…", "…"),
        pytest.param("abc", Cap(0), "…", "", id="no room for the note"),
        pytest.param("abc", Cap(-5), "…", "", id="a negative cap is none"),
        pytest.param("abc", Cap(2), "", "ab", id="an empty note"),
        ("中文字", Cap(6, Unit.UTF8), "…", "中…"),
        ("中文字", Cap(8, Unit.UTF8), "…", "中…"),
        ("a😀b", Cap(3, Unit.UTF16), "…", "a…"),
        ("a😀bc", Cap(4, Unit.UTF16), "…", "a😀…"),
        ("abe\u0301def", Cap(4), "…", "ab…"),
        ("abe\u0301def", Cap(5), "…", "abe\u0301…"),
        ("a👍🏽bcd", Cap(3), "…", "a…"),
        ("a👩\u200d💻bcd", Cap(3), "…", "a…"),
        ("a👩\u200d💻bcd", Cap(4), "…", "a…"),
        ("a👩\u200d💻bcd", Cap(5), "…", "a👩\u200d💻…"),
        ("a🇩🇪🇫🇷b", Cap(3), "…", "a…"),
        ("a🇩🇪🇫🇷b", Cap(4), "…", "a🇩🇪…"),
        ("a🇩🇪🇫🇷b", Cap(5), "…", "a🇩🇪…"),
        ("ab👍🏻c", Cap(3), "", "ab"),
        ("ab👍🏿c", Cap(3), "", "ab"),
        ("a🇦🇿🇿🇦b", Cap(2), "", "a"),
        ("a🇦🇿🇿🇦b", Cap(3), "", "a🇦🇿"),
        ("🇿🇦🇦🇿b", Cap(3), "", "🇿🇦"),
        ("ab\r\ncd", Cap(4), "…", "ab…"),
        pytest.param("x" * 95 + "\nabcdefgh", Cap(100), "…", "x" * 95 + "\n…", id="a line end in the last tenth"),
        pytest.param("x" * 80 + "\n" + "y" * 40, Cap(100), "…", "x" * 80 + "\n" + "y" * 18 + "…", id="one before it"),
        pytest.param("x" * 89 + "\n" + "y" * 40, Cap(101), "…", "x" * 89 + "\n" + "y" * 10 + "…", id="just before it"),
        pytest.param("x" * 90 + "\n" + "y" * 40, Cap(101), "…", "x" * 90 + "\n…", id="the first of it"),
        pytest.param("x" * 99 + "\n" + "y" * 40, Cap(101), "…", "x" * 99 + "\n…", id="the last of it"),
        pytest.param("x" * 92 + "\nyy\n" + "z" * 40, Cap(100), "…", "x" * 92 + "\nyy\n…", id="the last of two"),
        pytest.param("e" + "\u0301" * 200, Cap(100), "…", "e" + "\u0301" * 98 + "…", id="a heap of marks"),
        pytest.param("e" + "\u0301" * 60, Cap(50), "…", "…", id="a small heap goes with its letter"),
    ],
)
def test_cuts(text: str, cap: Cap, note: str, expected: str) -> None:
    """fit cuts inside the cap, at a line end or between letters."""
    assert (expected, True) == fit(text, cap, note)


def test_the_note_is_an_ellipsis() -> None:
    """Without another note, an ellipsis says that something was cut."""
    assert ("ab…", True) == fit("abcd", Cap(3))


@given(TEXTS, st.integers(-2, 150), st.sampled_from(Unit), st.sampled_from(["", "…", " [cut]", "\n[…]"]))
def test_never_passes_the_cap(text: str, limit: int, unit: Unit, note: str) -> None:
    """What fit returns is inside the cap, begins like the text, and says whether it was cut."""
    fitted, was_cut = fit(text, Cap(limit, unit), note)

    assert measure(fitted, unit) <= max(limit, 0)
    assert was_cut == (measure(text, unit) > limit)
    assert text.startswith(fitted.removesuffix(note) if was_cut else fitted)


@given(TEXTS, st.integers(0, 60), st.sampled_from(Unit))
def test_never_cuts_a_letter_from_its_marks(text: str, limit: int, unit: Unit) -> None:
    """The rest never begins with a mark, a skin tone or a joiner."""
    kept, was_cut = fit(text, Cap(limit, unit), "")
    rest = text[len(kept) :]

    assert not (was_cut and kept and (unicodedata.category(rest[0])[0] == "M" or rest[0] in "\u200d🏽"))
