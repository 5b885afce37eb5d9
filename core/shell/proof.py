"""Determine which commands of a shell line must have succeeded if the whole line did.

Invariant: only what follows from exit code 0 counts. A command whose exit code is masked (``|| true``, ``| tail``
without ``pipefail``, ``; echo``, ``!``, ``&``), or that may not have run at all, proves nothing. Neither does a line
that cannot be parsed or that redefines commands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from upbeat.core.shell.syntax import (
    MAX_DEPTH,
    Words,
    iter_command_nodes,
    iter_nodes,
    node_text,
    parse_syntax_tree,
    words_of,
)
from upbeat.core.shell.wrappers import script_of, unwrap

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SCRIPT_DEPTH = 4
"""Maximum nesting of ``bash -c``."""

_REDEFINING_BUILTINS = frozenset({"alias", "trap", "enable", "hash", "eval", "builtin"})
_EXIT_COMMANDS = frozenset({"exit", "return", "exec", "logout"})
_EXIT_ZERO = re.compile(
    r"(?:^|[;&|({!\n]|\b(?:then|do|else|time|command|builtin)\b)\s*(?:exit|return|logout)\b"
    r"(?!\s+(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\b)"
)
_IGNORED_NODES = frozenset({"comment", "heredoc_body", "heredoc_end", "heredoc_start"})
_SAFE_REDIRECTS = frozenset({"file_redirect", "herestring_redirect"})
_LOOKUP_ASSIGNMENT = re.compile(r"PATH=(?!.*\$\{?PATH\b)|(?:BASH_ENV|ENV|LD_PRELOAD|IFS)=", re.DOTALL)
"""Assignments that change which program a name runs; a PATH that is only extended is fine."""


@dataclass(frozen=True, slots=True)
class SuccessProof:
    """The commands of a line, each as its words. ``proven``: exit code 0 proves that they ran and succeeded."""

    proven: tuple[Words, ...] = ()
    unproven: tuple[Words, ...] = ()
    commands: tuple[Words, ...] = ()
    """All commands, in order."""


@dataclass(frozen=True, slots=True)
class _Options:
    """The options that ``set`` has enabled so far."""

    errexit: bool = False
    pipefail: bool = False


def prove_success(line: str) -> SuccessProof:
    """Return the commands of ``command`` and which of them exit code 0 proves; empty for invalid shell."""
    return _prove_script(line, _Options(), 0)


def _prove_script(line: str, options: _Options, depth: int) -> SuccessProof:
    root = parse_syntax_tree(line) if depth <= MAX_SCRIPT_DEPTH else None
    if root is None or root.has_error:
        return SuccessProof()
    everything = [words for node in iter_command_nodes(root) if (words := words_of(node))]
    is_timed_not = any(words[0] == "time" and "!" in words for words in everything)
    if is_timed_not or any(words[0] in _REDEFINING_BUILTINS for words in everything) or _is_unprovable(root):
        return SuccessProof(unproven=_expand_scripts(everything), commands=_expand_scripts(everything))
    proven = _prove_sequence(root.children, _Walk(options), depth)
    every = _expand_scripts(everything)
    return SuccessProof(tuple(proven), tuple(words for words in every if words not in proven), every)


@dataclass(slots=True)
class _Walk:
    """The options at one point of the walk in execution order."""

    options: _Options


def _prove_sequence(nodes: Sequence[Node], walk: _Walk, depth: int) -> list[Words]:
    """Return what exit code 0 of a list of statements proves: the last one, and under ``set -e`` all of them."""
    statements = [node for node in nodes if node.is_named and node.type not in _IGNORED_NODES]
    background = {node.prev_named_sibling for node in nodes if node.type == "&"}
    proven: list[Words] = []
    for number, node in enumerate(statements):
        is_last = number == len(statements) - 1
        strict = walk.options.errexit
        found = [] if node in background else _prove_node(node, walk, depth)
        if is_last or strict:
            proven += found
        if not is_last and _may_exit(node):
            return []
    return proven


def _prove_node(node: Node, walk: _Walk, depth: int) -> list[Words]:
    """Return what exit code 0 of ``node`` proves."""
    if depth > MAX_DEPTH:
        return []
    match node.type:
        case "command":
            return _prove_command(node, walk, depth)
        case "list":
            return _prove_list(node, walk, depth)
        case "pipeline":
            parts = [child for child in node.children if child.is_named]
            if any(_may_end_early(part) for part in parts):
                return []
            each = [_prove_node(part, _Walk(walk.options), depth + 1) for part in parts]
            return [words for found in each for words in found] if walk.options.pipefail else each[-1]
        case "redirected_statement":
            return _prove_redirected(node, walk, depth)
        case "subshell":
            return _prove_sequence(node.children[1:-1], _Walk(walk.options), depth + 1)
        case "compound_statement":
            return _prove_sequence(node.children[1:-1], walk, depth + 1)
    return []


def _may_end_early(part: Node) -> bool:
    """Whether a part of a pipe is a list without brackets that may end early.

    The parser reads ``a && b > file | c`` as ``{ a && b > file; } | c``. As long as everything is joined by ``&&``
    both prove the same.
    """
    while part.type == "redirected_statement" and (body := part.child_by_field_name("body")):
        part = body
    if part.type != "list":
        return False
    return _may_exit(part) or any(node.type == "||" for node in iter_nodes(part))


def _prove_list(node: Node, walk: _Walk, depth: int) -> list[Words]:
    """``a && b`` proves both; ``a || b`` proves a only if b never succeeds."""
    left, right = node.named_children[0], node.named_children[-1]
    is_and = any(child.type == "&&" for child in node.children)
    first = _prove_node(left, walk, depth + 1)
    if is_and:
        return [] if _may_exit(left) else first + _prove_node(right, walk, depth + 1)
    return first if _always_fails(right) else []


def _prove_redirected(node: Node, walk: _Walk, depth: int) -> list[Words]:
    """A here-document may contain the rest of a pipe."""
    body = node.child_by_field_name("body")
    for redirect in node.children_by_field_name("redirect"):
        inner = {child.type for child in redirect.named_children} - _IGNORED_NODES
        if redirect.type == "heredoc_redirect" and inner - _SAFE_REDIRECTS - {"file_descriptor"}:
            return []
    return _prove_node(body, walk, depth + 1) if body else []


def _prove_command(node: Node, walk: _Walk, depth: int) -> list[Words]:
    if any(_LOOKUP_ASSIGNMENT.match(node_text(one)) for one in node.children if one.type == "variable_assignment"):
        return []
    words = words_of(node)
    if words and words[0] == "set":
        walk.options = _apply_set(walk.options, words[1:])
        return []
    script = script_of(unwrap(words))
    if script is None:
        return [words] if words else []
    return list(_prove_script(script[0], _Options(pipefail=script[1]), depth + 1).proven)


def _apply_set(options: _Options, words: Words) -> _Options:
    """Apply ``set -euo pipefail`` and similar commands."""
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


def _may_exit(node: Node) -> bool:
    """Return whether the shell may exit at ``node``, so that later commands need not run."""
    return any(
        not _EXIT_COMMANDS.isdisjoint((*words_of(command)[:1], *unwrap(words_of(command))[:1]))
        for command in iter_command_nodes(node)
    )


def _always_fails(node: Node) -> bool:
    """Return whether ``node`` never succeeds: ``exit 1``, ``false``, or a group that ends in one."""
    if node.type in ("compound_statement", "subshell"):
        inner = [child for child in node.named_children if child.type not in _IGNORED_NODES]
        return bool(inner) and _always_fails(inner[-1]) and not any(_may_exit(one) for one in inner[:-1])
    words = words_of(node) if node.type == "command" else ()
    match words:
        case ("false",):
            return True
        case ("exit" | "return", code):
            return code.isdecimal() and int(code) % 256 > 0
    return False


def _expand_scripts(commands: Sequence[Words]) -> tuple[Words, ...]:
    """Replace each ``bash -c`` in ``commands`` by the commands of its script."""
    found: list[Words] = []
    for words in commands:
        script = script_of(unwrap(words))
        if script is None:
            found.append(words)
            continue
        line = _prove_script(script[0], _Options(), MAX_SCRIPT_DEPTH)
        found += line.commands
    return tuple(found)


def _is_unprovable(root: Node) -> bool:
    """Whether functions are defined, the shell may leave with 0, or ``!`` meets a pipe.

    The shell negates the whole pipe, the parser a part of it.
    """
    if _EXIT_ZERO.search(node_text(root)):
        return True
    types = {node.type for node in iter_nodes(root)}
    return "function_definition" in types or ("!" in types and not types.isdisjoint({"|", "|&"}))
