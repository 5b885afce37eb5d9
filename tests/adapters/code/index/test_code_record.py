"""What the index keeps of a file's syntax says what its parser said."""

from __future__ import annotations

from textwrap import dedent

import pytest
from fakes.polyglot import FILES
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.graph.references import calls_inside, has_reference, references_to
from upbeat.adapters.code.index.code_record import decode_code, encode_code
from upbeat.adapters.code.syntax.parse import ParsedFile, parse_source


def everything(parsed: ParsedFile) -> tuple[object, ...]:
    return (
        *(parsed.language, parsed.definitions, tuple(parsed.references), parsed.imports),
        *(parsed.branches, parsed.comment_ranges, parsed.is_exact),
    )


def asked(parsed: ParsedFile) -> list[object]:
    """What the graph asks of the references."""
    names = [*dict.fromkeys(one.name for one in parsed.references), "nobody"]
    found: list[object] = [(list(references_to(parsed, name)), has_reference(parsed, name)) for name in names]
    return [*found, *(list(calls_inside(parsed, {at})) for at in range(-1, len(parsed.definitions)))]


@pytest.mark.parametrize("path", FILES)
def test_code_is_read_back(path: str) -> None:
    """Every language: equal parts, and equal answers about the references."""
    parsed = parse_source(path, dedent(FILES[path]).encode())
    kept = decode_code(encode_code(parsed))

    assert everything(parsed) == everything(kept)
    assert asked(parsed) == asked(kept)


@given(st.text(max_size=200), st.sampled_from(["a.py", "a.go", "a.txt", "a.rb", "a.ts"]))
def test_any_text_is_read_back(text: str, path: str) -> None:
    """Whatever the parser makes of a text."""
    parsed = parse_source(path, text.encode("utf-8", "replace"))

    assert everything(parsed) == everything(decode_code(encode_code(parsed)))


@given(st.binary(max_size=60))
def test_anything_else_is_refused(data: bytes) -> None:
    """Bytes that are no code are refused with ValueError."""
    with pytest.raises(ValueError, match="no code record"):
        decode_code(data)


def test_references_are_cut_like_a_list() -> None:
    """A slice of kept references is a list of them."""
    parsed = parse_source("a.py", b"one()\ntwo()\nthree()\n")
    kept = decode_code(encode_code(parsed))

    assert list(parsed.references)[1:] == kept.references[1:]
