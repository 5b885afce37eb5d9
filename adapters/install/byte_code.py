"""Compile byte code for upbeat and its dependencies.

Invariant: byte code is written next to its source, completely or not at all. uv and pipx with uv write none when they
install. Python then compiles what each start imports and stores it if it can; a first start takes twice as long. This
compiles everything at once.
"""

from __future__ import annotations

import os
import py_compile
import re
import struct
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
"""The package ``upbeat`` by its import path, unresolved: Python looks for byte code there."""

OWN_EXTRAS = frozenset({"mcp"})
"""Extras that change what upbeat imports at run time; the others are for tests and releases."""

PROGRESS_FILES = 20
"""Files between two reports of progress."""

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_HEADER = 16
"""Bytes before the code: magic number, flags, then the source's time and size, or its hash."""


@dataclass(frozen=True, slots=True)
class CompileResult:
    """What ``compile_missing`` did, in files. ``problem`` says why the ``failed`` ones could not be written."""

    written: int
    failed: int = 0
    problem: str = ""

    @property
    def text(self) -> str:
        """The result for the user, in one or two lines."""
        done = f"byte code: {self.written} files compiled" if self.written else "byte code: nothing left to compile"
        lines = [done if self.written or not self.failed else "byte code: nothing could be compiled"]
        if self.failed:
            lines.append(
                f"{self.failed} files could not be compiled, so each start takes about twice as long: "
                f"{self.problem}; run this again as a user who may write there, or reinstall with byte code "
                "(uv tool install --compile-bytecode, pipx install --backend pip)"
            )
        elif sys.dont_write_bytecode:
            lines.append(
                "PYTHONDONTWRITEBYTECODE is set, so Python stores no byte code: after an update, run this again"
            )
        return "\n".join(lines)


def compile_missing(on_progress: Callable[[int, int], None] | None = None) -> CompileResult:
    """Compile each module of upbeat and its dependencies whose byte code is missing or outdated.

    A file that this version of Python cannot compile is skipped. The first run takes some seconds.
    """
    written = refused = 0
    problems: dict[Path, str] = {}
    sources = list(module_sources())
    for number, source in enumerate(sources):
        if on_progress and number % PROGRESS_FILES == 0:
            on_progress(number, len(sources))
        if _is_current(source):
            continue
        if source.parent in problems:
            refused += _is_python(source)
            continue
        try:
            written += _compile_module(source)
        except OSError as error:
            if not _is_current(source):  # unless another process was faster
                problems[source.parent] = f"{_pyc_path(source).parent} ({error.strerror or error})"
                refused += _is_python(source)
    problem = next(iter(problems.values()), "") if refused else ""
    return CompileResult(written, refused, problem)


def is_compiled_at_each_start(source: Path) -> bool:
    """Return whether Python compiles ``source`` at each import: it has no byte code, and none can be stored."""
    folder = _pyc_path(source).parent
    can_keep = os.access(folder if folder.exists() else source.parent, os.W_OK)
    return not can_keep and not _is_current(source) and _is_python(source)


def module_sources() -> Iterator[Path]:
    """Yield the modules of upbeat and its installed dependencies, each once."""
    own = (  # in a checkout the folders are links
        Path(folder, name)
        for folder, _, names in os.walk(PACKAGE, followlinks=True)
        for name in sorted(names)
        if name.endswith(".py")
    )
    requirements = installed_requirements("upbeat", OWN_EXTRAS)
    yield from dict.fromkeys((*own, *(path for name in requirements for path in _package_modules(name))))


def installed_requirements(name: str, extras: frozenset[str]) -> list[str]:
    """Return ``name`` and its installed dependencies; markers are ignored, since what is installed may be imported."""
    names: dict[str, None] = {}
    ahead, seen = [(name, extras)], {(name, extras)}
    while ahead:
        name, extras = ahead.pop()
        try:
            wanted = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        names[name] = None
        for line in wanted:
            requirement, _, marker = line.partition(";")
            match = _REQUIREMENT.match(requirement.strip())
            asked = set(_EXTRA.findall(marker))
            if not match or (asked and not asked & extras):
                continue
            further = frozenset(word.strip() for word in (match[2] or "").split(",") if word.strip())
            dependency = (normalize_package_name(match[1]), further)
            if dependency not in seen:
                seen.add(dependency)
                ahead.append(dependency)
    return list(names)


def normalize_package_name(name: str) -> str:
    """Return the normalized name of a package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _package_modules(name: str) -> Iterator[Path]:
    """Yield the modules of an installed package from its list of files."""
    distribution = metadata.distribution(name)
    for file in distribution.files or ():
        if file.suffix == ".py" and ".." not in file.parts:
            path = Path(str(distribution.locate_file(file)))
            if path.is_file():
                yield path


def _pyc_path(source: Path) -> Path:
    """Return where Python looks with ``-I``, as hooks are started: next to the source, without PYTHONPYCACHEPREFIX."""
    return source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"


def _is_current(source: Path) -> bool:
    """Return whether Python accepts the byte code of ``source``."""
    try:
        with open(_pyc_path(source), "rb") as file:
            header = file.read(_HEADER)
        status = source.stat()
        if header[:4] != MAGIC_NUMBER or len(header) < _HEADER:
            return False
        flags, changed, size = struct.unpack("<LLL", header[4:])
        if flags == 0:
            return (changed, size) == (int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
        return flags == 0b01 or header[8:] == source_hash(source.read_bytes())
    except OSError:
        return False


def _compile_module(source: Path) -> bool:
    """Write the byte code of ``source``; return False if it cannot be compiled.

    Raises:
        OSError: The byte code cannot be written.
    """
    kind = py_compile.PycInvalidationMode.TIMESTAMP
    try:
        with warnings.catch_warnings(action="ignore"):  # other people's code
            py_compile.compile(str(source), str(_pyc_path(source)), doraise=True, invalidation_mode=kind)
    except (py_compile.PyCompileError, ValueError):
        return False
    return True


def _is_python(source: Path) -> bool:
    """Return whether ``source`` can be compiled."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(source.read_bytes(), str(source), "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return False
    return True
