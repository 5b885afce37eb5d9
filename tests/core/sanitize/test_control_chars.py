"""Characters that a reader cannot see never reach a model, a terminal or a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyte
from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.sanitize.control_chars import strip_controls

CASES = read_cases(Path(__file__).with_name("control_chars_cases.tsv"))
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


def test_strip_controls() -> None:
    """Whole sequences are removed, line ends become line feeds, and visible text stays."""
    expected = {"": "", **{case[0]: case[-1] for case in CASES}}

    assert expected == {text: strip_controls(text) for text in expected}


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


class Recorder:
    """A terminal that remembers which commands reached it."""

    def __init__(self) -> None:
        self.commands: set[str] = set()

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_args, **_kwargs: self.commands.add(name)


@given(NOISE)
def test_a_terminal_executes_nothing(text: str) -> None:
    """A real terminal emulator executes nothing of a stripped text."""
    terminal = Recorder()
    pyte.Stream(terminal).feed(strip_controls(text))

    assert terminal.commands <= {"draw", "linefeed", "tab"}
