"""Chunks of bytes become lines, and a field of another type counts as missing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport import json_lines


def test_a_field_of_the_expected_type_is_returned() -> None:
    """A string, an object and a number are returned unchanged."""
    fields = {"text": "a", "object": {"b": 1}, "number": 2}

    assert ("a", {"b": 1}, 2) == (
        json_lines.string_field(fields, "text"),
        json_lines.object_field(fields, "object"),
        json_lines.int_field(fields, "number"),
    )


@pytest.mark.parametrize("value", [None, [], 1.5, True, -1])
def test_a_field_of_another_type_counts_as_missing(value: object) -> None:
    """A value of another type, a Boolean and a negative number give the empty value, as a missing field does."""
    for fields in ({}, {"field": value}):
        assert ("", {}, 0) == (
            json_lines.string_field(fields, "field"),
            json_lines.object_field(fields, "field"),
            json_lines.int_field(fields, "field"),
        )


@given(st.lists(st.binary(max_size=20)), st.data())
def test_lines_do_not_depend_on_chunks(parts: list[bytes], data: st.DataObject) -> None:
    """However the bytes arrive, the same lines come out, split at line feeds and nowhere else."""
    whole = b"\n".join(parts)
    lines, received, rest = json_lines.LineBuffer(), [], whole
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        received += lines.feed(rest[:size])
        rest = rest[size:]

    assert whole.split(b"\n") == [*received, lines.remainder()]


def test_separators_inside_a_text_end_no_line() -> None:
    """U+2028, U+2029, U+0085 and CR stand raw inside Codex's strings."""
    line = '{"type":"error","message":"a\u2028b\u2029c\u0085d"}'

    assert [line.encode()] == list(json_lines.LineBuffer().feed(f"{line}\n".encode()))


def test_a_line_without_end_is_given_up() -> None:
    """What never ends a line does not fill the memory."""
    lines = json_lines.LineBuffer()
    for _ in range(json_lines.MAX_LINE_BYTES // (1 << 24) + 1):
        assert [] == list(lines.feed(b"x" * (1 << 24)))

    assert lines.remainder() == b""
