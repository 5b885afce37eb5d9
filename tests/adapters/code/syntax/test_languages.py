"""The language tables name existing grammars, and each path leads to its grammar."""

from __future__ import annotations

import pytest

from upbeat.adapters.code.syntax.languages import (
    DefinitionCondition,
    DefinitionRule,
    grammar_name,
    load_grammar,
)
from upbeat.adapters.code.syntax.parse import parse_source
from upbeat.core.package_data import load_rows

EXTENSIONS = {
    name: value
    for name, field, value, *_ in load_rows("upbeat.adapters.code.syntax", "languages.tsv")
    if field == "extensions"
}


@pytest.mark.parametrize("name", EXTENSIONS)
def test_every_grammar_is_installed(name: str) -> None:
    """A file of each language is parsed with its grammar, and not with patterns."""
    extension = EXTENSIONS[name].split()[0]
    parsed = parse_source(f"a.{extension}", b"x")

    assert load_grammar(name).definitions
    assert (name, True) == (parsed.language, parsed.is_exact)


PATHS = [
    ("a/b.py", b"", "python"),
    ("a.TSX", b"", "tsx"),
    ("list.h", b"int x;", "c"),
    ("list.h", b"namespace x {", "cpp"),
    ("README", b"", ""),
]


@pytest.mark.parametrize(("path", "data", "grammar"), PATHS)
def test_a_path_has_a_grammar(path: str, data: bytes, grammar: str) -> None:
    """The extension decides; a header is C++ when its text says so."""
    assert grammar == grammar_name(path, data)


def test_a_language_extends_its_base() -> None:
    """TypeScript defines what JavaScript defines, and more; rows without a condition apply always."""
    javascript, typescript = load_grammar("javascript").definitions, load_grammar("typescript").definitions

    assert javascript.items() < typescript.items()
    assert DefinitionRule("class", "name", DefinitionCondition.ALWAYS) == typescript["class_declaration"]
