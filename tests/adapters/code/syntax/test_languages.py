"""The language tables name existing grammars, and each path leads to its grammar."""

from __future__ import annotations

from importlib import import_module

import pytest

from upbeat.adapters.code.syntax.languages import (
    DefinitionCondition,
    DefinitionRule,
    grammar_name,
    grammar_names,
    load_grammar,
    outline_language,
)


@pytest.mark.parametrize("name", grammar_names())
def test_every_grammar_can_be_imported(name: str) -> None:
    """The module of each language has the function that returns its grammar."""
    grammar = load_grammar(name)

    assert hasattr(import_module(grammar.module), grammar.language_function)
    assert grammar.definitions


PATHS = [
    ("a/b.py", b"", "python", "python"),
    ("a.TSX", b"", "tsx", "javascript"),
    ("list.h", b"int x;", "c", "c"),
    ("list.h", b"namespace x {", "cpp", "c"),
    ("README", b"", "", ""),
]


@pytest.mark.parametrize(("path", "data", "grammar", "family"), PATHS)
def test_a_path_has_a_grammar_and_a_family(path: str, data: bytes, grammar: str, family: str) -> None:
    """The extension decides; a header is C++ when its text says so."""
    assert (grammar, family) == (grammar_name(path, data), outline_language(path))


def test_a_language_extends_its_base() -> None:
    """TypeScript defines what JavaScript defines, and more; rows without a condition apply always."""
    javascript, typescript = load_grammar("javascript").definitions, load_grammar("typescript").definitions

    assert javascript.items() < typescript.items()
    assert DefinitionRule("class", "name", DefinitionCondition.ALWAYS) == typescript["class_declaration"]
