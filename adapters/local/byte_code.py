"""Byte code for upbeat and for what it needs. Law: it is written beside its source, whole or not at all.

uv writes none when it installs, nor does pipx where it uses uv. Python then compiles at each start what that start
imports, and keeps it where it may; a first start takes twice as long. This compiles all of it at once.
"""

from __future__ import annotations

import os
import py_compile
import re
import struct
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
"""The package ``upbeat``, by the path it is imported with: not resolved, because byte code lies where Python looks."""

OWN_EXTRAS = frozenset({"mcp"})
"""Extras that change what upbeat imports when it runs; the others are for tests and releases."""

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_HEADER = 16
"""Bytes before the code: magic number, flags, then the source's time and size, or its hash."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What ``compile_missing`` did, in files. ``problem`` says why the ``refused`` ones could not be written."""

    written: int
    current: int
    refused: int = 0
    problem: str = ""

    @property
    def text(self) -> str:
        """For a person, in a line or two."""
        done = f"byte code: {self.written} files compiled" if self.written else "byte code: nothing left to compile"
        lines = [done if self.written or not self.refused else "byte code: nothing could be compiled"]
        if self.refused:
            lines.append(
                f"{self.refused} files stay without, and each start takes about twice as long: "
                f"{self.problem}; run this again as a user who may write there, or install anew with byte code "
                "(uv tool install --compile-bytecode, pipx install --backend pip)"
            )
        elif sys.dont_write_bytecode:
            lines.append(
                "PYTHONDONTWRITEBYTECODE is set, so Python will compile nothing by itself: "
                "after an update, run this again"
            )
        return "\n".join(lines)


def compile_missing() -> Compiled:
    """Compile each module of upbeat and of what it needs that has no byte code for this Python, or an old one.

    A file that is no Python of this version is passed over, as Python does. Takes some seconds the first time.
    """
    written = refused = 0
    problems: dict[Path, str] = {}
    everything = list(sources())
    missing = [source for source in everything if not _is_current(source)]
    for source in missing:
        if source.parent in problems:
            refused += _is_python(source)
            continue
        try:
            written += _compile(source)
        except OSError as error:
            if not _is_current(source):  # unless another process was faster
                problems[source.parent] = f"{_cached(source).parent} ({error.strerror or error})"
                refused += _is_python(source)
    problem = next(iter(problems.values()), "") if refused else ""
    return Compiled(written, len(everything) - len(missing), refused, problem)


def compiles_at_each_start(source: Path) -> bool:
    """Whether Python compiles ``source`` whenever it imports it: it has no byte code, and none can be kept."""
    folder = _cached(source).parent
    can_keep = os.access(folder if folder.exists() else source.parent, os.W_OK)
    return not can_keep and not _is_current(source) and _is_python(source)


def sources() -> Iterator[Path]:
    """The modules of upbeat and of the installed packages that it needs, each once."""
    seen = set()
    for path in (*_own(), *(path for name in requirements("upbeat", OWN_EXTRAS) for path in _modules(name))):
        if path not in seen:
            seen.add(path)
            yield path


def _own() -> Iterator[Path]:
    """The modules of this package; in a checkout its folders are links."""
    for folder, _, names in os.walk(PACKAGE, followlinks=True):
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(".py"))


def requirements(name: str, extras: frozenset[str]) -> list[str]:
    """``name`` and what it needs, as far as it is installed: whatever a marker says, it may be imported."""
    found: dict[str, None] = {}
    ahead, seen = [(name, extras)], {(name, extras)}
    while ahead:
        name, extras = ahead.pop()
        try:
            wanted = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        found[name] = None
        for line in wanted:
            requirement, _, marker = line.partition(";")
            match = _REQUIREMENT.match(requirement.strip())
            asked = set(_EXTRA.findall(marker))
            if not match or (asked and not asked & extras):
                continue
            further = frozenset(word.strip() for word in (match[2] or "").split(",") if word.strip())
            if (one := (normal(match[1]), further)) not in seen:
                seen.add(one)
                ahead.append(one)
    return list(found)


def normal(name: str) -> str:
    """The name of a package as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _modules(name: str) -> Iterator[Path]:
    """The modules of an installed package, by its own list of files."""
    distribution = metadata.distribution(name)
    for file in distribution.files or ():
        if file.suffix == ".py" and ".." not in file.parts:
            path = Path(str(distribution.locate_file(file)))
            if path.is_file():
                yield path


def _cached(source: Path) -> Path:
    """Where Python looks with ``-I``, as hooks are started: beside the source, whatever PYTHONPYCACHEPREFIX says."""
    return source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"


def _is_current(source: Path) -> bool:
    """Whether Python would take the byte code of ``source`` as it is."""
    try:
        with open(_cached(source), "rb") as file:
            header = file.read(_HEADER)
        about = source.stat()
        if header[:4] != MAGIC_NUMBER or len(header) < _HEADER:
            return False
        flags, changed, size = struct.unpack("<LLL", header[4:])
        if flags == 0:
            return (changed, size) == (int(about.st_mtime) & 0xFFFFFFFF, about.st_size & 0xFFFFFFFF)
        return flags == 0b01 or header[8:] == source_hash(source.read_bytes())
    except OSError:
        return False


def _compile(source: Path) -> bool:
    """Write the byte code of ``source`` and then rename it into place; False if it is no Python.

    Raises:
        OSError: it cannot be written.
    """
    kind = py_compile.PycInvalidationMode.TIMESTAMP
    try:
        with warnings.catch_warnings(action="ignore"):  # other people's code
            py_compile.compile(str(source), str(_cached(source)), doraise=True, invalidation_mode=kind)
    except (py_compile.PyCompileError, ValueError):
        return False
    return True


def _is_python(source: Path) -> bool:
    """Whether ``source`` can be compiled at all."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(source.read_bytes(), str(source), "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return False
    return True
