"""What one import statement brings in.

Law: one statement's text in, modules and names out; no pattern can look further than the statement. The module
is as written: whose file that is, ``resolve`` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Import:
    """One module that is imported on ``line``, and the names taken from it (``*`` for all)."""

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
_C_SHARP = re.compile(r"(?:global\s+)?using\s+(?:static\s+)?(?:\w+\s*=\s*)?([\w.]+)\s*;?$")
_PHP_USE = re.compile(r"use\s+(?:function\s+|const\s+)?(.*?);?$", re.S)
_SHELL = re.compile(r"""(?:source|\.)\s+["']?([^\s"';]+)""")


def read_import(language: str, text: str, line: int) -> list[Import]:
    """The modules that the statement ``text`` of ``language`` (a grammar's name) imports; empty when it does not."""
    reader = _READERS.get(language)
    found = reader(text.strip()) if reader else []
    return [Import(module[:300], tuple(names)[:MAX_NAMES], line) for module, names in found if module]


_Found = list[tuple[str, list[str]]]


def _plain(names: str) -> list[str]:
    """The names of a list such as ``a, b as c``: what the module calls them."""
    parts = (part.strip().removeprefix("type ").split() for part in names.replace("\n", " ").split(","))
    return [part[0] for part in parts if part and _WORD.fullmatch(part[0])]


def _python(text: str) -> _Found:
    text = _COMMENT.sub("", text)
    found = _PY_FROM.match(text)
    if found:
        return [(found.group(1), _plain(found.group(2).strip(" ()\n\\").replace("\\", " ")))]
    modules = text.removeprefix("import").split(",")
    return [(part.split()[0], []) for part in modules if part.split()]


def _javascript(text: str) -> _Found:
    module = _STRING.search(text[text.find(" from ") + 1 :] if " from " in text else text)
    is_statement = text.startswith("import") or (text.startswith("export") and " from " in text)
    if not module or not (is_statement or text.startswith("require")):
        return []
    head = text[: text.find(" from ")] if " from " in text else ""
    braces = re.search(r"\{([^}]*)\}", head)
    names = _plain(braces.group(1)) if braces else []
    outside = re.sub(r"\{[^}]*\}", " ", head).removeprefix("import").removeprefix("export")
    if word := re.match(r"\s*(?:type\s+)?([A-Za-z_$][\w$]*)", outside.replace("type ", "", 1)):
        names.append(word.group(1))
    if "*" in outside:
        names.append("*")
    return [(module.group(1), names)]


def _go(text: str) -> _Found:
    module = _STRING.search(text)
    return [(module.group(1), [])] if module else []


def _rust(text: str) -> _Found:
    module = _RUST_MOD.match(text)
    if module:
        return [("self::" + module.group(1), ["*"])]
    use = _RUST_USE.match(text)
    return _use_tree(re.sub(r"\s+", " ", use.group(1)), "", 0) if use else []


def _use_tree(tree: str, prefix: str, depth: int) -> _Found:
    """A tree such as ``a::{b, c::d as e}`` as one module for each group of names."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path = prefix + tree.split(" as ")[0].strip()
        module, _, name = path.rpartition("::")
        return [(module, [name])] if module else [(name, [])]
    if depth > 6:
        return []
    inner = rest.rpartition("}")[0]
    found: _Found = []
    for part in _parts(inner):
        found += _use_tree(part, prefix + head.strip(), depth + 1)
    merged: dict[str, list[str]] = {}
    for module, names in found:
        merged.setdefault(module, []).extend(names)
    return list(merged.items())


def _parts(text: str) -> list[str]:
    """``text`` cut at the commas that stand in no braces."""
    parts: list[str] = []
    depth = start = 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part for part in (*parts, text[start:]) if part.strip()][:MAX_NAMES]


def _java(text: str) -> _Found:
    found = _JAVA.match(text)
    if not found:
        return []
    module, _, name = found.group(1).rpartition(".")
    return [(found.group(1), ["*"])] if found.group(2) else [(module or name, [name])]


def _c(text: str) -> _Found:
    return _go(text)


def _c_sharp(text: str) -> _Found:
    found = _C_SHARP.match(text)
    return [(found.group(1), ["*"])] if found else []


def _ruby(text: str) -> _Found:
    module = _STRING.search(text)
    if not module:
        return []
    return [(("./" if text.startswith("require_relative") else "") + module.group(1), [])]


def _php(text: str) -> _Found:
    if not text.startswith("use"):
        return _go(text)
    use = _PHP_USE.match(text)
    found: _Found = []
    for part in _parts(use.group(1)) if use else []:
        head, brace, rest = part.partition("{")
        if brace:
            found.append((head.strip().strip("\\"), _plain(rest.rpartition("}")[0])))
        else:
            path = part.split(" as ")[0].strip().strip("\\")
            module, _, name = path.rpartition("\\")
            found.append((module or name, [name]))
    return found


def _shell(text: str) -> _Found:
    found = _SHELL.match(text)
    return [(found.group(1), [])] if found else []


_READERS: dict[str, Callable[[str], _Found]] = {
    "bash": _shell,
    "c": _c,
    "c-sharp": _c_sharp,
    "cpp": _c,
    "go": _go,
    "java": _java,
    "javascript": _javascript,
    "php": _php,
    "python": _python,
    "ruby": _ruby,
    "rust": _rust,
    "tsx": _javascript,
    "typescript": _javascript,
}
