"""Which files a rule is about: globs as in a ``.gitignore``, and braces. Law: linear in the path, whatever the glob is.

``*.ts`` stands at any depth, ``src/*.ts`` in that folder, ``src/**/*.ts`` below it, ``docs`` for all that is in it;
``{a,b}`` is either, ``!`` takes out again what a glob before it took in, and the last one that matches counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .pattern import compile_bytes

MAX_GLOBS = 100
"""Globs in one rule, after the braces are written out."""
MAX_GLOB = 500
"""Characters of one glob."""


@dataclass(frozen=True, slots=True)
class Globs:
    """Globs in their order."""

    sources: tuple[str, ...]

    @property
    def size(self) -> int:
        """Steps that all of them may take for one byte of a path."""
        return _size(self.sources)

    def match(self, path: str) -> bool:
        """Whether ``path`` is meant: relative to where the globs begin, with ``/``, without one in front."""
        data = path.encode("utf-8", "replace")
        found = False
        for takes_in, compiled in _compiled(self.sources):
            if takes_in is not found and compiled.search(data):
                found = takes_in
        return found


def split(text: str) -> tuple[str, ...]:
    """``a, b/{c,d}`` as two globs: the commas outside of braces divide."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return tuple(part.strip() for part in parts if part.strip())


def problem_of(sources: tuple[str, ...]) -> str:
    """Why ``sources`` are no globs; empty for those that are."""
    import bracex
    import re2

    for source in sources:
        if len(source) > MAX_GLOB:
            return f"a glob is longer than {MAX_GLOB} characters"
        if source.startswith("#"):
            return f"{source[:40]!r} is a comment; write \\# for a name that begins so"
    try:
        _compiled(sources)
    except bracex.ExpansionLimitException:
        return f"comes to more than {MAX_GLOBS} globs"
    except (ValueError, re2.error) as error:
        return f"is no glob: {str(error)[:120]}"
    return "" if _compiled(sources) else "names no file"


@lru_cache(maxsize=1024)
def _size(sources: tuple[str, ...]) -> int:
    return sum(compiled.programsize for _takes_in, compiled in _compiled(sources))


@lru_cache(maxsize=1024)
def _compiled(sources: tuple[str, ...]) -> tuple[tuple[bool, Any], ...]:
    """(whether it takes in, expression) of each glob. Raises ValueError for what is none."""
    import bracex
    from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

    found = []
    for source in sources:
        for glob in bracex.iexpand(source, keep_escapes=True, limit=MAX_GLOBS):
            regex, takes_in = GitIgnoreBasicPattern.pattern_to_regex(glob)
            if regex is not None:
                text = regex if isinstance(regex, str) else regex.decode()
                found.append((bool(takes_in), compile_bytes(text.encode("utf-8", "replace"), dot_is_all=True)))
            if len(found) > MAX_GLOBS:
                raise ValueError(f"more than {MAX_GLOBS} globs")
    return tuple(found)
