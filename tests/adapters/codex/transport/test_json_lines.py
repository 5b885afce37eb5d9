"""Chunks of bytes become lines, and a field of another type counts as missing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport import json_lines


@pytest.mark.parametrize(("value", "number"), [(2, 2), (None, 0), ([], 0), (1.5, 0), (True, 0), (-1, 0)])
def test_a_number_of_another_type_counts_as_missing(value: object, number: int) -> None:
    """A number is returned unchanged; a Boolean, a negative number and another type give 0, as a missing field does."""
    assert (number, 0) == (json_lines.int_field({"field": value}, "field"), json_lines.int_field({}, "field"))


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
