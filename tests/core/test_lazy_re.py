"""A pattern that is compiled late is the same pattern."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core import lazy_re

PATTERN = r"(?P<word>\w+) (?P<number>\d+)"


@given(st.lists(st.sampled_from(["a 1", "b", "  ", "C 22"]), max_size=6).map(",".join))
def test_it_matches_as_a_compiled_pattern(text: str) -> None:
    """Every method gives the same result, the first time and later."""
    lazy, compiled = lazy_re.compile(PATTERN, lazy_re.IGNORECASE), re.compile(PATTERN, re.IGNORECASE)

    for _ in range(2):
        assert compiled.findall(text) == lazy.findall(text)
        assert compiled.sub("x", text) == lazy.sub("x", text)
        assert (compiled.search(text) is None) == (lazy.search(text) is None)
        assert [found.span() for found in compiled.finditer(text)] == [found.span() for found in lazy.finditer(text)]
    assert (compiled.pattern, compiled.flags, compiled.groups) == (lazy.pattern, lazy.flags, lazy.groups)


def test_a_wrong_pattern_is_an_error_when_it_is_used() -> None:
    """Defining it costs nothing, so nothing is checked then."""
    lazy = lazy_re.compile("(")

    with pytest.raises(re.error):
        lazy.search("")
