from __future__ import annotations

import pytest

from upbeat.adapters.code.syntax.complexity import measure_complexity
from upbeat.adapters.code.syntax.parse import parse_source


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "def f():\n    pass\n", 1),
        ("a.py", "def f(a):\n    if a and a or a:\n        pass\n    elif a:\n        pass\n", 5),
        ("a.py", "def f(a):\n    return [b for b in a if b]\n", 3),
        ("a.py", "def f(a):\n    try:\n        g()\n    except E:\n        pass\n    while a: pass\n", 3),
        ("a.ts", "function f(a) { return a && a ? 1 : a ?? 2 }", 4),
        ("a.go", "package a\nfunc f() { switch a { case 1: case 2: default: }; for {} }", 4),
        ("a.rs", "fn f() { match a { 1 => 2, _ => 3 }; if b || c {} }", 5),
        ("a.java", "class A { void f() { for (;;) {} try {} catch (E e) {} } }", 3),
        ("a.c", "int f(void) { switch (a) { case 1: case 2: return 1; } return a ? 1 : 2; }", 4),
        ("a.cpp", "int f(int&& a) { for (auto b : c) {} return 1; }", 2),
        ("a.cs", "class A { int F() { return a > 1 && b ? 1 : 2; } }", 3),
        ("a.rb", "def f\n  a if b\n  c unless d\nend", 3),
        ("a.php", "<?php function f() { foreach ($a as $b) {} return $c && $d; }", 3),
        ("a.sh", "f() { if a; then b; fi; for x in y; do z; done; }", 3),
    ],
)
def test_cyclomatic_complexity(path: str, text: str, expected: int) -> None:
    """Every decision is one more way through, in each language."""
    found = measure_complexity(parse_source(path, text.encode()), text.split("\n"))

    assert [expected] == [one.complexity for one in found.functions]
    assert expected == found.complexity


def test_an_inner_function_has_its_own_decisions() -> None:
    """The outer function's complexity leaves out the inner one's; the file's has both."""
    text = "def f(a):\n    def g(b):\n        if b: pass\n    if a: pass\nif c: pass\n"
    found = measure_complexity(parse_source("a.py", text.encode()), text.split("\n"))

    assert ([("f", 2), ("g", 2)], 4) == (
        [(one.definition.name, one.complexity) for one in found.functions],
        found.complexity,
    )


def test_lines_of_code_leave_out_blank_ones_and_comments() -> None:
    """A comment behind code does not take the line away."""
    text = "# one\n\ndef f():\n    # two\n    return 1  # three\n\n"
    found = measure_complexity(parse_source("a.py", text.encode()), text.split("\n"))

    assert (2, [2]) == (found.code_lines, [one.code_lines for one in found.functions])
