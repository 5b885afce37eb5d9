"""Reads one TOML file that a person wrote. Law: it never fails; what is wrong comes back as one sentence.

The sentence names the file; the lines of keys are kept for what others find wrong in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli

from .documents import read_content
from .opening import real_path
from .trust import digest_of

MAX_BYTES = 256 * 1024
MAX_DEPTH = 16
"""Tables and lists inside each other; nothing of ours needs more than four."""

_HEADER = re.compile(r"\s*\[\s*([\w.-]+)\s*\]")
_ASSIGNMENT = re.compile(r"\s*([\w.-]+)\s*=")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A file as read. Without ``problem`` it is whole; ``is_there`` tells an absent file from an empty one."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    digest: str = ""
    problem: str = ""
    is_there: bool = True


def read_toml(path: Path, shown: str = "", inside: str | None = None) -> TomlFile:
    """The file at ``path``, which messages call ``shown``, and which lies in ``inside`` (real), if that is given."""
    name = shown or str(path)
    found = read_content(path, inside, MAX_BYTES)
    if not found.is_there:
        return TomlFile(name, is_there=False)
    if found.problem:
        return TomlFile(name, problem=f"{name}: {found.problem}")
    try:
        text = found.data.decode("utf-8-sig")
        values = tomli.loads(text)
    except UnicodeDecodeError as error:
        return TomlFile(name, problem=f"{name}: not UTF-8 (byte {error.start})")
    except (ValueError, RecursionError) as error:  # tomli's own error is a ValueError
        return TomlFile(name, problem=f"{name}: not valid TOML: {str(error)[:200]}")
    if _is_deep(values):
        return TomlFile(name, problem=f"{name}: tables inside each other more than {MAX_DEPTH} deep")
    return TomlFile(name, values, _lines(text), digest_of(found.data))


def is_own_file(root: str, name: str) -> bool:
    """Whether ``name`` is a regular file that lies in ``root`` (real) itself, wherever links lead."""
    path = os.path.join(root, name)
    return os.path.isfile(path) and Path(real_path(path)).is_relative_to(root)


def _is_deep(values: Mapping[str, Any]) -> bool:
    level: list[Any] = [values]
    for _ in range(MAX_DEPTH):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    found = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in found if isinstance(one, dict | list)]


def _lines(text: str) -> dict[str, int]:
    """The line of each table and key, by its full dotted name; good enough for messages."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = header[1] + "."
            found.setdefault(header[1], number)
        elif assignment := _ASSIGNMENT.match(line):
            found.setdefault(table + assignment[1], number)
    return found
