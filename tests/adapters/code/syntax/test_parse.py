from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.syntax.imports import Import
from upbeat.adapters.code.syntax.parse import MAX_PARSED_BYTES, parse_source
from upbeat.adapters.code.syntax.parsed_file import Definition, ParsedFile, Reference

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


def symbols(parsed: ParsedFile) -> list[tuple[str, str, int, int]]:
    return [(one.symbol, one.kind, one.start_line, one.end_line) for one in parsed.definitions]


def calls(parsed: ParsedFile) -> list[str]:
    return [one.name for one in parsed.references if one.is_call]


def test_parse_reads_a_file() -> None:
    """parse gives definitions with owners and decisions, uses with what is around them, imports and comments."""
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
    ] == [one for one in parsed.references if one.is_call]


@pytest.mark.parametrize(
    ("path", "text", "defined", "called"),
    [
        ("a.js", "class A { m() { b.c() } }\nconst f = () => new D()", ["A", "A.m", "f"], ["c", "D"]),
        ("a.ts", "interface I { m(): void }\ntype T = A\nenum E { X }", ["I", "I.m", "T", "E"], []),
        ("a.tsx", "export function App() { return <Cart total={sum()} /> }", ["App"], ["Cart", "sum"]),
        ("a.go", "package a\ntype S struct{}\nfunc (s *S) M() { s.run() }", ["S", "S.M"], ["run"]),
        ("a.rs", "struct S;\nimpl T for S { fn m(&self) { A::b(); c!() } }", ["S", "S", "S.m"], ["b", "c"]),
        ("a.java", "class A { A() {}\n int m() { return new B().c(); } }", ["A", "A.A", "A.m"], ["c", "B"]),
        ("a.c", "#define X 1\nstatic int *f(int a) { return g(a); }\nstruct s { int a; };", ["X", "f", "s"], ["g"]),
        ("a.cpp", "namespace n { class C { }; }\nint n::C::d() { return std::e(); }", ["n", "n.C", "n.C.d"], ["e"]),
        ("a.h", "class C {\npublic:\n  int m() { return 1; }\n};", ["C", "C.m"], []),
        ("a.cs", "namespace N { class C { int M() { return new D().E(); } } }", ["N", "N.C", "N.C.M"], ["E", "D"]),
        ("a.rb", "module M\n  class K\n    def m\n      a.b(1)\n    end\n  end\nend", ["M", "M.K", "M.K.m"], ["b"]),
        ("a.php", "<?php class K { function m() { $this->a(); K::b(); } }", ["K", "K.m"], ["a", "b"]),
        ("a.sh", "f() {\n  g x\n}\n", ["f"], ["g"]),
        ("a.lua", "local function f(x)\n  return g(x)\nend\n", ["f"], ["g"]),
    ],
)  # fmt: skip
def test_parse_reads_every_language(path: str, text: str, defined: list[str], called: list[str]) -> None:
    """What is defined and what is called is found in each language."""
    parsed = parse_source(path, text.encode())

    assert (defined, sorted(called)) == ([one.symbol for one in parsed.definitions], sorted(calls(parsed)))


@pytest.mark.parametrize("path", ["a.txt", "README", "", "a.", "x/y", "a.po", "a.svg"])
def test_parse_says_nothing_for(path: str) -> None:
    """What is no code has neither names nor language."""
    assert ParsedFile("") == parse_source(path, b"def f(): pass")


def test_a_file_without_a_grammar_is_read_by_patterns() -> None:
    """parse says when it did not read a syntax tree."""
    assert (False, True) == (
        parse_source("a.kt", b"fun f() {}").is_exact,
        parse_source("a.py", b"def f(): pass").is_exact,
    )
    assert [("f", "definition", 1, 1)] == symbols(parse_source("a.kt", b"fun f() {}"))


EXTENSIONS = ("py", "js", "ts", "tsx", "go", "rs", "java", "c", "h", "cpp", "cs", "rb", "php", "sh", "kt", "sql")
HOSTILE = {
    "nul": b"\0" * MAX_PARSED_BYTES,
    "nesting": b"[{(" * 50_000,
    "one line": b"x=1+" * 60_000,
    "quotes": b"'\"(" * 40_000,
    "definitions": b"def f():\n" * 20_000,
    "here-documents": b"<<A\n" * 30_000,
    "bytes": bytes(range(256)) * 400,
}


@pytest.mark.parametrize("extension", ["py", "cpp", "sh", "kt"])
@pytest.mark.parametrize("name", HOSTILE)
def test_parse_survives(extension: str, name: str) -> None:
    """Hostile files are read to the end or given up, soon."""
    started = time.process_time()
    assert_inside(parse_source(f"a.{extension}", HOSTILE[name]), HOSTILE[name])

    assert time.process_time() - started < 2


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
def test_parse_never_raises_and_stays_inside(extension: str, data: bytes) -> None:
    """Whatever the bytes are, every line lies in the file and every position in the definitions."""
    assert_inside(parse_source(f"a.{extension}", data), data)


def assert_inside(parsed: ParsedFile, data: bytes) -> None:
    last = data.count(b"\n") + 1
    assert all(1 <= one.start_line <= one.end_line <= last for one in parsed.definitions)
    assert [one.start_line for one in parsed.definitions] == sorted(one.start_line for one in parsed.definitions)
    assert all(1 <= one.line <= last and one.name for one in parsed.references)
    assert all(-1 <= one.enclosing < len(parsed.definitions) for one in parsed.references)
    assert all(1 <= one.line <= last for one in parsed.imports)


def test_cancellation_stops_parsing() -> None:
    """A cancelled parse comes back at once with nothing."""
    cancelled = threading.Event()
    cancelled.set()
    started = time.monotonic()

    assert ParsedFile("python") == parse_source("a.py", b"x = f(1)\n" * 50_000, cancelled)
    assert time.monotonic() - started < 0.5
