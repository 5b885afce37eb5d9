"""The syntax tree of a shell line, and the words in it. Law: any text has a tree; whether it is right the tree says."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_LINE = 20_000
"""Characters of a line that is read; a longer one is not."""
MAX_DEPTH = 40
"""How deep things may stand in each other."""

Words = tuple[str, ...]


def root_of(line: str) -> Node | None:
    """The tree of ``line``; None when that is too long to be read, or no text of a shell at all."""
    if len(line) > MAX_LINE or "\0" in line:
        return None
    return _parser().parse(line.encode("utf-8", "replace")).root_node


def commands_in(root: Node) -> Iterator[Node]:
    """The simple commands below ``root``, in order."""
    return (node for node in nodes_in(root) if node.type == "command")


def nodes_in(root: Node) -> Iterator[Node]:
    """``root`` and everything below it, in order."""
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(node.children)


def words_of(command: Node) -> Words:
    """The program and its arguments; a word with a variable in it stays as it is written, without quotes."""
    found = []
    for number, child in enumerate(command.children):
        if child.type == "command_name":
            found.append(plain(child.children[0]) if child.children else text_of(child))
        elif command.field_name_for_child(number) == "argument":
            found.append(plain(child))
    return tuple(found)


def plain(node: Node) -> str:
    """The text of a word as the command gets it."""
    text = text_of(node)
    if node.type == "concatenation":
        return "".join(plain(child) for child in node.children)
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "string":
        return unescaped(text[1:-1])
    return unquoted(text) if node.type == "word" else text


def unescaped(text: str) -> str:
    """What stands between double quotes, as the command gets it."""
    return text.replace('\\"', '"').replace("\\\\", "\\")


def unquoted(text: str) -> str:
    """A word without quotes, as the command gets it."""
    return text.replace("\\\n", "").replace("\\", "")


def text_of(node: Node) -> str:
    """The text of ``node`` as it is written."""
    return (node.text or b"").decode("utf-8", "replace")


@cache
def _parser() -> Parser:
    """tree-sitter's parser for bash; loading it takes some milliseconds, so only when it is needed."""
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
