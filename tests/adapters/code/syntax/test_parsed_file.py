"""The uses of names in one file can be searched without creating all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.syntax.parse import parse_source
from upbeat.adapters.code.syntax.parsed_file import Nesting, Reference, References

ROWS = st.tuples(st.sampled_from("abc"), st.integers(1, 70_000), st.integers(-1, 3), st.booleans())


@given(st.lists(ROWS, max_size=300))
def test_a_search_returns_the_matching_uses_in_order(rows: list[tuple[str, int, int, bool]]) -> None:
    """Uses of a name, and calls directly inside definitions, are those of the whole list."""
    references = References()
    for row in rows:
        references.add(*row)
    uses = [Reference(*row) for row in rows]

    assert uses == list(references)
    assert len(uses) == len(references)
    for name in "abx":
        assert [use for use in uses if use.name == name] == references.to_name(name)
        assert (name in {use.name for use in uses}) == (name in references.names)
    assert [use for use in uses if use.is_call and use.enclosing in {1, 2}] == references.calls_inside({1, 2})


def test_name_indexes_are_found_only_where_they_are_aligned() -> None:
    """Two adjacent indexes whose bytes together look like a third one are not that one."""
    references = References({f"n{index}": index for index in range(512)})
    for name in ("n256", "n257", "n1"):
        references.add(name, 1, -1, False)

    assert [Reference("n1", 1, -1, False)] == references.to_name("n1")


@pytest.mark.parametrize("path", ["a.py", "a.kt"])
def test_the_parser_records_every_use(path: str) -> None:
    """With a grammar and with patterns, the calls of a name are found."""
    parsed = parse_source(path, b"def f():\n    g()\n    h = g\n\n\ndef k():\n    g()\n    f()\n")

    assert [(2, True), (3, False), (7, True)] == [(use.line, use.is_call) for use in parsed.references.to_name("g")]


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 12)), max_size=12))
def test_the_innermost_definition_is_found(starts: list[tuple[int, int]]) -> None:
    """Of all overlapping definitions around a line, it is the last one to begin."""
    ranges = [(start, start + length) for start, length in sorted(starts)]
    nesting = Nesting([first for first, _ in ranges], [last for _, last in ranges])

    for line in range(45):
        around = [position for position, (first, last) in enumerate(ranges) if first <= line <= last]
        assert max(around, default=-1) == nesting.enclosing_position(line)
