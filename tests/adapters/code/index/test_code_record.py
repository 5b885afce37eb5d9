"""What the index keeps of a file's syntax says what its parser said."""

from __future__ import annotations

import pytest
from fakes.polyglot import FILES
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.index.code_record import decode_code, encode_code
from upbeat.adapters.code.syntax.parse import parse_source


@pytest.mark.parametrize("path", FILES)
def test_code_is_read_back(path: str) -> None:
    """In every language, what is decoded equals what the parser returned."""
    parsed = parse_source(path, FILES[path].encode())

    assert parsed == decode_code(encode_code(parsed))


@given(st.text(max_size=200), st.sampled_from(["a.py", "a.go", "a.txt", "a.rb", "a.ts"]))
def test_any_text_is_read_back(text: str, path: str) -> None:
    """Whatever the parser makes of a text."""
    parsed = parse_source(path, text.encode("utf-8", "replace"))

    assert parsed == decode_code(encode_code(parsed))


@given(st.binary(max_size=60))
def test_anything_else_is_refused(data: bytes) -> None:
    """Bytes that are no code are refused with ValueError."""
    with pytest.raises(ValueError, match="no code record"):
        decode_code(data)
