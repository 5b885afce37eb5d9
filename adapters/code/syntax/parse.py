"""Parser for one file: definitions, references and imports.

Invariant: ``parse_source`` never raises and never runs long, whatever the bytes are; every line number is in the file.
It walks the syntax tree once with a cursor, because tree-sitter's query engine is quadratic on broken input and cannot
be stopped safely. For a language without a grammar, or a file that takes too long, the patterns of ``outline`` are
used, and ``is_exact`` is false.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING

from upbeat.adapters.code.files.file_types import classify_file
from upbeat.adapters.code.query.terms import IDENTIFIER_PATTERN
from upbeat.adapters.code.syntax import languages
from upbeat.adapters.code.syntax.imports import Import, parse_import
from upbeat.adapters.code.syntax.outline import Outline
from upbeat.adapters.code.syntax.parsed_file import Definition, ParsedFile, References
from upbeat.adapters.system.process.run import NEVER_CANCELLED
from upbeat.core.engine.ports import Cancellation

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree, TreeCursor

MAX_PARSED_BYTES = 500_000
"""Bytes of a file that are parsed."""

MAX_PATTERN_BYTES = 100_000
"""Bytes that are read with patterns when the grammar takes too long."""

MAX_PARSE_SECONDS = 0.25
"""For the syntax tree and for the walk, each; ten times what a typical file of a megabyte takes."""

MAX_NODES = 600_000
MAX_DEFINITIONS = 4000
MAX_REFERENCES = 60_000
MAX_IMPORTS = 2000
MAX_IMPORT_CHARS = 4000
MAX_OWNERS = 6
"""The innermost owners that a qualified name keeps."""

MAX_NAME_CHARS = 120
MAX_SIGNATURE_CHARS = 200
MAX_TOP_DEPTH = 4
MAX_NAME_DEPTH = 8
"""Levels between a node and the name that it calls or defines."""

CANCEL_CHECK_INTERVAL = 2048
CHUNK_BYTES = 32_768

_NAME_FIELDS = (
    *("name", "attribute", "property", "field", "function", "method", "macro", "constructor", "declarator", "type"),
)
"""The fields that lead to the last part of a name, the most specific ones first."""

_RECEIVER = re.compile(rb"([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$")
_UNSAFE_CHARS = re.compile(rb"\xf0[\xa0-\xbf][\x80-\xbf]{2}|[\xf1-\xf4][\x80-\xbf]{3}")
"""Characters from U+20000 on: the scanner of bash's grammar crashes the process (see ``core/shell/syntax.py``)."""
_NOT_CALLED = frozenset(
    {
        *("if", "for", "while", "switch", "return", "catch", "sizeof", "elif", "except", "with", "assert", "print"),
        *("and", "or", "not", "in"),
    }
)
"""Words before a parenthesis that are not calls."""


class _ParseAborted(Exception):
    """The time or node limit is exceeded."""


def parse_source(path: str, data: bytes, cancelled: Cancellation = NEVER_CANCELLED) -> ParsedFile:
    """Return what the file at ``path`` with the content ``data`` defines, uses and imports.

    Reads the first ``MAX_PARSED_BYTES``. Stops within milliseconds of ``cancelled``, with a partial or empty result.
    """
    data = data[:MAX_PARSED_BYTES]
    name = languages.grammar_name(path, data)
    if b"\0" in data:  # never code, and the scanner of one grammar hangs on it
        return ParsedFile(name or classify_file(path).language)
    loaded = _load_grammar(name) if name else None
    if loaded:
        try:
            safe = data if data.isascii() else _UNSAFE_CHARS.sub(b"????", data)
            return _TreeWalker(name, loaded, safe, cancelled).parse()
        except _ParseAborted:
            pass
    if cancelled.is_set():
        return ParsedFile(name or classify_file(path).language)
    return _parse_with_patterns(path, data[:MAX_PATTERN_BYTES] if name else data)


@dataclass(frozen=True, slots=True)
class _LoadedGrammar:
    """A grammar in memory; the meaning of a node is looked up by its kind id.

    Attributes:
        name_fields: The ids of those of ``_NAME_FIELDS`` that the grammar has.
    """

    language: Language
    grammar: languages.Grammar
    actions: tuple[int, ...]
    rules: dict[int, languages.DefinitionRule]
    name_fields: tuple[int, ...]


_NAME, _CALL, _DEFINE, _IMPORT, _BRANCH, _BINARY, _COMMENT = (1 << bit for bit in range(7))


@cache
def _load_grammar(name: str) -> _LoadedGrammar | None:
    """Return the grammar; None if its wheel is missing or needs another version of tree-sitter."""
    grammar = languages.load_grammar(name)
    try:
        from tree_sitter import Language

        language = Language(getattr(import_module(grammar.module), grammar.language_function)())
    except (ImportError, AttributeError, ValueError):
        return None
    actions = [0] * language.node_kind_count
    rules: dict[int, languages.DefinitionRule] = {}
    meanings = (
        (_NAME, grammar.name_nodes),
        (_CALL, grammar.call_nodes),
        (_IMPORT, grammar.import_nodes),
        (_BRANCH, grammar.branch_nodes),
        (_BINARY, grammar.operator_nodes),
        (_COMMENT, grammar.comment_nodes),
    )
    for number in range(language.node_kind_count):
        kind = language.node_kind_for_id(number)
        if not kind or not language.node_kind_is_named(number):
            continue
        actions[number] = sum(action for action, kinds in meanings if kind in kinds)
        if kind in grammar.definitions:
            actions[number] |= _DEFINE
            rules[number] = grammar.definitions[kind]
    name_fields = tuple(field for name in _NAME_FIELDS if (field := language.field_id_for_name(name)))
    return _LoadedGrammar(language, grammar, tuple(actions), rules, name_fields)


def _build_syntax_tree(language: Language, data: bytes, should_stop: Callable[[], bool]) -> Tree:
    from tree_sitter import Parser

    try:
        return Parser(language).parse(
            lambda offset, _point: data[offset : offset + CHUNK_BYTES],
            progress_callback=lambda _offset, _is_broken: should_stop(),
        )
    except ValueError as error:
        raise _ParseAborted from error


@dataclass(slots=True)
class _OpenDefinition:
    """A definition that the walk is inside, or the file around all of them."""

    position: int
    depth: int
    kind: str = ""
    names: tuple[str, ...] = ()


class _TreeWalker:
    """Walks one syntax tree."""

    def __init__(self, name: str, loaded_grammar: _LoadedGrammar, data: bytes, cancelled: Cancellation) -> None:
        self._name = name
        self._loaded_grammar = loaded_grammar
        self._grammar = loaded_grammar.grammar
        self._data = data
        self._cancelled = cancelled
        self._definitions: list[Definition] = []
        self._branches: list[int] = [0]
        self._references = References()
        self._imports: list[Import] = []
        self._comments: list[tuple[int, int]] = []
        self._names_of_definitions: set[int] = set()
        self._names_of_calls: set[int] = set()
        self._open_definitions = [_OpenDefinition(-1, -1)]

    def parse(self) -> ParsedFile:
        """Parse the whole file. Raises ``_ParseAborted``."""
        tree = _build_syntax_tree(self._loaded_grammar.language, self._data, self._deadline_check())
        if tree.root_node.descendant_count > MAX_NODES:
            raise _ParseAborted
        self._walk(tree.walk())
        definitions = (
            replace(definition, branches=branches) if branches else definition
            for definition, branches in zip(self._definitions, self._branches[1:], strict=True)
        )
        return ParsedFile(
            self._name,
            tuple(definitions),
            self._references,
            tuple(self._imports),
            self._branches[0],
            tuple(self._comments),
            is_exact=True,
        )

    def _deadline_check(self) -> Callable[[], bool]:
        deadline = monotonic() + MAX_PARSE_SECONDS
        return lambda: monotonic() > deadline or self._cancelled.is_set()

    def _walk(self, cursor: TreeCursor) -> None:
        """Visit every node once, parents first."""
        is_over = self._deadline_check()
        actions, opened = self._loaded_grammar.actions, self._open_definitions
        known = len(actions)
        data, defined, called = self._data, self._names_of_definitions, self._names_of_calls
        names = self._references.names
        index_by_raw: dict[bytes, int] = {}
        indexes, lines, enclosing, calls = list[int](), list[int](), list[int](), list[bool]()
        down, along, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
        depth = 0
        left = CANCEL_CHECK_INTERVAL
        while True:
            node = cursor.node
            assert node
            number = node.kind_id
            action = actions[number] if number < known else 0
            if action == _NAME:
                start = node.start_byte
                if start not in defined:
                    raw = data[start : node.end_byte]
                    index = index_by_raw.get(raw)
                    if index is None:
                        name = _decode(raw)[:MAX_NAME_CHARS] or "?"
                        index = index_by_raw[raw] = names.setdefault(name, len(names))
                    indexes.append(index)
                    lines.append(node.start_point[0] + 1)
                    enclosing.append(opened[-1].position)
                    calls.append(start in called)
            elif action:
                self._record_node(action, node, depth)
            left -= 1
            if not left:
                left = CANCEL_CHECK_INTERVAL
                if is_over() or len(calls) > MAX_REFERENCES:
                    raise _ParseAborted
            if down():
                depth += 1
                continue
            while not along():
                if not up():
                    self._references.extend(indexes, lines, enclosing, calls)
                    return
                depth -= 1
                if opened[-1].depth >= depth:
                    opened.pop()
            if opened[-1].depth >= depth:
                opened.pop()

    def _record_node(self, action: int, node: Node, depth: int) -> None:
        """Record what ``node`` means; plain names are handled by ``_walk``."""
        if action & _CALL:
            name = self._callee_name(node)
            if name:
                self._names_of_calls.add(name.start_byte)
                if self._grammar.import_functions:
                    self._record_import_call(node, name)
        if action & _BINARY:
            operator = node.child_by_field_name("operator") or (node.child(1) if node.child_count > 2 else None)
            if operator and operator.type in self._grammar.branch_operators:
                action |= _BRANCH
        if action & _BRANCH:
            self._branches[self._open_definitions[-1].position + 1] += 1
        if action & _IMPORT and len(self._imports) < MAX_IMPORTS:
            self._record_import(node, MAX_IMPORT_CHARS)
        if action & _COMMENT:
            self._record_comment(node)
        if action & _DEFINE and len(self._definitions) < MAX_DEFINITIONS:
            self._record_definition(node, self._loaded_grammar.rules[node.kind_id], depth)

    def _callee_name(self, node: Node) -> Node | None:
        """Return the last part of the name that ``node`` calls."""
        name = self._last_name(node)
        first = node.named_child(0) if name is None and node.named_child_count else None
        if first:
            return first if first.type in self._grammar.name_nodes else self._last_name(first)
        return name

    def _last_name(self, node: Node) -> Node | None:
        """Return the last part of the name below ``node``, following ``_NAME_FIELDS``."""
        names, fields = self._grammar.name_nodes, self._loaded_grammar.name_fields
        current = node
        for _ in range(MAX_NAME_DEPTH):
            for field in fields:
                child = current.child_by_field_id(field)
                if child:
                    break
            else:
                child = current.named_child(0) if current is not node and current.named_child_count else None
                if child is None:
                    return None
            if child.type in names:
                return child
            current = child
        return None

    def _name_in_field(self, node: Node, field: str) -> Node | None:
        """Return the name that ``field`` leads to."""
        child = node.child_by_field_name(field)
        if child is None:
            return None
        if child.type in self._grammar.name_nodes or child.type == "word":
            return child
        return self._last_name(child) or (child if child.type == "command_name" else None)

    def _record_import_call(self, node: Node, name: Node) -> None:
        if len(self._imports) < MAX_IMPORTS and name.end_byte - name.start_byte < 20:
            word = _decode(self._data[name.start_byte : name.end_byte])
            if word in self._grammar.import_functions:
                self._record_import(node, MAX_IMPORT_CHARS // 10)

    def _record_import(self, node: Node, max_chars: int) -> None:
        text = _decode(self._data[node.start_byte : node.end_byte][:max_chars])
        self._imports += parse_import(self._name, text, node.start_point.row + 1)

    def _record_comment(self, node: Node) -> None:
        """Record a comment that shares no line with code."""
        start = node.start_byte
        before = self._data[max(0, start - node.start_point.column) : start]
        if not before.strip():
            end = node.end_byte
            last = node.end_point.row + (1 if node.end_point.column else 0)
            if not self._data[end : end + 200].partition(b"\n")[0].strip():
                self._comments.append((node.start_point.row + 1, max(last, node.start_point.row + 1)))

    def _record_definition(self, node: Node, rule: languages.DefinitionRule, depth: int) -> None:
        around = self._open_definitions[-1]
        kind = self._definition_kind(node, rule, around, depth)
        name = self._name_in_field(node, rule.name_field) if kind else None
        if name is None:
            return
        text = _decode(self._data[name.start_byte : name.end_byte])[:MAX_NAME_CHARS]
        if not text or "\n" in text:
            return
        owners = (*around.names, *self._explicit_owners(node, rule, name))[-MAX_OWNERS:]
        if kind == "function" and (around.kind in languages.CONTAINER_KINDS or len(owners) > len(around.names)):
            kind = "method"
        first = node.start_point.row + 1
        last = node.end_point.row + (1 if node.end_point.column else 0)
        definition = Definition(text, kind, first, max(first, last), ".".join(owners), self._signature(name))
        self._names_of_definitions.add(name.start_byte)
        self._definitions.append(definition)
        self._branches.append(0)
        self._open_definitions.append(_OpenDefinition(len(self._definitions) - 1, depth, kind, (*owners, text)))

    def _definition_kind(
        self, node: Node, rule: languages.DefinitionRule, enclosing: _OpenDefinition, depth: int
    ) -> str:
        """Return the kind of definition that ``node`` is; empty if it is none."""
        is_top = enclosing.position < 0 and depth <= MAX_TOP_DEPTH
        if rule.condition is languages.DefinitionCondition.TOP_LEVEL:
            return rule.kind if is_top else ""
        if rule.condition is languages.DefinitionCondition.HAS_BODY:
            return rule.kind if node.child_by_field_name("body") else ""
        if rule.condition is languages.DefinitionCondition.FUNCTION_VALUE:
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            if value and value.type in self._grammar.function_value_nodes:
                return "function"
            return rule.kind if is_top and rule.kind == "constant" else ""
        return rule.kind

    def _explicit_owners(self, node: Node, rule: languages.DefinitionRule, name: Node) -> tuple[str, ...]:
        """Return the owner in the definition itself: a Go receiver, or the class in ``Class::method``."""
        receiver = node.child_by_field_name("receiver")
        if receiver:
            owner = _RECEIVER.search(self._data[receiver.start_byte : receiver.end_byte][-200:])
            return (_decode(owner.group(1)),) if owner else ()
        if rule.name_field != "declarator":
            return ()
        before = self._data[max(0, name.start_byte - 200) : name.start_byte]
        parts = re.search(rb"((?:[A-Za-z_]\w*::)+)$", before)
        return tuple(_decode(parts.group(1)).split("::")[:-1]) if parts else ()

    def _signature(self, name: Node) -> str:
        """Return the line that contains ``name``, truncated."""
        start, data = name.start_byte, self._data
        first = data.rfind(b"\n", max(0, start - MAX_SIGNATURE_CHARS), start) + 1 or max(0, start - MAX_SIGNATURE_CHARS)
        last = data.find(b"\n", start, start + 2 * MAX_SIGNATURE_CHARS)
        line = data[first : last if last >= 0 else start + 2 * MAX_SIGNATURE_CHARS]
        return _decode(line).strip()[:MAX_SIGNATURE_CHARS]


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _parse_with_patterns(path: str, data: bytes) -> ParsedFile:
    """Parse a file without a grammar, or one whose grammar takes too long."""
    family = classify_file(path).language
    if not family:
        return ParsedFile("")
    outline = Outline(data.decode("utf-8", "replace"), family)
    definitions = tuple(
        replace(
            definition,
            name=definition.name[:MAX_NAME_CHARS],
            parent=definition.parent[:MAX_NAME_CHARS],
            signature=outline.lines[definition.start_line - 1].strip()[:MAX_SIGNATURE_CHARS],
        )
        for definition in outline.definitions
    )
    return ParsedFile(family, definitions, _references_in_text(outline, definitions))


def _references_in_text(outline: Outline, definitions: tuple[Definition, ...]) -> References:
    """Return every word that is not the name in a definition's first line."""
    references = References()
    for number, line in enumerate(outline.lines, 1):
        position = outline.enclosing_position(number)
        is_first_line = position >= 0 and definitions[position].start_line == number
        for match in IDENTIFIER_PATTERN.finditer(line):
            name = match.group()[:MAX_NAME_CHARS]
            if len(references) >= MAX_REFERENCES:
                return references
            if not is_first_line or definitions[position].name != name:
                is_call = line.startswith("(", match.end()) and name not in _NOT_CALLED
                references.add(name, number, position, is_call)
    return references
