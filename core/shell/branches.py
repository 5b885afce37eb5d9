"""Follow branches and loops of a shell line, each with all of its outcomes."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from upbeat.core.lazy_dataclass import replace
from upbeat.core.shell.expand import FAILED, UNKNOWN, Values, expand_text, expand_words
from upbeat.core.shell.paths import Frame, Paths, State, Trace, add_all_paths, add_path, with_variable
from upbeat.core.shell.syntax import node_text

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_ROUNDS = 8
"""Rounds of a loop."""


class Executor(Protocol):
    """What executes the statements of a branch."""

    def sequence(self, nodes: Sequence[Node], paths: Paths, frame: Frame) -> Paths:
        """Run statements one after the other."""

    def each(self, paths: Paths, run: Callable[[State, Trace], Paths]) -> Paths:
        """Run on every way that has not been left."""

    def values(self, state: State, frame: Frame) -> Values:
        """Return what words are expanded with."""


def run_if(shell: Executor, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
    parts = _split_keywords(node)
    tested = shell.sequence(parts["if"], {state: trace}, frame.unchecked())
    after = _split_keywords(node)["else"]

    def branch(at: State, so_far: Trace) -> Paths:
        if at.status == "0":
            return shell.sequence(parts["then"], {at: so_far}, frame)
        for clause in after:
            if clause.type == "elif_clause":
                return _run_elif(shell, after, at, so_far, frame)
            return shell.sequence(clause.children[1:], {at: so_far}, frame)
        return {replace(at, status="0"): so_far}

    return shell.each(tested, branch)


def _run_elif(shell: Executor, clauses: Sequence[Node], state: State, trace: Trace, frame: Frame) -> Paths:
    if not clauses:
        return {replace(state, status="0"): trace}
    if clauses[0].type == "else_clause":
        return shell.sequence(clauses[0].children[1:], {state: trace}, frame)
    parts = _split_keywords(clauses[0])
    tested = shell.sequence(parts["if"], {state: trace}, frame.unchecked())

    def branch(at: State, so_far: Trace) -> Paths:
        if at.status == "0":
            return shell.sequence(parts["then"], {at: so_far}, frame)
        return _run_elif(shell, clauses[1:], at, so_far, frame)

    return shell.each(tested, branch)


def run_while(shell: Executor, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
    condition = [child for child in node.children[1:] if child.type != "do_group"]
    body = next(child for child in node.children if child.type == "do_group")
    ends_on = "0" if node.children[0].type == "until" else FAILED
    result: Paths = {}
    paths: Paths = {state: trace}
    for _ in range(MAX_ROUNDS):
        tested = shell.sequence(condition, paths, frame.unchecked())
        inside: Paths = {}
        for at, so_far in tested.items():
            if at.control or (at.status == "0") == (ends_on == "0"):
                add_path(result, at if at.control else replace(at, status="0"), so_far)
            else:
                add_path(inside, at, so_far)
        before = paths
        paths = _run_round(shell, body, inside, result, frame)
        if not paths or paths == before:
            return result
    return {replace(state, is_opaque=True): trace}


def _run_round(shell: Executor, body: Node, paths: Paths, result: Paths, frame: Frame) -> Paths:
    """Run the body of a loop once; ways that leave the loop go to ``result``, the others are returned."""
    following: Paths = {}
    for at, so_far in shell.sequence(body.children[1:-1], paths, frame).items():
        if at.control == "break":
            add_path(result, replace(at, control=""), so_far)
        elif at.control in ("exit", "return"):
            add_path(result, at, so_far)
        else:
            add_path(following, replace(at, control=""), so_far)
    return following


def run_for(shell: Executor, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
    body = next((child for child in node.children if child.type == "do_group"), None)
    if body is None or node.type != "for_statement":
        return {replace(state, is_opaque=True): trace}
    name = node_text(node.children[1])
    words = [child for child in node.named_children[1:] if child.type not in ("do_group", "comment")]
    has_words = any(child.type == "in" for child in node.children)
    values = expand_words(words, shell.values(state, frame)) if has_words else state.positional
    is_sure = all(UNKNOWN not in value for value in values)
    rounds = [value for value in values for _ in range(2 if UNKNOWN in value or re.search(r"[*?{\[]", value) else 1)]
    if len(rounds) > MAX_ROUNDS:
        rounds, is_sure = [UNKNOWN] * 3, is_sure
    paths: Paths = {replace(state, status="0"): trace}
    result: Paths = {}
    for value in rounds:
        if not is_sure:
            add_all_paths(result, paths)
        paths = {with_variable(at, name, value): so_far for at, so_far in paths.items()}
        paths = _run_round(shell, body, paths, result, frame)
    add_all_paths(result, paths)
    return result


def run_case(shell: Executor, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
    value = expand_text(node.named_children[0], shell.values(state, frame))
    result: Paths = {}
    for item in (child for child in node.named_children if child.type == "case_item"):
        end = next(at for at, child in enumerate(item.children) if child.type == ")")
        patterns = [node_text(child).strip("\"'") for child in item.children[:end] if child.is_named]
        matches = any(fnmatch.fnmatchcase(value, pattern) for pattern in patterns)
        if UNKNOWN in value or matches:
            add_all_paths(result, shell.sequence(item.children[end + 1 :], {replace(state, status="0"): trace}, frame))
        if matches and UNKNOWN not in value:
            return result
    add_path(result, replace(state, status="0"), trace)
    return result


def _split_keywords(node: Node) -> dict[str, list[Node]]:
    """Return the children of an ``if`` or ``elif`` by the keyword before them; ``else`` are the other clauses."""
    parts: dict[str, list[Node]] = {"if": [], "then": [], "else": []}
    current = "if"
    for child in node.children:
        if child.type in ("elif_clause", "else_clause"):
            parts["else"].append(child)
        elif child.type == "then" and not child.is_named:
            current = "then"
        elif child.type not in ("if", "elif", "fi"):
            parts[current].append(child)
    return parts
