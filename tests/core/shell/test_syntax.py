"""The syntax tree of a shell line and its words."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_json_groups

from upbeat.core.shell import syntax

CASES = read_json_groups(Path(__file__).with_name("cases.jsonl"))


@pytest.mark.parametrize(("line", "words"), CASES["syntax"])
def test_words(line: str, words: list[list[str]]) -> None:
    """Each simple command has its program and arguments without quotes; a variable stays as written."""
    root = syntax.parse_syntax_tree(line)

    assert root is not None
    assert words == [list(syntax.words_of(node)) for node in syntax.iter_command_nodes(root)]


@pytest.mark.parametrize("line", ["a" * (syntax.MAX_LINE_CHARS + 1), "a\0b"], ids=["too long", "no shell text"])
def test_no_tree(line: str) -> None:
    """A line that is too long or has a NUL is not parsed."""
    assert None is syntax.parse_syntax_tree(line)


@pytest.mark.parametrize("char", ["\U00020000", "\U00031860", "\U000e0067", "\U0010ffff"])
def test_characters_that_crash_the_grammar(char: str) -> None:
    """A character that would crash the grammar's scanner is replaced, and the rest of the line is parsed."""
    root = syntax.parse_syntax_tree(f"rm -rf / {char}\U0001f680é")

    assert root is not None
    assert ("rm", "-rf", "/", "\ufffd\U0001f680é") == syntax.words_of(next(syntax.iter_command_nodes(root)))


def test_an_invalid_line_has_a_tree() -> None:
    """The tree of an invalid line says so, and has its whole text."""
    root = syntax.parse_syntax_tree("echo 'a")

    assert root is not None
    assert (True, "echo 'a") == (root.has_error, syntax.node_text(root))


def test_escapes() -> None:
    """Quoted text keeps its backslashes but those before quotes; a bare word loses them and continued lines."""
    assert 'a"b\\c\\d' == syntax.unescape_quoted('a\\"b\\\\c\\d')
    assert "a bc" == syntax.unescape_bare("a\\ b\\\nc")
