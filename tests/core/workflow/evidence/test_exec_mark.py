"""The signed line of ``upbeat exec``."""

from __future__ import annotations

import pytest

from upbeat.core.workflow.evidence.exec_mark import MAX_AGE_SECONDS, make_mark, read_mark

WORDS = ("pytest", "-q")
MARK = make_mark("key", WORDS, 3, 1000, "0123abcd")


def test_a_mark_is_read() -> None:
    """The last mark of the command says how it ended."""
    assert 3 == (read_mark("key", WORDS, f"1 failed\n\n{MARK}\n", 1001) or (None,))[0]


@pytest.mark.parametrize(
    ("key", "words", "output", "now"),
    [
        ("other", WORDS, MARK, 1001),
        ("", WORDS, MARK, 1001),
        ("key", ("true",), MARK, 1001),
        ("key", WORDS, MARK.replace("exit 3", "exit 0"), 1001),
        ("key", WORDS, MARK.replace("[1000", "[1001"), 1001),
        ("key", WORDS, "upbeat: exit 0", 1001),
        ("key", WORDS, f"it said {MARK}", 1001),
        ("key", WORDS, MARK, 1001 + MAX_AGE_SECONDS),
        ("key", WORDS, MARK, 0),
        ("key", WORDS, "", 1001),
    ],
)
def test_an_imitation_is_not(key: str, words: tuple[str, ...], output: str, now: float) -> None:
    """A line for another command, code, time or key is no mark."""
    assert read_mark(key, words, output, now) is None
