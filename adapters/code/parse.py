"""One file's definitions, references and imports.

Law: ``parse`` never raises and never runs long, whatever the bytes are; every line that it gives lies in the
file. It reads the syntax tree in one walk by cursor: the query engine of tree-sitter is quadratic on broken
input and cannot be stopped safely. A language without a grammar, or a file that takes too long, is read by the
patterns of ``outline``; ``is_exact`` says which of the two it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from ...core.ports import Cancellation
from .imports import Import, read_import
from .languages import CONTAINERS, GRAMMARS, Grammar, Only, Rule, family_of, grammar_of
from .outline import Outline
from .words import NAME

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree, TreeCursor

MAX_BYTES = 500_000
"""Longer files are not read."""

MAX_PATTERN_BYTES = 100_000
"""What is still read of a file that its grammar took too long for."""

MAX_SECONDS = 0.25
"""For the syntax tree and for the walk, each; ten times what an ordinary file of a megabyte takes."""

MAX_NODES = 600_000
MAX_DEFINITIONS = 4000
MAX_REFERENCES = 60_000
MAX_IMPORTS = 2000
MAX_OWNERS = 6
"""Owners that a qualified name keeps, the innermost ones."""

MAX_NAME = 120
MAX_SIGNATURE = 200
MAX_TOP_DEPTH = 4
MAX_STEPS = 8
"""Between a node and the name that it calls or defines."""

CHECK_EVERY = 2048
CHUNK = 32_768

_TAILS = ("name", "attribute", "property", "field", "function", "method", "macro", "constructor", "declarator", "type")
"""The fields that lead to the last part of a name, the telling ones first."""

_RECEIVER = re.compile(rb"([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$")
_NOT_CALLED = frozenset(
    {
        *("if", "for", "while", "switch", "return", "catch", "sizeof", "elif", "except", "with", "assert", "print"),
        *("and", "or", "not", "in"),
    }
)
"""Words before a bracket that are not calls."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or the like; lines count from 1 and include both ends.

    ``parent`` has the names around it, joined by dots, and ``signature`` the line with the name, without indentation.
    ``branches`` counts the decisions inside it that no inner definition has.
    """

    name: str
    kind: str
    start_line: int
    end_line: int
    parent: str = ""
    signature: str = ""
    branches: int = 0

    @property
    def symbol(self) -> str:
        """The qualified name, as in ``Session.send``."""
        return f"{self.parent}.{self.name}" if self.parent else self.name


class Reference(NamedTuple):
    """One use of a name. A named tuple: a file has thousands, and a dataclass costs three times as much to make."""

    name: str
    line: int
    enclosing: int
    """Position of the innermost definition around it, or -1."""
    is_call: bool


@dataclass(frozen=True, slots=True)
class Parsed:
    """One file, read. Definitions come in the order of their first lines, outer ones first.

    ``language`` is the grammar's name, or the family of ``outline``, or empty for what is not code. ``branches``
    counts the decisions outside of all definitions; ``comments`` holds first and last lines of comments that
    share no line with code.
    """

    language: str
    definitions: tuple[Definition, ...] = ()
    references: Sequence[Reference] = ()
    imports: tuple[Import, ...] = ()
    branches: int = 0
    comments: tuple[tuple[int, int], ...] = ()
    is_exact: bool = False


class _Stopped(Exception):
    """Time or nodes ran out."""


def parse(path: str, data: bytes, cancelled: Cancellation | None = None, seconds: float = MAX_SECONDS) -> Parsed:
    """What the file at ``path`` with the content ``data`` defines, uses and imports.

    Reads the first ``MAX_BYTES``. Stops within milliseconds of ``cancelled``, with a smaller or empty answer.
    """
    data = data[:MAX_BYTES]
    name = grammar_of(path, data)
    if b"\0" in data:  # never code; and the scanner of one grammar does not come back from it
        return Parsed(name or family_of(path))
    loaded = _load(name) if name else None
    if loaded:
        try:
            return _Walk(name, loaded, data, cancelled, seconds).parsed()
        except _Stopped:
            pass
    if cancelled is not None and cancelled.is_set():
        return Parsed(name or family_of(path))
    return _by_patterns(path, data[:MAX_PATTERN_BYTES] if name else data)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A grammar in memory; what a node means is looked up by its number."""

    language: Language
    grammar: Grammar
    actions: tuple[int, ...]
    rules: dict[int, Rule]


_NAME, _CALL, _DEFINE, _IMPORT, _BRANCH, _BINARY, _COMMENT = (1 << bit for bit in range(7))


@lru_cache(maxsize=len(GRAMMARS))
def _load(name: str) -> _Loaded | None:
    """The grammar called ``name``; None where its wheel is missing or speaks another version of tree-sitter."""
    grammar = GRAMMARS[name]
    try:
        from tree_sitter import Language

        language = Language(getattr(import_module(grammar.module), grammar.function)())
    except (ImportError, AttributeError, ValueError):
        return None
    actions = [0] * language.node_kind_count
    rules: dict[int, Rule] = {}
    meanings = (
        (_NAME, grammar.names),
        (_CALL, grammar.calls),
        (_IMPORT, grammar.imports),
        (_BRANCH, grammar.branches),
        (_BINARY, grammar.binary),
        (_COMMENT, grammar.comments),
    )
    for number in range(language.node_kind_count):
        kind = language.node_kind_for_id(number)
        if not kind or not language.node_kind_is_named(number):
            continue
        actions[number] = sum(action for action, kinds in meanings if kind in kinds)
        if kind in grammar.definitions:
            actions[number] |= _DEFINE
            rules[number] = grammar.definitions[kind]
    return _Loaded(language, grammar, tuple(actions), rules)


def _tree(language: Language, data: bytes, should_stop: Callable[[], bool]) -> Tree:
    from tree_sitter import Parser

    try:
        return Parser(language).parse(
            lambda offset, _point: data[offset : offset + CHUNK],
            progress_callback=lambda _offset, _is_broken: should_stop(),
        )
    except ValueError as error:
        raise _Stopped from error


@dataclass(slots=True)
class _Open:
    """A definition that the walk is inside of, or the file around all of them."""

    position: int
    depth: int
    kind: str = ""
    names: tuple[str, ...] = ()


class _Walk:
    """Reads one syntax tree."""

    def __init__(self, name: str, loaded: _Loaded, data: bytes, cancelled: Cancellation | None, seconds: float) -> None:
        self._name = name
        self._loaded = loaded
        self._grammar = loaded.grammar
        self._data = data
        self._cancelled = cancelled
        self._seconds = seconds
        self._texts: dict[bytes, str] = {}
        self._defined: list[tuple[Definition, int]] = []
        self._branches: list[int] = [0]
        self._references: list[Reference] = []
        self._imports: list[Import] = []
        self._comments: list[tuple[int, int]] = []
        self._names_of_definitions: set[int] = set()
        self._names_of_calls: set[int] = set()
        self._open = [_Open(-1, -1)]

    def parsed(self) -> Parsed:
        """The whole file. Raises ``_Stopped``."""
        tree = _tree(self._loaded.language, self._data, self._timer())
        if tree.root_node.descendant_count > MAX_NODES:
            raise _Stopped
        self._walk(tree.walk())
        definitions = []
        for number, definition in enumerate(self._defined):
            one = definition[0]
            definitions.append(
                Definition(
                    one.name,
                    one.kind,
                    one.start_line,
                    one.end_line,
                    one.parent,
                    one.signature,
                    self._branches[number + 1],
                )
            )
        return Parsed(
            self._name,
            tuple(definitions),
            tuple(self._references),
            tuple(self._imports),
            self._branches[0],
            tuple(self._comments),
            is_exact=True,
        )

    def _timer(self) -> Callable[[], bool]:
        deadline = monotonic() + self._seconds
        cancelled = self._cancelled

        def is_over() -> bool:
            return monotonic() > deadline or (cancelled is not None and cancelled.is_set())

        return is_over

    def _walk(self, cursor: TreeCursor) -> None:
        """Every node once, from the outside in."""
        is_over = self._timer()
        actions, opened = self._loaded.actions, self._open
        known = len(actions)
        data, texts, defined, called = self._data, self._texts, self._names_of_definitions, self._names_of_calls
        add, new = self._references.append, tuple.__new__
        down, along, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
        depth = 0
        left = CHECK_EVERY
        while True:
            node = cursor.node
            assert node
            number = node.kind_id
            action = actions[number] if number < known else 0
            if action == _NAME:
                start = node.start_byte
                if start not in defined:
                    raw = data[start : node.end_byte]
                    text = texts.get(raw) or self._text(raw)
                    line = node.start_point[0] + 1
                    add(new(Reference, (text, line, opened[-1].position, start in called)))
            elif action:
                self._act(action, node, depth)
            left -= 1
            if not left:
                left = CHECK_EVERY
                if is_over() or len(self._references) > MAX_REFERENCES:
                    raise _Stopped
            if down():
                depth += 1
                continue
            while not along():
                if not up():
                    return
                depth -= 1
                if opened[-1].depth >= depth:
                    opened.pop()
            if opened[-1].depth >= depth:
                opened.pop()

    def _act(self, action: int, node: Node, depth: int) -> None:
        """Take down what ``node`` means, all but plain names."""
        if action & _CALL:
            name = self._called(node)
            if name:
                self._names_of_calls.add(name.start_byte)
                if self._grammar.callable_imports:
                    self._import_by_call(node, name)
        if action & _BRANCH:
            self._branches[self._open[-1].position + 1] += 1
        if action & _BINARY:
            self._operator(node)
        if action & _IMPORT and len(self._imports) < MAX_IMPORTS:
            text = self._decode(self._data[node.start_byte : node.end_byte][:4000])
            self._imports += read_import(self._name, text, node.start_point.row + 1)
        if action & _COMMENT:
            self._comment(node)
        if action & _DEFINE and len(self._defined) < MAX_DEFINITIONS:
            self._define(node, self._loaded.rules[node.kind_id], depth)

    def _text(self, raw: bytes) -> str:
        """A name's text, made once."""
        text = self._texts[raw] = self._decode(raw)[:MAX_NAME] or "?"
        return text

    def _called(self, node: Node) -> Node | None:
        """The last part of the name that ``node`` calls."""
        found = _tail(node, self._grammar.names)
        if found is None and node.named_child_count:
            first = node.named_child(0)
            if first and first.type not in self._grammar.names:
                return _tail(first, self._grammar.names)
            return first
        return found

    def _operator(self, node: Node) -> None:
        operator = node.child_by_field_name("operator") or (node.child(1) if node.child_count > 2 else None)
        if operator and operator.type in self._grammar.operators:
            self._branches[self._open[-1].position + 1] += 1

    def _import_by_call(self, node: Node, name: Node) -> None:
        if len(self._imports) < MAX_IMPORTS and name.end_byte - name.start_byte < 20:
            word = self._decode(self._data[name.start_byte : name.end_byte])
            if word in self._grammar.callable_imports:
                text = self._decode(self._data[node.start_byte : node.end_byte][:400])
                self._imports += read_import(self._name, text, node.start_point.row + 1)

    def _comment(self, node: Node) -> None:
        """A comment that has its lines for itself."""
        start = node.start_byte
        before = self._data[max(0, start - node.start_point.column) : start]
        if not before.strip():
            end = node.end_byte
            last = node.end_point.row + (1 if node.end_point.column else 0)
            if not self._data[end : end + 200].partition(b"\n")[0].strip():
                self._comments.append((node.start_point.row + 1, max(last, node.start_point.row + 1)))

    def _define(self, node: Node, rule: Rule, depth: int) -> None:
        around = self._open[-1]
        kind = self._kind(node, rule, around, depth)
        name = _tail_of_field(node, rule.name, self._grammar.names) if kind else None
        if name is None:
            return
        text = self._decode(self._data[name.start_byte : name.end_byte])[:MAX_NAME]
        if not text or "\n" in text:
            return
        owners = (*around.names, *self._written_owners(node, rule, name))[-MAX_OWNERS:]
        if kind == "function" and (around.kind in CONTAINERS or len(owners) > len(around.names)):
            kind = "method"
        first = node.start_point.row + 1
        last = node.end_point.row + (1 if node.end_point.column else 0)
        definition = Definition(text, kind, first, max(first, last), ".".join(owners), self._signature(name))
        self._names_of_definitions.add(name.start_byte)
        self._defined.append((definition, depth))
        self._branches.append(0)
        self._open.append(_Open(len(self._defined) - 1, depth, kind, (*owners, text)))

    def _kind(self, node: Node, rule: Rule, around: _Open, depth: int) -> str:
        """What ``node`` defines; empty when it does not."""
        is_top = around.position < 0 and depth <= MAX_TOP_DEPTH
        if rule.only is Only.TOP:
            return rule.kind if is_top else ""
        if rule.only is Only.BODY:
            return rule.kind if node.child_by_field_name("body") else ""
        if rule.only is Only.FUNCTION:
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            if value and value.type in self._grammar.values:
                return "function"
            return rule.kind if is_top and rule.kind == "constant" else ""
        return rule.kind

    def _written_owners(self, node: Node, rule: Rule, name: Node) -> tuple[str, ...]:
        """The owner that a definition names itself: a Go receiver, the class of ``Class::method``."""
        receiver = node.child_by_field_name("receiver")
        if receiver:
            found = _RECEIVER.search(self._data[receiver.start_byte : receiver.end_byte][-200:])
            return (self._decode(found.group(1)),) if found else ()
        if rule.name != "declarator":
            return ()
        before = self._data[max(0, name.start_byte - 200) : name.start_byte]
        parts = re.search(rb"((?:[A-Za-z_]\w*::)+)$", before)
        return tuple(self._decode(parts.group(1)).split("::")[:-1]) if parts else ()

    def _signature(self, name: Node) -> str:
        """The line that holds ``name``, as far as it is not too long."""
        start, data = name.start_byte, self._data
        first = data.rfind(b"\n", max(0, start - MAX_SIGNATURE), start) + 1 or max(0, start - MAX_SIGNATURE)
        last = data.find(b"\n", start, start + 2 * MAX_SIGNATURE)
        line = data[first : last if last >= 0 else start + 2 * MAX_SIGNATURE]
        return self._decode(line).strip()[:MAX_SIGNATURE]

    @staticmethod
    def _decode(raw: bytes) -> str:
        return raw.decode("utf-8", "replace")


def _tail_of_field(node: Node, field: str, names: frozenset[str]) -> Node | None:
    """The name that the field called ``field`` leads to."""
    child = node.child_by_field_name(field)
    if child is None:
        return None
    found = child if child.type in names or child.type == "word" else _tail(child, names)
    if found is None and child.type == "command_name":
        return child
    return found


def _tail(node: Node, names: frozenset[str]) -> Node | None:
    """The last part of the name below ``node``, by way of the fields in ``_TAILS``."""
    at = node
    for _ in range(MAX_STEPS):
        for field in _TAILS:
            child = at.child_by_field_name(field)
            if child:
                break
        else:
            child = at.named_child(0) if at is not node and at.named_child_count else None
            if child is None:
                return None
        if child.type in names:
            return child
        at = child
    return None


def _by_patterns(path: str, data: bytes) -> Parsed:
    """The same for a language without a grammar, or a file that its grammar takes too long for."""
    family = family_of(path)
    if not family:
        return Parsed("")
    text = data.decode("utf-8", "replace")
    outline = Outline(text, family)
    lines = outline.lines
    definitions = tuple(
        Definition(
            one.name[:MAX_NAME],
            "definition",
            one.start_line,
            one.end_line,
            one.owner[:MAX_NAME],
            lines[one.start_line - 1].strip()[:MAX_SIGNATURE],
        )
        for one in outline.definitions
    )
    return Parsed(family, definitions, tuple(_uses_in_text(text, outline, definitions)))


def _uses_in_text(text: str, outline: Outline, definitions: tuple[Definition, ...]) -> Iterator[Reference]:
    """Every word that is not the name in a definition's first line, in order."""
    inside: list[int] = []
    coming = 0
    for found in islice(NAME.finditer(text), MAX_REFERENCES):
        name = found.group()[:MAX_NAME]
        line = outline.line_at(found.start())
        while coming < len(definitions) and definitions[coming].start_line <= line:
            while inside and definitions[inside[-1]].end_line < definitions[coming].start_line:
                inside.pop()
            inside.append(coming)
            coming += 1
        while inside and definitions[inside[-1]].end_line < line:
            inside.pop()
        at = inside[-1] if inside else -1
        if at < 0 or definitions[at].start_line != line or definitions[at].name != name:
            is_call = text.startswith("(", found.end()) and name not in _NOT_CALLED
            yield Reference(name, line, at, is_call)
