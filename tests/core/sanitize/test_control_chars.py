"""Characters that a reader cannot see never reach a model, a terminal or a file."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.sanitize.control_chars import strip_controls

UNSEEN = [
    *(chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t\r"),
    *(chr(code) for code in (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070))),
    *(chr(code) for code in (*range(0xFE00, 0xFE10), 0xE0000, 0xE0001, 0xE0041, 0xE007F, 0xE0100, 0xE01EF)),
    *("\u00ad", "\u034f", "\u061c", "\u180e", "\u3164", "\ufeff", "\ufff9"),
]
NOISE = st.text(
    alphabet=st.one_of(
        st.sampled_from("\x1b\x9b\x9d\x90\x9c\x07[]P_^X\\;mJ"),
        st.sampled_from("\r\n\t\x00\x7f\u202e\u200b\ufeff\ud80003(é中"),
        st.characters(),
    ),
    max_size=200,
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain text\n\twith a tab",
        "def f(x: int) -> int:\n    return x  # naïve café",
        "中文，全角标点。『引號』",
        "[31m without its escape",
        "e\u0301 keeps its accent",
        "😀 🇩🇪 👍🏽",
        "nbsp\u00a0and thin\u2009space and ideographic\u3000space",
        "؟ العربية עברית",
    ],
)
def test_visible_text_stays(text: str) -> None:
    """Visible text stays unchanged."""
    assert text == strip_controls(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;2;1;2;3mred\x1b[m", "red"),
        ("\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
        ("\x1b[1 qshape", "shape"),
        ("\x9b31mred\x9b0m", "red"),
        pytest.param("a\x1b[31", "a", id="a CSI that was cut off"),
        pytest.param("a\x1b[31\nb", "a\nb", id="a line feed ends a CSI"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d52;c;aGk=\x9ctext", "text"),
        ("\x1bPq#0;2;0;0\n#1\x1b\\text", "text"),
        ("\x90q#0\x9ctext", "text"),
        ("\x1b_Gf=32;AAAA\x1b\\text", "text"),
        ("\x1b^private\x1b\\text", "text"),
        ("\x1bXstart\x1b\\text", "text"),
        pytest.param("\x1b]0;no end\nline", "0;no end\nline", id="a string without its end keeps the text"),
        pytest.param("â\x80\x9dword\nâ\x80\x9c", "âword\nâ", id="mojibake quotes swallow no line"),
        ("\x1b(Btext\x1b)0", "text"),
        ("\x1bcreset", "reset"),
        ("\x1b7save\x1b8", "save"),
        ("a\x1b", "a"),
        ("\x1b\x1b[31mred", "red"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("10%\r20%", "10%\n20%"),
        ("a\r\r\nb", "a\nb"),
        ("a\u2028b\u2029c", "a\nb\nc"),
        ("AKIA\u200bIOSF\x1b[1mODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("access\u202e\u2066level\u2069", "accesslevel"),
        ("hi\U000e0068\U000e0069", "hi"),
        ("❤\ufe0f", "❤"),
        ("a\ud800b\udfffc", "a\ufffdb\ufffdc"),
    ],
)
def test_sequences_are_removed(text: str, expected: str) -> None:
    """Whole sequences are removed; the text around them stays."""
    assert expected == strip_controls(text)


def test_each_invisible_character_is_removed() -> None:
    """Each invisible character is removed, and nothing else."""
    assert dict.fromkeys(UNSEEN, "a\nb") == {char: strip_controls(f"a{char}\nb") for char in UNSEEN}


@given(NOISE)
def test_nothing_invisible_is_left(text: str) -> None:
    """The result has no control, bidirectional, tag or surrogate character, whatever the input."""
    left = {char for char in strip_controls(text) if char in UNSEEN or char == "\r" or "\ud800" <= char <= "\udfff"}

    assert set() == left


@given(NOISE)
def test_is_idempotent(text: str) -> None:
    """Stripping is idempotent."""
    once = strip_controls(text)

    assert once == strip_controls(once)


@given(st.text(alphabet=st.characters(whitelist_categories=["L", "N", "P", "S"]), max_size=80))
def test_keeps_letters(text: str) -> None:
    """Letters, numbers, punctuation and symbols stay (Hangul fillers are letters by name only)."""
    assert text.translate(dict.fromkeys([0x115F, 0x1160, 0x3164, 0xFFA0])) == strip_controls(text)


class Recorder(pyte.Screen):
    """A terminal that remembers whether anything but text reached it."""

    def __init__(self) -> None:
        self.executed: list[str] = []
        super().__init__(80, 24)

    def set_title(self, param: str) -> None:
        self.executed.append("title")

    def select_graphic_rendition(self, *attrs: int, **kwargs: bool) -> None:
        self.executed.append("color")

    def erase_in_display(self, how: int = 0, *args: object, **kwargs: object) -> None:
        self.executed.append("erase")

    def cursor_position(self, line: int | None = None, column: int | None = None) -> None:
        self.executed.append("move")

    def bell(self, *args: object) -> None:
        self.executed.append("bell")


@given(NOISE)
def test_a_terminal_executes_nothing(text: str) -> None:
    """A real terminal emulator executes nothing of a stripped text."""
    screen = Recorder()
    screen.executed.clear()
    pyte.Stream(screen).feed(strip_controls(text))

    assert [] == screen.executed
