"""What a command asks about is shown exactly, page by page at a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from io import StringIO

import pytest

from upbeat.adapters.cli import exact_output
from upbeat.adapters.cli.exact_output import bytes_rows, confirm_rows, diff_rows, show_rows
from upbeat.core.sanitize.exact import MIN_COLUMNS

ROWS = [f"row {number}" for number in range(10)]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def at_terminal(typed: str, action: Callable[[], bool], columns: int = 80) -> tuple[bool, list[str]]:
    """What ``action`` returns and prints on a terminal of eight rows where ``typed`` is typed."""
    keys, screen = Terminal(typed), Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", keys)
        patch.setattr(sys, "stdout", screen)
        patch.setattr(exact_output, "_output_size", lambda: os.terminal_size((columns, 8)))
        done = action()
    return done, screen.getvalue().split("\n")[:-1]


@pytest.mark.parametrize(
    ("typed", "is_shown", "count"), [("\n\n", True, 10), ("\nq\n", False, 8), ("no\n", False, 4), ("", False, 4)]
)
def test_pages(typed: str, is_shown: bool, count: int) -> None:
    """Only Enter goes on; anything else, and the end of the input, means that not everything was shown."""
    assert (is_shown, ROWS[:count]) == at_terminal(typed, lambda: show_rows(ROWS, is_question=True))


def test_without_a_question_nothing_waits() -> None:
    """What is only shown is not divided."""
    assert (True, ROWS) == at_terminal("", lambda: show_rows(ROWS, is_question=False))


@pytest.mark.parametrize(("typed", "is_yes"), [("\n\ny\n", True), ("\n\n\n", False), ("y\ny\ny\n", False)])
def test_a_yes_follows_the_last_page(typed: str, is_yes: bool) -> None:
    """A yes to a page is none to the question."""
    assert is_yes == at_terminal(typed, lambda: confirm_rows(ROWS, "sure?"))[0]


def test_a_narrow_terminal() -> None:
    """Where rows would be wrapped without a mark, there is no question."""
    assert (False, []) == at_terminal("y\n", lambda: confirm_rows(ROWS, "sure?"), MIN_COLUMNS - 1)


def test_bytes_are_shown() -> None:
    """Every byte has its escape, and the last line end needs none."""
    assert ["  | a", "  | \\u{dcff}\\u{9}"] == bytes_rows(b"a\n\xff\t\n")


def test_signs_of_a_diff_are_kept() -> None:
    """An empty line of context is no space at the end of a line."""
    assert ["@@ -1 +1 @@", " ", "-a\\u{d}", "+a \\u{20}"] == diff_rows(["@@ -1 +1 @@", " ", "-a\r", "+a  "])
