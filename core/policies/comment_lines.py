"""Finds comments in source text by the ending of the file's name, line by line and without a grammar.

Law: rather miss a comment than take something else for one. A comment is a line of its own, or stands behind code
that holds no quote; documentation (``///``, ``/**``, text in triple quotes) is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MAX_CHARS = 40_000
"""Characters of a text that are read."""

MAX_COMMENTS = 200
"""Comments of a text that are told."""

_HASH, _SLASHES, _DASHES = "#", "//", "--"
_BY_ENDING: Mapping[str, str] = {
    **dict.fromkeys(
        ("py", "pyi", "rb", "sh", "bash", "zsh", "yml", "yaml", "toml", "pl", "ex", "exs", "jl", "r"), _HASH
    ),
    **dict.fromkeys(
        ("js", "jsx", "mjs", "cjs", "ts", "tsx", "java", "kt", "kts", "go", "rs", "c", "h", "cc"), _SLASHES
    ),
    **dict.fromkeys(("cpp", "hpp", "cs", "swift", "scala", "php", "dart", "groovy", "scss", "proto", "zig"), _SLASHES),
    **dict.fromkeys(("sql", "lua", "hs"), _DASHES),
}
_READERS = {
    _HASH: re.compile(r"^([^\n'\"#]*)#(?![!{\[:])(.*)$", re.MULTILINE),
    _SLASHES: re.compile(r"^([^\n'\"`/]*)(?://(?![/!])(.*)|/\*(?![*!])(.*)\*/[ \t]*)$", re.MULTILINE),
    _DASHES: re.compile(r"^([^\n'\"-]*)--(?![\[|])(.*)$", re.MULTILINE),
}
_FENCES = ('"""', "'''")


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment. ``line`` counts from 1; ``lines`` is how many follow each other, and ``text`` is all of them.

    ``code`` is what it stands behind, or else the next line that is not empty; ``has_code`` where it stands behind.
    """

    line: int
    text: str
    code: str
    lines: int = 1
    has_code: bool = False


def comments(path: str, text: str) -> tuple[Comment, ...]:
    """The comments in ``text``, which is, or belongs into, the file at ``path``; none for an ending nobody knows."""
    marker = _BY_ENDING.get(path.rpartition("/")[2].rpartition(".")[2].lower(), "")
    return tuple(_found(text[:MAX_CHARS], marker)) if marker and (marker in text or marker is _SLASHES) else ()


def _found(text: str, marker: str) -> Iterator[Comment]:
    run: list[tuple[int, str]] = []
    end, line, at, count = -1, 1, 0, 0
    for match in _READERS[marker].finditer(text):
        if _is_quoted(text, match.start(), marker):
            continue
        line, at = line + text.count("\n", at, match.start()), match.start()
        said, before = (match[2] or match[3 if marker is _SLASHES else 2] or "").strip(), match[1].strip()
        if run and (before or match.start() != end + 1):
            yield _run(run, text, end)
            run = []
            count += 1
        if count >= MAX_COMMENTS:
            return
        if before:
            yield Comment(line, said, before, has_code=True)
            count += 1
        else:
            run.append((line, said))
            end = match.end()
    if run:
        yield _run(run, text, end)


def _run(run: list[tuple[int, str]], text: str, end: int) -> Comment:
    rest = text[end : end + 2000].lstrip()
    return Comment(run[0][0], "\n".join(said for _line, said in run), rest.partition("\n")[0].strip(), len(run))


def _is_quoted(text: str, place: int, marker: str) -> bool:
    """Whether ``place`` lies in a text in triple quotes."""
    return marker is _HASH and any(text.count(fence, 0, place) % 2 for fence in _FENCES if fence in text)
