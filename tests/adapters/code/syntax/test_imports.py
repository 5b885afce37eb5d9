from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.syntax.imports import parse_import

LANGUAGES = ["bash", "c", "c-sharp", "go", "java", "javascript", "php", "python", "ruby", "rust", "typescript"]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "import os, a.b as c", [("os", ()), ("a.b", ())]),
        ("python", "from .x import (a, b as c)", [(".x", ("a", "b"))]),
        ("python", "from ..y.z import *  # all", [("..y.z", ("*",))]),
        ("typescript", 'import type { A, B as C } from "./a"', [("./a", ("A", "B"))]),
        ("javascript", "import D, * as E from '../e'", [("../e", ("D", "*"))]),
        ("javascript", 'import "side"', [("side", ())]),
        ("javascript", 'export { z } from "./z"', [("./z", ("z",))]),
        ("javascript", 'require("./r")', [("./r", ())]),
        ("go", 'x "a/b"', [("a/b", ())]),
        ("rust", "pub use a::b::{c, d::{e, f as g}};", [("a::b", ("c",)), ("a::b::d", ("e", "f"))]),
        ("rust", "mod scan;", [("self::scan", ("*",))]),
        ("java", "import static a.b.C.d;", [("a.b.C", ("d",))]),
        ("java", "import a.b.*;", [("a.b", ("*",))]),
        ("c", "#include <sys/list.h>", [("sys/list.h", ())]),
        ("c-sharp", "using X = Y.Z;", [("Y.Z", ("*",))]),
        ("ruby", 'require_relative "y/z"', [("./y/z", ())]),
        ("php", "use A\\B\\{C, D as E};", [("A\\B", ("C", "D"))]),
        ("bash", '. "lib/y.sh"', [("lib/y.sh", ())]),
    ],
)
def test_read_import(language: str, text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    """The modules of a statement are as written, with the names that are taken from them."""
    assert expected == [(one.module, one.names) for one in parse_import(language, text, 1)]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("javascript", "export const a = 'b'"),
        ("javascript", "import(name)"),
        ("rust", "mod inline { }"),
        ("ruby", "require name"),
        ("lua", 'require("x")'),
        ("c-sharp", "using (var x = y) { }"),
    ],
)
def test_read_import_says_nothing_for(language: str, text: str) -> None:
    """What names no module imports none."""
    assert [] == parse_import(language, text, 1)


@given(st.sampled_from(LANGUAGES), st.text(alphabet="import usefrom{}(),;:.*'\"\n\\ab", max_size=200))
def test_read_import_never_raises(language: str, text: str) -> None:
    """Any text gives imports with a module on the given line."""
    assert all(one.module and one.line == 7 for one in parse_import(language, text, 7))
