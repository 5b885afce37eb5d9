"""A line of text shows whether it defines or uses a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.syntax.occurrence import DEFINED, USED, classify_occurrence
from upbeat.adapters.code.syntax.parse import parse_source

CASES = read_groups(Path(__file__).with_name("cases.tsv"))["occurrence"]


@pytest.mark.parametrize(("kind", "text"), CASES)
def test_occurrences_are_classified(kind: str, text: str) -> None:
    """The beginning of a definition is one in each language, a call is a use, a part of a longer name is nothing."""
    assert int(kind) == classify_occurrence(text.encode(), b"total")


@given(st.binary(max_size=200))
def test_any_bytes_are_classified(data: bytes) -> None:
    """A name between any bytes is used or defined."""
    assert classify_occurrence(data + b" f " + data, b"f") in (USED, DEFINED)


@given(
    st.sampled_from(["def f():", "class f:", "async def f(a,", "    def f(self):", "f = 1"]),
    st.text("ab \n", max_size=20),
)
def test_a_definition_of_the_parser_is_one_here(head: str, before: str) -> None:
    """A definition of Python that the parser finds is not classified as a use."""
    text = f"{before}\n{head} pass\n".encode()
    if any(definition.name == "f" for definition in parse_source("a.py", text).definitions):
        assert DEFINED == classify_occurrence(text, b"f")
