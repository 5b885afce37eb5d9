"""Read a TOML file of a user or project. Invariant: it never fails; a problem is returned as one sentence.

The sentence names the file. The line of each key is kept for problems that callers find.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli

from upbeat.adapters.system.config.trust import digest_of
from upbeat.adapters.system.files.bounded_read import read_content
from upbeat.adapters.system.files.safe_open import real_path
from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass, field

MAX_BYTES = 256 * 1024
MAX_DEPTH = 16
"""Nesting of tables and lists; upbeat needs four levels."""

_HEADER = re.compile(r"\s*\[\s*([\w.-]+)\s*\]")
_ASSIGNMENT = re.compile(r"\s*([\w.-]+)\s*=")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A TOML file, complete if ``problem`` is empty."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    digest: str = ""
    problem: str = ""
    exists: bool = True


def read_toml(path: Path, display_name: str = "", containing_root: str | None = None) -> TomlFile:
    """Read ``path``, called ``display_name`` in messages; with ``containing_root`` (real), only from below it."""
    name = display_name or str(path)
    content = read_content(path, containing_root, MAX_BYTES)
    if not content.exists:
        return TomlFile(name, exists=False)
    if content.problem:
        return TomlFile(name, problem=f"{name}: {content.problem}")
    try:
        text = content.data.decode("utf-8-sig")
        values = tomli.loads(text)
    except UnicodeDecodeError as error:
        return TomlFile(name, problem=f"{name}: not UTF-8 (byte {error.start})")
    except (ValueError, RecursionError) as error:  # tomli's error is a ValueError
        return TomlFile(name, problem=f"{name}: not valid TOML: {str(error)[:200]}")
    if _is_too_deep(values):
        return TomlFile(name, problem=f"{name}: tables nested deeper than {MAX_DEPTH} levels")
    return TomlFile(name, values, _line_by_key(text), digest_of(content.data))


def is_own_file(root: str, name: str) -> bool:
    """Return whether ``name`` is a regular file in ``root`` (real), after following links."""
    path = os.path.join(root, name)
    return os.path.isfile(path) and Path(real_path(path)).is_relative_to(root)


def _is_too_deep(values: Mapping[str, Any]) -> bool:
    level: list[Any] = [values]
    for _ in range(MAX_DEPTH):
        inner = (value for outer in level for value in (outer.values() if isinstance(outer, dict) else outer))
        level = [value for value in inner if isinstance(value, dict | list)]
        if not level:
            return False
    return True


def _line_by_key(text: str) -> dict[str, int]:
    """Return the line of each table and key by its dotted name (an approximation for messages)."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = header[1] + "."
            lines.setdefault(header[1], number)
        elif assignment := _ASSIGNMENT.match(line):
            lines.setdefault(table + assignment[1], number)
    return lines
