"""How wide text is in a terminal."""

from __future__ import annotations

import pytest

from upbeat.core.columns import columns, padded


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("守卫", 4), ("cafe\u0301", 4), ("\uff21\uff22", 4), ("a守", 3)]
)
def test_columns(text: str, width: int) -> None:
    """A wide character takes two columns, a combining one none."""
    assert width == columns(text)


def test_padding() -> None:
    """Text is filled up to the width, and never cut."""
    assert ["守  ", "abcd", "守卫守"] == [padded("守", 4), padded("abcd", 2), padded("守卫守", 4)]
