"""Who calls, uses and imports what, found by name and judged by how sure that is.

Law: a name alone proves nothing. Every edge carries a confidence that says on what it rests: the same file, an
import, the same package, the only definition of that name, or one of several.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from ...core.contract.finding import Finding
from .codebase import CodeBase
from .excerpt import shown, source_lines
from .kinds import Role
from .parse import Definition, Parsed
from .references import calls_in, mentions, uses
from .resolve import imports_file
from .scan import kind_of_cached

MAX_FILES_OF_NAME = 40
"""Files with a name that are parsed, those that seem to define it first."""

MAX_DEFINITIONS_OF_NAME = 12
MAX_DEFINERS = 6
"""Files that seem to define a name, beyond which a call of it without an import is not followed."""

MAX_CALLEES = 30
"""Names that one definition calls, in the order of its text."""

COMMON = 8
"""Definitions of one name in different files, from which on a use without an import says nothing."""

SAME_FILE = 0.95
IMPORTED = 0.9
IMPORTED_MODULE = 0.8
SAME_PACKAGE = 0.75
OWNER_SEEN = 0.7
ONLY_ONE = 0.55
ONE_OF_MANY = 0.4

_BY_FOLDER = frozenset({"go", "java", "c-sharp", "php"})
"""Languages in which files of a folder know each other without an import."""

_BUILT_IN = frozenset(
    {
        *("append", "len", "str", "int", "print", "get", "set", "list", "dict", "range", "super", "isinstance", "open"),
        *("format", "join", "keys", "items", "values", "map", "filter", "push", "pop", "new", "make", "error", "Error"),
        *("println", "printf", "sizeof", "malloc", "free", "memcpy", "strlen", "assert", "echo", "cd", "test", "log"),
        *("toString", "then", "unwrap", "clone", "into", "from", "Some", "Ok", "Err", "vec", "length", "size", "add"),
        *("remove", "require"),
    }
)
"""Names that most programs call and few mean their own by."""


@dataclass(frozen=True, slots=True)
class Place:
    """One definition in one file; ``position`` is its place in the file's definitions, -1 for the file itself."""

    path: str
    position: int
    definition: Definition | None

    @property
    def symbol(self) -> str:
        return self.definition.symbol if self.definition else ""

    @property
    def name(self) -> str:
        return self.definition.name if self.definition else ""

    @property
    def line(self) -> int:
        return self.definition.start_line if self.definition else 1

    @property
    def id(self) -> str:
        """How the place is named in data: ``path::symbol``."""
        return f"{shown(self.path)}::{self.symbol}" if self.definition else shown(self.path)


@dataclass(frozen=True, slots=True)
class Edge:
    """``other`` calls, uses or is used by a place, on ``line`` of the file that does so."""

    other: Place
    line: int
    confidence: float
    is_call: bool = True


def find_definitions(code: CodeBase, symbol: str, files: tuple[str, ...] = ()) -> list[Place]:
    """The definitions that ``symbol`` may mean, with its owner if it names one; those in ``files`` first."""
    parts = [part for part in symbol.replace("::", ".").replace("#", ".").replace("->", ".").split(".") if part]
    if not parts:
        return []
    name, owner = parts[-1], parts[-2] if len(parts) > 1 else ""
    found: list[Place] = []
    for path in islice(code.files_defining(name), MAX_FILES_OF_NAME):
        parsed = code.parsed(path)
        if parsed is None:
            continue
        found += _definitions_in(path, parsed, name)
    stem = [place for place in found if owner and _is_owned(place, owner)]
    chosen = stem or found
    chosen.sort(key=lambda place: (place.path not in files, _rank(place.path)))
    return chosen[:MAX_DEFINITIONS_OF_NAME]


def _is_owned(place: Place, owner: str) -> bool:
    """Whether ``owner`` is the class around the place, or the module that it is in."""
    parent = place.definition.parent.rpartition(".")[2] if place.definition else ""
    return parent == owner or (not parent and place.path.rpartition("/")[2].partition(".")[0] == owner)


def _rank(path: str) -> int:
    role = kind_of_cached(path).role
    return 0 if role is Role.SOURCE else 1


def callers(code: CodeBase, place: Place, *, calls_only: bool = True) -> list[Edge]:
    """What calls (or also uses) the definition at ``place``, the surest first, each caller once."""
    if not place.definition:
        return []
    others = find_definitions(code, place.name)
    best: dict[tuple[str, int], Edge] = {}
    for path in islice(code.files_with(place.name), MAX_FILES_OF_NAME):
        parsed = code.parsed(path)
        if parsed is None:
            continue
        confidence = -1.0
        for reference in uses(parsed, place.name):
            if calls_only and not reference.is_call:
                continue
            if path == place.path and reference.enclosing == place.position and not reference.is_call:
                continue
            if confidence < 0:
                confidence = link(path, parsed, place, others)
            key = (path, reference.enclosing)
            if confidence > 0 and (key not in best or (reference.is_call and not best[key].is_call)):
                sure = confidence if reference.is_call else confidence * 0.8
                best[key] = Edge(_place(path, parsed, reference.enclosing), reference.line, sure, reference.is_call)
    return sorted(best.values(), key=_order)


def callees(code: CodeBase, place: Place, most: int = MAX_CALLEES) -> list[Edge]:
    """What the definition at ``place`` calls inside the repository, the surest first, each callee once."""
    parsed = code.parsed(place.path)
    if parsed is None or not place.definition:
        return []
    lines: dict[str, int] = {}
    for reference in calls_in(parsed, _inner(parsed, place.position)):
        lines.setdefault(reference.name, reference.line)
    found: list[Edge] = []
    for name, line in islice(lines.items(), most):
        targets = _near(code, place.path, parsed, name)
        if not targets and name not in _BUILT_IN and len(code.files_defining(name)) <= MAX_DEFINERS:
            targets = find_definitions(code, name)
        edges = (Edge(target, line, link(place.path, parsed, target, targets)) for target in targets)
        best = min((edge for edge in edges if edge.confidence > 0), key=_order, default=None)
        if best:
            found.append(best)
    return sorted(found, key=_order)


def _near(code: CodeBase, path: str, parsed: Parsed, name: str) -> list[Place]:
    """The definitions of ``name`` in the file itself, else in the files that it imports."""
    own = _definitions_in(path, parsed, name)
    if own:
        return own
    for statement in parsed.imports:
        tail = _tail(statement.module)
        words = dict.fromkeys((tail, *statement.names)) if name in statement.names else (tail,)
        for other in (path for word in words for path in code.named(word)[:MAX_FILES_OF_NAME]):
            if other != path and imports_file(path, statement, other):
                read = code.parsed(other)
                found = _definitions_in(other, read, name) if read else []
                if found:
                    return found
    return []


@lru_cache(maxsize=4096)
def _tail(module: str) -> str:
    """The last part of a module's name."""
    return re.split(r"[./\\:]+", module.rstrip("./"))[-1]


def _definitions_in(path: str, parsed: Parsed, name: str) -> list[Place]:
    return [
        Place(path, position, one)
        for position, one in enumerate(parsed.definitions)
        if one.name == name and one.kind != "impl"
    ]


def importers(code: CodeBase, path: str) -> list[Edge]:
    """The files that import the file at ``path``."""
    stem = path.rpartition("/")[2].partition(".")[0]
    folder = path.rpartition("/")[0].rpartition("/")[2]
    words = [folder] if stem in ("__init__", "index", "mod", "lib") or path.endswith(".go") else [stem]
    found: dict[str, Edge] = {}
    for word in filter(None, words):
        for other in islice(code.files_with(word), MAX_FILES_OF_NAME * 2):
            parsed = code.parsed(other) if other != path else None
            if parsed is None:
                continue
            for statement in parsed.imports:
                if imports_file(other, statement, path):
                    found.setdefault(other, Edge(Place(other, -1, None), statement.line, IMPORTED, is_call=False))
    return list(found.values())


def link(path: str, parsed: Parsed, target: Place, others: list[Place]) -> float:
    """How sure it is that the target's name, used in ``path``, means the target; ``others`` share its name."""
    if path == target.path:
        return SAME_FILE
    if not _speak_alike(path, target.path):
        return 0.0
    owner = target.definition.parent.partition(".")[0] if target.definition else ""
    if any(place.path == path for place in others):  # its own of that name is meant
        return ONE_OF_MANY / 2
    for statement in parsed.imports:
        if imports_file(path, statement, target.path):
            named = target.name in statement.names or owner in statement.names
            return IMPORTED if named else IMPORTED_MODULE
    if parsed.language in _BY_FOLDER and path.rpartition("/")[0] == target.path.rpartition("/")[0]:
        return SAME_PACKAGE
    files = {place.path for place in others}
    if owner and mentions(parsed, owner):
        return OWNER_SEEN
    if len(files) <= 1:
        return ONLY_ONE
    return ONE_OF_MANY / len(files) if len(files) < COMMON else 0.0


def _speak_alike(one: str, other: str) -> bool:
    return kind_of_cached(one).language == kind_of_cached(other).language


def _place(path: str, parsed: Parsed, position: int) -> Place:
    return Place(path, position, parsed.definitions[position] if position >= 0 else None)


def place_at(path: str, parsed: Parsed, line: int) -> Place:
    """The innermost definition around ``line``."""
    best = -1
    for position, one in enumerate(parsed.definitions):
        if one.start_line <= line <= one.end_line:
            best = position
        elif one.start_line > line:
            break
    return _place(path, parsed, best)


def _inner(parsed: Parsed, position: int) -> set[int]:
    """The definition at ``position`` and those inside it."""
    outer = parsed.definitions[position]
    return {
        number
        for number, one in enumerate(parsed.definitions)
        if number >= position and outer.start_line <= one.start_line and one.end_line <= outer.end_line
    }


def _order(edge: Edge) -> tuple[object, ...]:
    return (-edge.confidence, _rank(edge.other.path), edge.other.path, edge.other.line, edge.line)


def row(code: CodeBase, edge: Edge, score: float, why: str, *, with_text: bool = True, at_call: bool = True) -> Finding:
    """One place as a finding: the lines around the call, or the head of the definition."""
    place = edge.other
    first, last = place.line, place.definition.end_line if place.definition else 0
    start, end = _window(edge.line if at_call else first, first, last)
    text = source_lines(code.lines(place.path), start, end) if with_text else ""
    return Finding(
        path=shown(place.path),
        title=place.definition.signature if place.definition else "",
        symbol=place.symbol,
        kind="reference" if at_call else "definition",
        start_line=start,
        end_line=start + text.count("\n") if text else max(end, start),
        score=round(min(max(score, 0.0), 1.0), 4),
        why=why,
        text=text,
    )


def _window(line: int, first: int, last: int) -> tuple[int, int]:
    """A few lines around ``line`` that stay inside the definition."""
    if not last:
        return line, line
    return max(first, line - 2), min(last, line + 4)
