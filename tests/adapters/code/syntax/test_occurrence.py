from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.syntax.occurrence import ABSENT, DEFINED, USED, classify_occurrence
from upbeat.adapters.code.syntax.parse import parse_source


@pytest.mark.parametrize(
    "line",
    [
        "def total(self):",
        "    async def total(x):",
        "class total(base):",
        "total = 3",
        "total: int = 3",
        "const total = 3",
        "export function total<t>(a) {",
        "  total(items: number[]): string {",
        "  static async total(a) {",
        "  total: function () {",
        "  total = (a) => a",
        "exports.total = function () {",
        "func (c *cart) total(a int) error {",
        "pub fn total(&self) -> u8 {",
        "impl cart for total {",
        "public int total(int a) {",
        "public list<int> total(",
        "static int *total(int a)",
        "#define total(x) (x)",
        "struct total {",
        "int cart::total() {",
        "void total(int a,",
    ],
)
def test_stands_as_a_definition(line: str) -> None:
    """What begins a definition in some language seems to be one."""
    assert DEFINED == classify_occurrence(f"x\n{line}\n".encode(), b"total")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("return total(a)", USED),
        ("    total(a)", USED),
        ("a.total(b)", USED),
        ("x = total(a) + 1", USED),
        ("from cart import total", USED),
        ("if total == 3:", USED),
        ("await total(x, {", USED),
        ("subtotal = 3", ABSENT),
        ("total_price(1)", ABSENT),
        ("$total", ABSENT),
        ("", ABSENT),
    ],
)
def test_stands_as_a_use_or_not_at_all(text: str, expected: int) -> None:
    """A call is a use, a part of a longer name nothing."""
    assert expected == classify_occurrence(text.encode(), b"total")


@given(st.binary(max_size=200))
def test_stands_never_raises(data: bytes) -> None:
    """Any bytes give one of the three answers."""
    assert classify_occurrence(data + b" f " + data, b"f") in (USED, DEFINED)


@given(
    st.sampled_from(["def f():", "class f:", "async def f(a,", "    def f(self):", "f = 1"]),
    st.text("ab \n", max_size=20),
)
def test_what_the_parser_finds_is_seen(head: str, before: str) -> None:
    """A definition of Python that the parser finds is not taken for a use."""
    text = f"{before}\n{head} pass\n".encode()
    if any(one.name == "f" for one in parse_source("a.py", text).definitions):
        assert DEFINED == classify_occurrence(text, b"f")
