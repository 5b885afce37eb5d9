"""Lines for people: they fit the screen, say how long ago, and carry their colors beside the text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from upbeat.core.messages import layout
from upbeat.core.messages.layout import Line, Screen, Style

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
TEXTS = st.text(st.sampled_from("ab/-店 铺\té\n"), max_size=120)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=4), st.integers(40, 120), st.booleans())
def test_no_row_is_wider_than_the_screen(rows: list[tuple[str, str, str]], columns: int, has_marks: bool) -> None:
    """Whatever the cells are, a table fits; the last cell is never cut."""
    marks = [layout.GOOD] * len(rows) if has_marks else []
    lines = list(layout.table(rows, Screen(columns=columns), "  ", marks))

    assert [] == [line for line in lines if wcswidth(line.text) > columns]
    letters = "".join("".join(row[-1].split()) for row in rows)
    assert len(letters) <= len("".join("".join(line.text.split()) for line in lines))


@given(TEXTS, st.integers(40, 120))
def test_a_paragraph_fits_and_loses_nothing(text: str, columns: int) -> None:
    """Wrapping changes white space only."""
    rows = [line.text for line in layout.paragraph(text, Screen(columns=columns), "  ")]

    assert [] == [row for row in rows if wcswidth(row) > columns]
    assert "".join(text.split()) == "".join("".join(rows).split())


def test_a_table() -> None:
    """Columns are aligned by the width of the letters, and the last cell continues below itself."""
    rows = [("PLAN", "已通过", "one two three four five six"), ("DEV", "passed", "x")]
    lines = layout.table(rows, Screen(columns=40), "  ", [layout.GOOD, layout.CURRENT])

    assert ["a  b", "   c"] == [line.text for line in layout.table([("a", "b\nc")], Screen())]
    assert [
        Line("  ✓ PLAN  已通过  one two three four", Style.GOOD, 4),
        Line("                  five six", Style.GOOD),
        Line("  ▸ DEV   passed  x", Style.CURRENT, 4),
    ] == list(lines)


@pytest.mark.parametrize(
    ("at", "english", "chinese"),
    [
        ("2026-11-22T09:29:18.000Z", "42 s ago", "42 秒前"),
        (datetime(2026, 11, 22, 9, 28, tzinfo=UTC).timestamp(), "2 min ago", "2 分钟前"),
        ("2026-11-22T06:30:00.000Z", "3 h ago", "3 小时前"),
        ("2026-11-18T09:30:00.000Z", "4 days ago", "4 天前"),
        ("2026-11-22T09:31:00.000Z", "0 s ago", "0 秒前"),
        ("", "", ""),
        (0.0, "", ""),
        ("yesterday", "yesterday", "yesterday"),
    ],
)
def test_relative_times(at: str | float, english: str, chinese: str) -> None:
    """A time has a suitable unit and is never negative; what is no time is shown as it is."""
    shown = [layout.relative_time(at, Screen(language, now=NOW)) for language in ("en", "zh")]

    assert [english, chinese] == shown


def test_chinese_punctuation_stays_with_its_word() -> None:
    """No line begins with a comma or a closing bracket, and none ends with an opening one."""
    assert ["一二三", "四，", "abc。", "（五）"] == layout.wrap_to_width("一二三四，abc。（五）", 7).split("\n")
