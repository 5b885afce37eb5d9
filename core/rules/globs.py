"""Globs as in a ``.gitignore``, with braces. Invariant: matching is linear in the path.

``*.ts`` matches at any depth, ``src/*.ts`` in that folder, ``src/**/*.ts`` below it, ``docs`` everything in it;
``{a,b}`` is either, ``!`` excludes what an earlier glob includes, and the last glob that matches decides.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.rules.pattern import compile_bytes

MAX_GLOBS = 100
"""Maximum globs in one rule, after brace expansion."""
MAX_GLOB_CHARS = 500
"""Maximum characters of a glob."""


@dataclass(frozen=True, slots=True)
class Globs:
    """Globs in their order."""

    sources: tuple[str, ...]

    @property
    def program_size(self) -> int:
        """Matching steps per byte of a path."""
        return _program_size(self.sources)

    def match(self, path: str) -> bool:
        """Return whether ``path``, relative to where the globs begin and without a leading slash, matches."""
        data = path.encode("utf-8", "replace")
        is_included = False
        for includes, compiled in _compiled(self.sources):
            if includes is not is_included and compiled.search(data):
                is_included = includes
        return is_included


def split_globs(text: str) -> tuple[str, ...]:
    """Split ``a, b/{c,d}`` into two globs, at the commas outside braces."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return tuple(part.strip() for part in parts if part.strip())


def find_glob_problem(sources: tuple[str, ...]) -> str:
    """Return why ``sources`` are not valid globs; empty if they are."""
    import bracex
    import re2

    for source in sources:
        if len(source) > MAX_GLOB_CHARS:
            return f"a glob is longer than {MAX_GLOB_CHARS} characters"
        if source.startswith("#"):
            return f"{source[:40]!r} is a comment; write \\# for a name that begins with #"
    try:
        _compiled(sources)
    except bracex.ExpansionLimitException:
        return f"expands to more than {MAX_GLOBS} globs"
    except (ValueError, re2.error) as error:
        return f"is not a glob: {str(error)[:120]}"
    return "" if _compiled(sources) else "matches no file"


@lru_cache(maxsize=1024)
def _program_size(sources: tuple[str, ...]) -> int:
    return sum(compiled.programsize for _includes, compiled in _compiled(sources))


@lru_cache(maxsize=1024)
def _compiled(sources: tuple[str, ...]) -> tuple[tuple[bool, Any], ...]:
    """Return (includes, expression) for each glob. Raises ValueError for an invalid one."""
    import bracex
    from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

    expressions = []
    for source in sources:
        for glob in bracex.iexpand(source, keep_escapes=True, limit=MAX_GLOBS):
            regex, includes = GitIgnoreBasicPattern.pattern_to_regex(glob)
            if regex is not None:
                text = regex if isinstance(regex, str) else regex.decode()
                expressions.append((bool(includes), compile_bytes(text.encode("utf-8", "replace"), dot_is_all=True)))
            if len(expressions) > MAX_GLOBS:
                raise ValueError(f"more than {MAX_GLOBS} globs")
    return tuple(expressions)
