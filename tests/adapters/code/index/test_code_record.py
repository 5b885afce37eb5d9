"""A stored parse equals the one of the parser."""

from __future__ import annotations

import pytest
from fakes.polyglot import FILES
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.index.code_record import decode_code, encode_code
from upbeat.adapters.code.syntax.parse import parse_source


@pytest.mark.parametrize("path", FILES)
def test_a_parse_is_decoded_as_it_was_encoded(path: str) -> None:
    """In every language, what is decoded equals what the parser returned."""
    parsed = parse_source(path, FILES[path].encode())

    assert parsed == decode_code(encode_code(parsed))


@given(st.text(max_size=200), st.sampled_from(["a.py", "a.go", "a.txt", "a.rb", "a.ts"]))
def test_the_parse_of_any_text_is_decoded(text: str, path: str) -> None:
    """Whatever the text is, nothing of its parse is lost."""
    parsed = parse_source(path, text.encode("utf-8", "replace"))

    assert parsed == decode_code(encode_code(parsed))


@given(st.binary(max_size=60))
def test_other_bytes_are_no_code_record(data: bytes) -> None:
    """Other bytes are rejected with ValueError."""
    with pytest.raises(ValueError, match="no code record"):
        decode_code(data)
