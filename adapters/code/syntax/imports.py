"""Parses import statements into modules and names, and resolves them to files.

Invariant: no pattern reads beyond the statement. Names are compared with paths; no file is opened, and an import that
can mean a file is taken to mean it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from operator import eq
from posixpath import normpath


@dataclass(frozen=True, slots=True)
class Import:
    """One module that is imported on ``line``, and the names imported from it (``*`` for all)."""

    module: str
    names: tuple[str, ...]
    line: int


MAX_NAMES = 60

_WORD = re.compile(r"[A-Za-z_$][\w$]*|\*")
_STRING = re.compile(r"""["'`<]([^"'`<>\n]{1,300})["'`>]""")
_PY_FROM = re.compile(r"from\s+([.\w]+)\s+import\s+(.*)", re.S)
_COMMENT = re.compile(r"#[^\n]*")
_RUST_USE = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?use\s+(.*?);?$", re.S)
_RUST_MOD = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;$")
_JAVA = re.compile(r"import\s+(?:static\s+)?([\w.]+?)(?:\.(\*))?\s*;?$")
_C_SHARP = re.compile(r"^(?:global\s+)?using\s+(?:static\s+)?(?:\w+\s*=\s*)?([\w.]+)\s*;?$")
_PHP_USE = re.compile(r"use\s+(?:function\s+|const\s+)?(.*?);?$", re.S)
_SHELL = re.compile(r"""^(?:source|\.)\s+["']?([^\s"';]+)""")


def parse_import(language: str, text: str, line: int) -> list[Import]:
    """Return the modules that the statement ``text`` of ``language`` (a grammar's name) imports."""
    text = text.strip()
    imported: _Imported = []
    if language in _PARSERS:
        imported = _PARSERS[language](text)
    elif language in _PATTERNS:
        pattern, names = _PATTERNS[language]
        match = pattern.search(text)
        imported = [(match.group(1), list(names))] if match else []
    return [Import(module[:300], tuple(names)[:MAX_NAMES], line) for module, names in imported if module]


_Imported = list[tuple[str, list[str]]]


def _imported_names(names: str) -> list[str]:
    """Return the names in a list such as ``a, b as c``, as the module calls them."""
    parts = (part.strip().removeprefix("type ").split() for part in names.replace("\n", " ").split(","))
    return [part[0] for part in parts if part and _WORD.fullmatch(part[0])]


def _python(text: str) -> _Imported:
    text = _COMMENT.sub("", text)
    match = _PY_FROM.match(text)
    if match:
        return [(match.group(1), _imported_names(match.group(2).strip(" ()\n\\").replace("\\", " ")))]
    modules = text.removeprefix("import").split(",")
    return [(part.split()[0], []) for part in modules if part.split()]


def _javascript(text: str) -> _Imported:
    module = _STRING.search(text[text.find(" from ") + 1 :] if " from " in text else text)
    is_statement = text.startswith("import") or (text.startswith("export") and " from " in text)
    if not module or not (is_statement or text.startswith("require")):
        return []
    head = text[: text.find(" from ")] if " from " in text else ""
    braces = re.search(r"\{([^}]*)\}", head)
    names = _imported_names(braces.group(1)) if braces else []
    outside = re.sub(r"\{[^}]*\}", " ", head).removeprefix("import").removeprefix("export")
    if word := re.match(r"\s*(?:type\s+)?([A-Za-z_$][\w$]*)", outside.replace("type ", "", 1)):
        names.append(word.group(1))
    if "*" in outside:
        names.append("*")
    return [(module.group(1), names)]


def _rust(text: str) -> _Imported:
    module = _RUST_MOD.match(text)
    if module:
        return [("self::" + module.group(1), ["*"])]
    use = _RUST_USE.match(text)
    return _use_tree(re.sub(r"\s+", " ", use.group(1)), "", 0) if use else []


def _use_tree(tree: str, prefix: str, depth: int) -> _Imported:
    """Return a tree such as ``a::{b, c::d as e}`` as one module for each group of names."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path = prefix + tree.split(" as ")[0].strip()
        module, _, name = path.rpartition("::")
        return [(module, [name])] if module else [(name, [])]
    if depth > 6:
        return []
    inner = rest.rpartition("}")[0]
    merged: dict[str, list[str]] = {}
    for part in _split_outside_braces(inner):
        for module, names in _use_tree(part, prefix + head.strip(), depth + 1):
            merged.setdefault(module, []).extend(names)
    return list(merged.items())


def _split_outside_braces(text: str) -> list[str]:
    """Split ``text`` at the commas outside braces."""
    parts: list[str] = []
    depth = start = 0
    for index, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [part for part in (*parts, text[start:]) if part.strip()][:MAX_NAMES]


def _java(text: str) -> _Imported:
    match = _JAVA.match(text)
    if not match:
        return []
    module, _, name = match.group(1).rpartition(".")
    return [(match.group(1), ["*"])] if match.group(2) else [(module or name, [name])]


def _ruby(text: str) -> _Imported:
    module = _STRING.search(text)
    if not module:
        return []
    return [(("./" if text.startswith("require_relative") else "") + module.group(1), [])]


def _php(text: str) -> _Imported:
    if not text.startswith("use"):
        path_match = _STRING.search(text)
        return [(path_match.group(1), [])] if path_match else []
    use = _PHP_USE.match(text)
    imported: _Imported = []
    for part in _split_outside_braces(use.group(1)) if use else []:
        head, brace, rest = part.partition("{")
        if brace:
            imported.append((head.strip().strip("\\"), _imported_names(rest.rpartition("}")[0])))
        else:
            path = part.split(" as ")[0].strip().strip("\\")
            module, _, name = path.rpartition("\\")
            imported.append((module or name, [name]))
    return imported


_PARSERS: dict[str, Callable[[str], _Imported]] = {
    "java": _java,
    "javascript": _javascript,
    "php": _php,
    "python": _python,
    "ruby": _ruby,
    "rust": _rust,
    "tsx": _javascript,
    "typescript": _javascript,
}
_PATTERNS: dict[str, tuple[re.Pattern[str], tuple[str, ...]]] = {
    "bash": (_SHELL, ()),
    "c": (_STRING, ()),
    "c-sharp": (_C_SHARP, ("*",)),
    "cpp": (_STRING, ()),
    "go": (_STRING, ()),
}
"""How other languages name one module, and the names that they import from it."""


_PACKAGE_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})
_LEADING = frozenset({"crate", "self", "super", "", "~", "@"})
_CUT = re.compile(r"[./\\:]+")
_EXTENSION = re.compile(
    r"\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|mts|cts|h|hh|hpp|hxx|c|cc|cpp|rb|php|sh|bash|go|rs|java|cs)$", re.I
)
_KINDS = (
    ("py", "pyi"),
    ("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"),
    ("h", "hh", "hpp", "hxx", "c", "cc", "cpp"),
    ("sh", "bash"),
    *((extension,) for extension in ("rb", "php", "go", "rs", "java", "cs")),
)
"""Extensions whose files can import each other."""
_KIND = {extension: kind for kind in _KINDS for extension in kind}


@lru_cache(maxsize=16384)
def may_import(importer: str, statement: Import, target: str) -> bool:
    """Return whether ``statement`` in the file ``importer`` can mean the file ``target`` (both relative paths).

    The module ends with the file or the file with the module; a relative module must match completely.
    """
    if _importable_extensions(importer) != _importable_extensions(target):
        return False
    folder = importer.rpartition("/")[0]
    parts = _module_parts(statement.module, folder)
    goal, package = _target_parts(target)
    if not parts:
        return False
    tails = [parts, *((*parts, name) for name in statement.names if name != "*")]
    return any(
        tail[1:] == whole if tail[0] == "" else all(map(eq, reversed(tail), reversed(whole)))
        for tail in tails
        for whole in (goal, package)
        if whole
    )


def _importable_extensions(path: str) -> tuple[str, ...]:
    extension = path.rpartition(".")[2].lower()
    return _KIND.get(extension, ())


@lru_cache(maxsize=32768)
def _target_parts(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parts of ``path`` as a module, and as the package that it represents."""
    parts = tuple(_EXTENSION.sub("", path).split("/"))
    is_package = parts[-1] in _PACKAGE_FILES or path.endswith(".go")
    return parts, parts[:-1] if is_package else ()


@lru_cache(maxsize=32768)
def _module_parts(module: str, folder: str) -> tuple[str, ...]:
    """Return the parts of a module's name; those of a relative one begin with "" at the repository root."""
    written = _EXTENSION.sub("", module)
    dots = len(written) - len(written.lstrip("."))
    if dots and "/" in written:
        path = normpath(f"{folder or '.'}/{written}")
        return ("", *path.split("/")) if not path.startswith("..") else ()
    if dots:
        up = folder.split("/")[: len(folder.split("/")) - dots + 1] if folder else []
        return ("", *(part for part in up if part), *(part for part in _CUT.split(written) if part))
    parts = _CUT.split(written.removeprefix("self::"))
    while parts and parts[0] in _LEADING:
        parts = parts[1:]
    return tuple(part for part in parts if part)
