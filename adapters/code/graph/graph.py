"""The call graph: callers, callees and importers, found by name, each with a confidence.

Invariant: a name alone proves nothing. The confidence of an edge depends on its evidence: the same file, an import,
the same package, the only definition of that name, or one of several.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.graph.codebase import CodeBase
from upbeat.adapters.code.query.excerpt import printable_path, source_lines
from upbeat.adapters.code.syntax.imports import may_import
from upbeat.adapters.code.syntax.parsed_file import Definition, Nesting, ParsedFile
from upbeat.core.contract.finding import Finding

MAX_FILES_PER_NAME = 40
"""Files with a name that are parsed."""

MAX_DEFINITIONS_PER_NAME = 12
MAX_DEFINING_FILES = 6
"""Files that seem to define a name, up to which a call of it is followed without an import."""

MAX_CALLEES = 30
"""Called names of one definition that are followed, in the order of its text."""

COMMON_NAME_FILES = 8
"""Files that define one name, from which on a use without an import proves nothing."""

SAME_FILE_CONFIDENCE = 0.95
IMPORTED_CONFIDENCE = 0.9
IMPORTED_MODULE_CONFIDENCE = 0.8
SAME_PACKAGE_CONFIDENCE = 0.75
OWNER_MENTIONED_CONFIDENCE = 0.7
SOLE_DEFINITION_CONFIDENCE = 0.55
AMBIGUOUS_CONFIDENCE = 0.4
SUPPLEMENT_FACTOR = 0.6
"""Score of a finding compared with a search result, which answers the question directly."""

_MODULE_SEPARATOR = re.compile(r"[./\\:]+")
_FOLDER_SCOPED_LANGUAGES = frozenset({"go", "java", "c-sharp", "php"})
"""Languages in which files of a folder can use each other without an import."""

_BUILT_IN = frozenset(
    {
        *("append", "len", "str", "int", "print", "get", "set", "list", "dict", "range", "super", "isinstance", "open"),
        *("format", "join", "keys", "items", "values", "map", "filter", "push", "pop", "new", "make", "error", "Error"),
        *("println", "printf", "sizeof", "malloc", "free", "memcpy", "strlen", "assert", "echo", "cd", "test", "log"),
        *("toString", "then", "unwrap", "clone", "into", "from", "Some", "Ok", "Err", "vec", "length", "size", "add"),
        *("remove", "require"),
    }
)
"""Names of library functions that programs rarely define."""


_WHOLE_FILE = Definition("", "file", 1, 0)


@dataclass(frozen=True, slots=True)
class SymbolLocation:
    """One definition in one file, by default the file itself; ``position`` is its index in the file's definitions."""

    path: str
    position: int = -1
    definition: Definition = _WHOLE_FILE

    @property
    def id(self) -> str:
        """Return the id in tool data: ``path::symbol``."""
        path = printable_path(self.path)
        return f"{path}::{self.definition.symbol}" if self.position >= 0 else path


@dataclass(frozen=True, slots=True)
class Edge:
    """``endpoint`` calls, uses or is used by a symbol, on ``line`` of the using file."""

    endpoint: SymbolLocation
    line: int
    confidence: float
    is_call: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """The step along ``edge`` of a walk that began ``depth`` steps before; ``confidence`` is that of the whole walk.

    It starts at ``origin``; ``direction`` is empty if all walks have the same.
    """

    edge: Edge
    origin: SymbolLocation
    depth: int
    confidence: float
    direction: str = ""


def find_definitions(code: CodeBase, symbol: str, files: tuple[str, ...] = ()) -> list[SymbolLocation]:
    """Return the definitions that ``symbol`` can mean, respecting its owner if it has one; those in ``files`` first."""
    parts = [part for part in symbol.replace("::", ".").replace("#", ".").replace("->", ".").split(".") if part]
    if not parts:
        return []
    name, owner = parts[-1], parts[-2] if len(parts) > 1 else ""
    symbols: list[SymbolLocation] = []
    for path in islice(code.files_defining(name), MAX_FILES_PER_NAME):
        parsed = code.parsed_file(path)
        if parsed:
            symbols += _definitions_in(path, parsed, name)
    if owner:
        owners = [
            place.definition.parent.rpartition(".")[2] or place.path.rpartition("/")[2].partition(".")[0]
            for place in symbols
        ]
        symbols = [place for place, name in zip(symbols, owners, strict=True) if name == owner] or symbols
    symbols.sort(key=lambda place: (place.path not in files, classify_file(place.path).role is not FileRole.SOURCE))
    return symbols[:MAX_DEFINITIONS_PER_NAME]


def find_callers(code: CodeBase, symbol: SymbolLocation, *, calls_only: bool = True) -> list[Edge]:
    """Return what calls (or also uses) ``symbol``, the most certain first, each caller once."""
    if symbol.position < 0:
        return []
    others = find_definitions(code, symbol.definition.name)
    best: dict[tuple[str, int], Edge] = {}
    for path in islice(code.files_mentioning(symbol.definition.name), MAX_FILES_PER_NAME):
        parsed = code.parsed_file(path)
        if parsed is None:
            continue
        confidence = -1.0
        for reference in parsed.references.to_name(symbol.definition.name):
            if calls_only and not reference.is_call:
                continue
            if path == symbol.path and reference.enclosing == symbol.position and not reference.is_call:
                continue
            if confidence < 0:
                confidence = link_confidence(path, parsed, symbol, others)
            key = (path, reference.enclosing)
            if confidence > 0 and (key not in best or (reference.is_call and not best[key].is_call)):
                sure = confidence if reference.is_call else confidence * 0.8
                best[key] = Edge(_location(path, parsed, reference.enclosing), reference.line, sure, reference.is_call)
    return sorted(best.values(), key=_sort_key)


def find_callees(code: CodeBase, symbol: SymbolLocation, limit: int = MAX_CALLEES) -> list[Edge]:
    """Return what ``symbol`` calls inside the repository, the most certain first, each callee once."""
    parsed = code.parsed_file(symbol.path)
    if parsed is None or symbol.position < 0:
        return []
    outer = symbol.definition
    inside = {
        position
        for position, inner in enumerate(parsed.definitions)
        if position >= symbol.position and outer.start_line <= inner.start_line and inner.end_line <= outer.end_line
    }
    lines: dict[str, int] = {}
    for reference in parsed.references.calls_inside(inside):
        lines.setdefault(reference.name, reference.line)
    callees: list[Edge] = []
    for name, line in islice(lines.items(), limit):
        targets = _definitions_in_scope(code, symbol.path, parsed, name)
        if not targets and name not in _BUILT_IN and len(code.files_defining(name)) <= MAX_DEFINING_FILES:
            targets = find_definitions(code, name)
        edges = (Edge(target, line, link_confidence(symbol.path, parsed, target, targets)) for target in targets)
        best = min((edge for edge in edges if edge.confidence > 0), key=_sort_key, default=None)
        if best:
            callees.append(best)
    return sorted(callees, key=_sort_key)


def _definitions_in_scope(code: CodeBase, path: str, parsed: ParsedFile, name: str) -> list[SymbolLocation]:
    """Return the definitions of ``name`` in the file itself, else in the files that it imports."""
    own = _definitions_in(path, parsed, name)
    if own:
        return own
    for statement in parsed.imports:
        tail = _MODULE_SEPARATOR.split(statement.module.rstrip("./"))[-1]
        words = dict.fromkeys((tail, *statement.names)) if name in statement.names else (tail,)
        for other in (path for word in words for path in code.files_by_name.get(word, ())[:MAX_FILES_PER_NAME]):
            if other != path and code.may_define(other, name) and may_import(path, statement, other):
                imported = code.parsed_file(other)
                definitions = _definitions_in(other, imported, name) if imported else []
                if definitions:
                    return definitions
    return []


def _definitions_in(path: str, parsed: ParsedFile, name: str) -> list[SymbolLocation]:
    return [
        SymbolLocation(path, position, definition)
        for position, definition in enumerate(parsed.definitions)
        if definition.name == name and definition.kind != "impl"
    ]


def find_importers(code: CodeBase, path: str) -> list[Edge]:
    """Return the files that import the file at ``path``."""
    stem = path.rpartition("/")[2].partition(".")[0]
    folder = path.rpartition("/")[0].rpartition("/")[2]
    name = folder if stem in ("__init__", "index", "mod", "lib") or path.endswith(".go") else stem
    importers: list[Edge] = []
    for other in islice(code.files_mentioning(name), MAX_FILES_PER_NAME * 2) if name else ():
        parsed = code.parsed_file(other) if other != path else None
        imports = (statement for statement in parsed.imports if may_import(other, statement, path)) if parsed else ()
        statement = next(iter(imports), None)
        if statement:
            importer = SymbolLocation(other)
            importers.append(Edge(importer, statement.line, IMPORTED_CONFIDENCE, is_call=False))
    return importers


def link_confidence(path: str, parsed: ParsedFile, target: SymbolLocation, candidates: list[SymbolLocation]) -> float:
    """Return how certain it is that the target's name in ``path`` means it; ``candidates`` share the name."""
    if path == target.path:
        return SAME_FILE_CONFIDENCE
    if classify_file(path).language != classify_file(target.path).language:
        return 0.0
    owner = target.definition.parent.partition(".")[0]
    if any(symbol.path == path for symbol in candidates):  # the file means its own definition
        return AMBIGUOUS_CONFIDENCE / 2
    for statement in parsed.imports:
        if may_import(path, statement, target.path):
            named = target.definition.name in statement.names or owner in statement.names
            return IMPORTED_CONFIDENCE if named else IMPORTED_MODULE_CONFIDENCE
    if parsed.language in _FOLDER_SCOPED_LANGUAGES and path.rpartition("/")[0] == target.path.rpartition("/")[0]:
        return SAME_PACKAGE_CONFIDENCE
    files = {symbol.path for symbol in candidates}
    if owner and owner in parsed.references.names:
        return OWNER_MENTIONED_CONFIDENCE
    if len(files) <= 1:
        return SOLE_DEFINITION_CONFIDENCE
    return AMBIGUOUS_CONFIDENCE / len(files) if len(files) < COMMON_NAME_FILES else 0.0


def enclosing_symbol(path: str, parsed: ParsedFile, line: int) -> SymbolLocation:
    """Return the innermost definition around ``line``."""
    first_lines = [definition.start_line for definition in parsed.definitions]
    last_lines = [definition.end_line for definition in parsed.definitions]
    position = Nesting(first_lines, last_lines).enclosing_position(line)
    return _location(path, parsed, position)


def _location(path: str, parsed: ParsedFile, position: int) -> SymbolLocation:
    return SymbolLocation(path, position, parsed.definitions[position] if position >= 0 else _WHOLE_FILE)


def _sort_key(edge: Edge) -> tuple[object, ...]:
    path, definition = edge.endpoint.path, edge.endpoint.definition
    is_other = classify_file(path).role is not FileRole.SOURCE
    return (-edge.confidence, is_other, path, definition.start_line, edge.line)


def edge_finding(
    code: CodeBase, edge: Edge, score: float, reason: str, *, has_text: bool = True, is_call_site: bool = True
) -> Finding:
    """Return the endpoint as a finding: the lines around the call, or the first lines of the definition."""
    place = edge.endpoint
    first, last = place.definition.start_line, place.definition.end_line
    line = edge.line if is_call_site else first
    start, end = (max(first, line - 2), min(last, line + 4)) if last else (line, line)
    text = source_lines(code.read_lines(place.path), start, end) if has_text else ""
    return Finding(
        path=printable_path(place.path),
        title=place.definition.signature,
        symbol=place.definition.symbol,
        kind="reference" if is_call_site else "definition",
        start_line=start,
        end_line=start + text.count("\n") if text else max(end, start),
        score=round(min(max(score, 0.0), 1.0), 4),
        why=reason,
        text=text,
    )
