"""What is displayed for an approval decodes to what runs, on any terminal, for any text."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from upbeat.core.sanitize.exact import (
    MIN_COLUMNS,
    decodes_to_what_runs,
    escape_exactly,
    exact_json,
    exact_rows,
    hidden_characters,
    pages,
)

ESCAPE = re.compile(r"\\u\{([0-9a-f]+)\}")
SNEAKY = (
    "\x00\x07\x08\t\r\x1b\x7f\x85\x90\x9b\x9d\xa0\u00ad\u0301\u0338\u034f\u05d0\u0627\u115f\u200b\u200d\u2028\u202e"
)
SNEAKY += (
    "\u2066\u2800\u3000\u3164\ue000\ufe0f\ufeff\ufffd\ud800\udfff\U000e0041\U0001f642\u0430\u212b\u037e\\u{} \n]$aé店"
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.text(st.sampled_from(SNEAKY), max_size=200),
    st.lists(st.sampled_from(["\\u{1b}", "\\", "u{", "}", " ", "a" * 90, "\x1b]0;", "e\u0301\u0302\u0303"])).map(
        "".join
    ),
)


def decode(shown: str) -> str:
    """The text that ``shown`` stands for."""
    return ESCAPE.sub(lambda match: chr(int(match[1], 16)), shown)


def unwrap(rows: list[str]) -> str:
    """The text that ``rows`` stand for: what follows the marks, with a line end where a new line begins."""
    text = "".join(row[4:] if row.startswith("  \\ ") else f"\n{row[4:]}" for row in rows)
    return decode(text.removeprefix("\n"))


def width(row: str) -> int:
    """The columns of ``row`` where wide and ambiguous characters take two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WFA" and char > "\x7f" else 1 for char in row)


@given(TEXTS, st.sampled_from(["utf-8", "ascii", "latin-1", "gb18030"]))
@example("echo tidy \x1b]0; touch marked; #\x07 up", "utf-8")
def test_one_line_decodes_to_its_text(text: str, encoding: str) -> None:
    """Nothing is lost or made up, whatever the text contains, and every stream can show it."""
    shown = escape_exactly(text, encoding)

    assert text == decode(shown)
    assert shown == shown.encode(encoding).decode(encoding)
    assert not shown.endswith(" ")


@given(TEXTS, st.integers(MIN_COLUMNS, 120))
def test_rows_decode_to_their_text(text: str, columns: int) -> None:
    """Rows that are unwrapped are the text; no row is wider than the terminal, or ends in a space that nobody sees."""
    rows = exact_rows(text, columns)

    assert text == unwrap(rows)
    assert [] == [row for row in rows if width(row) > columns]
    assert [] == [row for row in rows if row[4:].endswith(" ")]


@given(TEXTS)
def test_only_visible_characters_are_displayed(text: str) -> None:
    """No control, format, private or unassigned character, no space but one, and no letter that runs to the left."""
    shown = escape_exactly(text)

    assert [] == [char for char in shown if char != " " and unicodedata.category(char)[0] in "CZ"]
    assert [] == [char for char in shown if unicodedata.bidirectional(char) in ("R", "AL", "AN")]
    assert shown == unicodedata.normalize("NFC", shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls -l ~/x | sed 's/\\n/ /'", "ls -l ~/x | sed 's/\\n/ /'"),
        ("echo 你好，世界 é 🙂 ñandú", "echo 你好，世界 é 🙂 ñandú"),
        ("эхо привет", "эхо привет"),
        ("\x1b]0; x\x07", "\\u{1b}]0; x\\u{7}"),
        ("\\u{1b}", "\\u{5c}u{1b}"),
        ("a\tb\r", "a\\u{9}b\\u{d}"),
        ("a\u00a0b\u3000c\u2003d\u2800e", "a\\u{a0}b\\u{3000}c\\u{2003}d\\u{2800}e"),
        ("a  ", "a \\u{20}"),
        ("p\u0430ypal", "p\\u{430}ypal"),
        ("ls \u05d0; rm", "ls \\u{5d0}; rm"),
        ("ls\u037e rm", "ls\\u{37e} rm"),
        ("e\u0301", "e\\u{301}"),
        ("ที่", "ที่"),
        ("x" + "\u0e49" * 4, "x\u0e49\u0e49\\u{e49}\\u{e49}"),
        ("a\u0338", "a\\u{338}"),
        ("\udce9", "\\u{dce9}"),
    ],
)
def test_what_is_escaped(text: str, shown: str) -> None:
    """Plain text of any script stays as it is; what hides, moves, covers or imitates something is escaped."""
    assert shown == escape_exactly(text)


@pytest.mark.parametrize(
    ("text", "is_exact"),
    [
        ("ls", True),
        ("\x1b\u202e", True),
        ("", False),
        (" \n", False),
        ("a\0", False),
        ("\ufffd", False),
        ("ls \udfff", False),
    ],
)
def test_what_stands_for_no_bytes(text: str, is_exact: bool) -> None:
    """Nothing, lost bytes, NUL and half a character are not what a program receives."""
    assert is_exact == decodes_to_what_runs(text)


def test_rows_are_marked() -> None:
    """A line that begins and a row that continues differ, so a text cannot imitate either."""
    rows = exact_rows("a" * 40 + "\n  \\ b\n", 30)

    assert ["  > " + "a" * 21, "  \\ " + "a" * 19, "  >   \\ b", "  > "] == rows


def test_json_has_one_entry_a_line() -> None:
    """Values are shown with all that they contain."""
    assert '{\n "write": [\n  "/"\n ]\n}' == exact_json({"write": ["/"]})


@given(st.lists(st.text(max_size=3)), st.integers(-1, 5))
def test_pages_have_every_row_once(rows: list[str], height: int) -> None:
    """No page is too long, and together they are the rows."""
    divided = pages(rows, height)

    assert rows == [row for page in divided for row in page]
    assert max(map(len, divided)) <= max(height, 1)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a\tb ⚠️ 👩‍🚀 店\nمرحبا", []),
        ("a\nb\u202e\x1b", ["U+202E in line 2", "U+001B in line 2"]),
        ("\u3164\u2800\u034f\ufeff\r", [f"U+{code} in line 1" for code in ("3164", "2800", "034F", "FEFF", "000D")]),
    ],
)
def test_hidden_characters(text: str, hidden: list[str]) -> None:
    """What nobody can see is named with its line; what shapes a visible character is not."""
    assert hidden == hidden_characters(text)
