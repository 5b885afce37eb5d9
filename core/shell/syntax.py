"""The syntax tree of a shell line and its words. Invariant: any text has a tree, which says whether it is valid."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from upbeat.core import lazy_re as re

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_LINE_CHARS = 200_000
"""Longer lines are not parsed."""
MAX_PIPES = 4_000
"""Lines with more are not parsed: the parser's time grows with the square of the length of a pipeline."""
MAX_DEPTH = 40
"""Maximum nesting."""

_UNSAFE_CHARS = re.compile("[\U00020000-\U0010ffff]")
"""The scanner of the grammar looks characters up in a table of the C library that has 256 entries, and reads beyond it.

Two bytes per character: up to U+1FFFF that stays inside of the locale's mapped data (at least 320 KB in glibc); beyond
it crashes the process, depending on what is mapped there (tree-sitter-bash issue 337). Emoji are below.
"""

Words = tuple[str, ...]


def parse_syntax_tree(line: str) -> Node | None:
    """Return the tree of ``line``; None if it is too long, or not shell text at all."""
    if len(line) > MAX_LINE_CHARS or "\0" in line or line.count("|") > MAX_PIPES:
        return None
    return _parser().parse(_UNSAFE_CHARS.sub("\ufffd", line).encode("utf-8", "replace")).root_node


def iter_command_nodes(root: Node) -> Iterator[Node]:
    """Yield the simple commands below ``root``, in order."""
    return (node for node in iter_nodes(root) if node.type == "command")


def iter_nodes(root: Node) -> Iterator[Node]:
    """Yield ``root`` and everything below it, in order."""
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(node.children)


def words_of(command: Node) -> Words:
    """Return the program and its arguments without quotes; a word with a variable stays as written."""
    found = []
    for number, child in enumerate(command.children):
        if child.type == "command_name":
            found.append(unquoted_text(child.children[0]) if child.children else node_text(child))
        elif command.field_name_for_child(number) == "argument":
            found.append(unquoted_text(child))
    return tuple(found)


def unquoted_text(node: Node) -> str:
    """Return the text of a word as the command receives it."""
    text = node_text(node)
    if node.type == "concatenation":
        return "".join(unquoted_text(child) for child in node.children)
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "string":
        return unescape_quoted(text[1:-1])
    return unescape_bare(text) if node.type == "word" else text


def unescape_quoted(text: str) -> str:
    """Return the content of double quotes as the command receives it."""
    return text.replace('\\"', '"').replace("\\\\", "\\")


def unescape_bare(text: str) -> str:
    """Return an unquoted word as the command receives it."""
    return text.replace("\\\n", "").replace("\\", "")


def node_text(node: Node) -> str:
    """Return the source text of ``node``."""
    return (node.text or b"").decode("utf-8", "replace")


@cache
def _parser() -> Parser:
    """Return tree-sitter's bash parser; it takes milliseconds to load, so it is loaded on first use."""
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
