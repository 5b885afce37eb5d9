"""Whose file an import means.

Law: names are compared with paths, nothing is opened. Where the languages differ the looser reading is taken:
an import that could mean a file does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from posixpath import normpath

from .imports import Import

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
    *((one,) for one in ("rb", "php", "go", "rs", "java", "cs")),
)
"""Extensions whose files can import each other."""
_KIND = {extension: kind for kind in _KINDS for extension in kind}


@lru_cache(maxsize=16384)
def imports_file(importer: str, statement: Import, target: str) -> bool:
    """Whether ``statement`` in the file ``importer`` can mean the file ``target`` (both relative paths)."""
    if _kind(importer) != _kind(target):
        return False
    folder = importer.rpartition("/")[0]
    parts = _module(statement.module, folder)
    goal, package = _target(target)
    if not parts:
        return False
    tails = [parts, *((*parts, name) for name in statement.names if name != "*")]
    return any(_ends_alike(tail, whole) for tail in tails for whole in (goal, package) if whole)


def _kind(path: str) -> tuple[str, ...]:
    extension = path.rpartition(".")[2].lower()
    return _KIND.get(extension, ())


@lru_cache(maxsize=32768)
def _target(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of ``path`` as a module, and as the package that it belongs to."""
    parts = tuple(_EXTENSION.sub("", path).split("/"))
    is_package = parts[-1] in _PACKAGE_FILES or path.endswith(".go")
    return parts, parts[:-1] if is_package else ()


@lru_cache(maxsize=32768)
def _module(module: str, folder: str) -> tuple[str, ...]:
    """The parts of a module's name; a relative one starts at the top of the repository."""
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


def _ends_alike(module: tuple[str, ...], target: tuple[str, ...]) -> bool:
    """Whether one of both ends with the other; a module that begins with an empty part starts at the top."""
    if module[0] == "":
        return module[1:] == target
    size = min(len(module), len(target))
    return bool(size) and module[-size:] == target[-size:]
