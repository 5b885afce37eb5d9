"""Which commands of a shell line must have succeeded when the whole line did.

Law: only what follows from exit code 0 counts. A command whose end is swallowed (``|| true``, ``| tail`` without
``pipefail``, ``; echo``, ``!``, ``&``), or that need not have run at all, is hidden. A line that cannot be parsed,
or that redefines what commands mean, proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .syntax import MAX_DEPTH, Words, commands_in, nodes_in, root_of, text_of, words_of
from .wrappers import script_of, unwrap

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SCRIPTS = 4
"""How deep ``bash -c`` may stand in ``bash -c``."""

_REDEFINES = frozenset({"alias", "trap", "enable", "hash", "eval", "builtin"})
_LEAVES = frozenset({"exit", "return", "exec", "logout"})
_LEAVES_WELL = re.compile(
    r"(?:^|[;&|({!\n]|\b(?:then|do|else|time|command|builtin)\b)\s*(?:exit|return|logout)\b"
    r"(?!\s+(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\b)"
)
_NOTHING = frozenset({"comment", "heredoc_body", "heredoc_end", "heredoc_start"})
_SAFE_REDIRECTS = frozenset({"file_redirect", "herestring_redirect"})
_DECIDES_WHAT_RUNS = re.compile(r"PATH=(?!.*\$\{?PATH\b)|(?:BASH_ENV|ENV|LD_PRELOAD|IFS)=", re.DOTALL)
"""Assignments that make another program of a name; a PATH that is only added to is fine."""


@dataclass(frozen=True, slots=True)
class Line:
    """The commands of one line, each as its words. ``proven``: exit code 0 proves that they ran and succeeded."""

    proven: tuple[Words, ...] = ()
    hidden: tuple[Words, ...] = ()
    every: tuple[Words, ...] = ()
    """All of them, in the order in which they stand."""


@dataclass(frozen=True, slots=True)
class _Options:
    """What ``set`` has switched on so far."""

    errexit: bool = False
    pipefail: bool = False


def read_line(command: str) -> Line:
    """The commands of ``command``, what each is proven by. Nothing at all for what is no valid shell."""
    return _read(command, _Options(), 0)


def _read(command: str, options: _Options, depth: int) -> Line:
    root = root_of(command) if depth <= MAX_SCRIPTS else None
    if root is None or root.has_error:
        return Line()
    everything = [words for node in commands_in(root) if (words := words_of(node))]
    is_timed_not = any(words[0] == "time" and "!" in words for words in everything)
    if is_timed_not or any(words[0] in _REDEFINES for words in everything) or _misleads(root):
        return Line(hidden=_inner(everything), every=_inner(everything))
    proven = _sequence(root.children, _Walk(options), depth)
    every = _inner(everything)
    return Line(tuple(proven), tuple(words for words in every if words not in proven), every)


@dataclass(slots=True)
class _Walk:
    """The options at one place of a walk in the order of execution."""

    options: _Options


def _sequence(nodes: Sequence[Node], walk: _Walk, depth: int) -> list[Words]:
    """What exit code 0 of statements in a row proves: the last one, and under ``set -e`` all of them."""
    statements = [node for node in nodes if node.is_named and node.type not in _NOTHING]
    background = {node.prev_named_sibling for node in nodes if node.type == "&"}
    proven: list[Words] = []
    for number, node in enumerate(statements):
        is_last = number == len(statements) - 1
        strict = walk.options.errexit
        found = [] if node in background else _proven(node, walk, depth)
        if is_last or strict:
            proven += found
        if not is_last and _leaves(node):
            return []
    return proven


def _proven(node: Node, walk: _Walk, depth: int) -> list[Words]:
    """What exit code 0 of ``node`` proves."""
    if depth > MAX_DEPTH:
        return []
    match node.type:
        case "command":
            return _of_command(node, walk, depth)
        case "list":
            return _of_list(node, walk, depth)
        case "pipeline":
            parts = [child for child in node.children if child.is_named]
            if any(_is_odd_list(part) for part in parts):
                return []
            each = [_proven(part, _Walk(walk.options), depth + 1) for part in parts]
            return [words for found in each for words in found] if walk.options.pipefail else each[-1]
        case "redirected_statement":
            return _of_redirected(node, walk, depth)
        case "subshell":
            return _sequence(node.children[1:-1], _Walk(walk.options), depth + 1)
        case "compound_statement":
            return _sequence(node.children[1:-1], walk, depth + 1)
    return []


def _is_odd_list(part: Node) -> bool:
    """Whether a part of a pipe is a list without brackets that may end early.

    The parser reads ``a && b > file | c`` as ``{ a && b > file; } | c``. As long as everything is joined by ``&&``
    both prove the same.
    """
    while part.type == "redirected_statement" and (body := part.child_by_field_name("body")):
        part = body
    if part.type != "list":
        return False
    return _leaves(part) or any(node.type == "||" for node in nodes_in(part))


def _of_list(node: Node, walk: _Walk, depth: int) -> list[Words]:
    """``a && b`` proves both; ``a || b`` proves a only if b never succeeds."""
    left, right = node.named_children[0], node.named_children[-1]
    is_and = any(child.type == "&&" for child in node.children)
    first = _proven(left, walk, depth + 1)
    if is_and:
        return [] if _leaves(left) else first + _proven(right, walk, depth + 1)
    return first if _always_fails(right) else []


def _of_redirected(node: Node, walk: _Walk, depth: int) -> list[Words]:
    """A here-document may have the rest of a pipe in it."""
    body = node.child_by_field_name("body")
    for redirect in node.children_by_field_name("redirect"):
        inner = {child.type for child in redirect.named_children} - _NOTHING
        if redirect.type == "heredoc_redirect" and inner - _SAFE_REDIRECTS - {"file_descriptor"}:
            return []
    return _proven(body, walk, depth + 1) if body else []


def _of_command(node: Node, walk: _Walk, depth: int) -> list[Words]:
    if any(_DECIDES_WHAT_RUNS.match(text_of(one)) for one in node.children if one.type == "variable_assignment"):
        return []
    words = words_of(node)
    if words and words[0] == "set":
        walk.options = _set(walk.options, words[1:])
        return []
    script = script_of(unwrap(words))
    if script is None:
        return [words] if words else []
    return list(_read(script[0], _Options(pipefail=script[1]), depth + 1).proven)


def _set(options: _Options, words: Words) -> _Options:
    """``set -euo pipefail`` and its kin."""
    for at, word in enumerate(words):
        switch = word.startswith("-")
        if not word.startswith(("-", "+")):
            continue
        if "e" in word[1:] and not word.startswith("--"):
            options = replace(options, errexit=switch)
        if word.endswith("o") and at + 1 < len(words):
            if words[at + 1] == "pipefail":
                options = replace(options, pipefail=switch)
            if words[at + 1] == "errexit":
                options = replace(options, errexit=switch)
    return options


def _leaves(node: Node) -> bool:
    """Whether the shell may be gone after ``node``: what comes later need not run."""
    return any(
        not _LEAVES.isdisjoint((*words_of(command)[:1], *unwrap(words_of(command))[:1]))
        for command in commands_in(node)
    )


def _always_fails(node: Node) -> bool:
    """``exit 1``, ``false``, and a group that ends in one."""
    if node.type in ("compound_statement", "subshell"):
        inner = [child for child in node.named_children if child.type not in _NOTHING]
        return bool(inner) and _always_fails(inner[-1]) and not any(_leaves(one) for one in inner[:-1])
    words = words_of(node) if node.type == "command" else ()
    match words:
        case ("false",):
            return True
        case ("exit" | "return", code):
            return code.isdecimal() and int(code) % 256 > 0
    return False


def _inner(commands: Sequence[Words]) -> tuple[Words, ...]:
    """``commands``, with the commands of a ``bash -c`` in place of it."""
    found: list[Words] = []
    for words in commands:
        script = script_of(unwrap(words))
        if script is None:
            found.append(words)
            continue
        line = _read(script[0], _Options(), MAX_SCRIPTS)
        found += line.every
    return tuple(found)


def _misleads(root: Node) -> bool:
    """Whether functions are defined, the shell may leave with 0, or ``!`` meets a pipe.

    The shell negates the whole pipe, the parser a part of it.
    """
    if _LEAVES_WELL.search(text_of(root)):
        return True
    types = {node.type for node in nodes_in(root)}
    return "function_definition" in types or ("!" in types and not types.isdisjoint({"|", "|&"}))
