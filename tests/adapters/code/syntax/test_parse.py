"""Definitions, uses, imports and comments of a file come from its syntax tree, or from patterns."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.syntax.imports import Import
from upbeat.adapters.code.syntax.parse import parse_source
from upbeat.adapters.code.syntax.parsed_file import Definition, ParsedFile, Reference

CASES = read_groups(Path(__file__).with_name("cases.tsv"))["parse"]
PYTHON = b"""\
import os
LIMIT = 3
class Cart(Base):
    # a comment
    @cached
    def total(self, x):
        if x and x > 1:
            return price(x) if x else self.shop.price(x)
        def inner(): pass
"""


def test_a_file_is_parsed() -> None:
    """Definitions have owners and decisions, uses have the definition around them; imports and comments are found."""
    parsed = parse_source("shop/cart.py", PYTHON)

    assert parsed == ParsedFile(
        "python",
        (
            Definition("LIMIT", "constant", 2, 2, "", "LIMIT = 3"),
            Definition("Cart", "class", 3, 9, "", "class Cart(Base):"),
            Definition("total", "method", 6, 9, "Cart", "def total(self, x):", 3),
            Definition("inner", "function", 9, 9, "Cart.total", "def inner(): pass"),
        ),
        parsed.references,
        (Import("os", (), 1),),
        0,
        ((4, 4),),
        is_exact=True,
    )
    assert Reference("Base", 3, 1, is_call=False) in parsed.references
    assert [
        Reference("cached", 5, 1, is_call=True),
        Reference("price", 8, 2, is_call=True),
        Reference("price", 8, 2, is_call=True),
    ] == [use for use in parsed.references if use.is_call]


@pytest.mark.parametrize(("path", "text", "defined", "called"), CASES)
def test_every_language_is_parsed(path: str, text: str, defined: str, called: str) -> None:
    """Definitions and calls are found in each language."""
    parsed = parse_source(path, text.encode())

    assert defined.split() == [definition.symbol for definition in parsed.definitions]
    assert sorted(called.split()) == sorted(use.name for use in parsed.references if use.is_call)


@pytest.mark.parametrize("path", ["a.txt", "README", "", "a.", "x/y", "a.po", "a.svg"])
def test_other_files_have_no_names(path: str) -> None:
    """A file that is not code has neither names nor a language."""
    assert ParsedFile("") == parse_source(path, b"def f(): pass")


def test_characters_that_crash_a_grammar() -> None:
    """A character that would crash the scanner of bash's grammar is replaced, and the positions stay."""
    parsed = parse_source("a.sh", "make_it() {\n  run_it \U0010ffff\n}\nnext_one() { :; }\n".encode())

    assert [("make_it", 1), ("next_one", 4)] == [(item.name, item.start_line) for item in parsed.definitions]


def test_a_file_without_a_grammar_is_read_with_patterns() -> None:
    """The result says that it is not exact."""
    parsed = parse_source("a.kt", b"fun f() {}")

    assert (Definition("f", "definition", 1, 1, "", "fun f() {}"),) == parsed.definitions
    assert not parsed.is_exact


EXTENSIONS = ("py", "js", "ts", "tsx", "go", "rs", "java", "c", "h", "cpp", "cs", "rb", "php", "sh", "kt", "sql")


@given(
    st.sampled_from(EXTENSIONS),
    st.one_of(
        st.binary(max_size=300),
        st.text(alphabet="abf(){}[]:;.=<>\n\t \"'#/*&|\0é", max_size=300).map(str.encode),
        st.lists(
            st.sampled_from(("def f(x):\n", "class A {", "}", "(", "func g() {\n", "\n", "import x", "  y.z()", "//")),
            max_size=40,
        ).map(lambda parts: "".join(parts).encode()),
    ),
)
def test_positions_are_inside_the_file(extension: str, data: bytes) -> None:
    """Whatever the bytes are, every line is in the file and every position in the definitions."""
    parsed = parse_source(f"a.{extension}", data)
    last = data.count(b"\n") + 1
    first_lines = [definition.start_line for definition in parsed.definitions]
    assert first_lines == sorted(first_lines)
    assert all(1 <= item.start_line <= item.end_line <= last for item in parsed.definitions)
    assert all(1 <= use.line <= last and use.name for use in parsed.references)
    assert all(-1 <= use.enclosing < len(parsed.definitions) for use in parsed.references)
    assert all(1 <= item.line <= last for item in parsed.imports)


def test_cancellation_stops_parsing() -> None:
    """A cancelled parse returns nothing, neither from the syntax tree nor from patterns."""
    cancelled = threading.Event()
    cancelled.set()

    assert ParsedFile("python") == parse_source("a.py", b"x = f(1)\n" * 50_000, cancelled)
