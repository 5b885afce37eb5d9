"""Find comments in source text by file extension, line by line and without a grammar.

Invariant: it misses a comment rather than reporting something else. A comment is on a line of its own or follows code
without quotes; documentation (``///``, ``/**``, triple-quoted text) does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_CHARS = 40_000

MAX_COMMENTS = 200

_HASH, _SLASHES, _DASHES = "#", "//", "--"
_SUFFIXES_BY_MARKER = {
    _HASH: "py pyi rb sh bash zsh yml yaml toml pl ex exs jl r",
    _SLASHES: "js jsx mjs cjs ts tsx java kt kts go rs c h cc cpp hpp cs swift scala php dart groovy scss proto zig",
    _DASHES: "sql lua hs",
}
_MARKERS_BY_SUFFIX = {suffix: marker for marker, names in _SUFFIXES_BY_MARKER.items() for suffix in names.split()}
_COMMENT_PATTERNS = {
    _HASH: re.compile(r"^([^\n'\"#]*)#(?![!{\[:])(.*)$", re.MULTILINE),
    _SLASHES: re.compile(r"^([^\n'\"`/]*)(?://(?![/!])(.*)|/\*(?![*!])(.*)\*/[ \t]*)$", re.MULTILINE),
    _DASHES: re.compile(r"^([^\n'\"-]*)--(?![\[|])(.*)$", re.MULTILINE),
}
_TRIPLE_QUOTES = ('"""', "'''")


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment. ``line`` counts from 1; ``text`` is all of its ``line_count`` consecutive lines.

    ``adjacent_code`` precedes a trailing comment, else it is the next non-empty line.
    """

    line: int
    text: str
    adjacent_code: str
    line_count: int = 1
    is_trailing: bool = False


def find_comments(path: str, text: str) -> tuple[Comment, ...]:
    """Return the comments in ``text``, which belongs to the file at ``path``; empty for unknown extensions."""
    marker = _MARKERS_BY_SUFFIX.get(path.rpartition("/")[2].rpartition(".")[2].lower(), "")
    return tuple(_iter_comments(text[:MAX_CHARS], marker)) if marker and (marker in text or marker is _SLASHES) else ()


def _iter_comments(text: str, marker: str) -> Iterator[Comment]:
    run: list[tuple[int, str]] = []
    end, line, start, count = -1, 1, 0, 0
    for match in _COMMENT_PATTERNS[marker].finditer(text):
        if marker is _HASH and any(
            text.count(fence, 0, match.start()) % 2 for fence in _TRIPLE_QUOTES if fence in text
        ):
            continue  # in triple-quoted text
        line, start = line + text.count("\n", start, match.start()), match.start()
        comment, code = (match[2] or match[3 if marker is _SLASHES else 2] or "").strip(), match[1].strip()
        if run and (code or match.start() != end + 1):
            yield _join_comment_lines(run, text, end)
            run = []
            count += 1
        if count >= MAX_COMMENTS:
            return
        if code:
            yield Comment(line, comment, code, is_trailing=True)
            count += 1
        else:
            run.append((line, comment))
            end = match.end()
    if run:
        yield _join_comment_lines(run, text, end)


def _join_comment_lines(comment_lines: list[tuple[int, str]], text: str, end: int) -> Comment:
    rest = text[end : end + 2000].lstrip()
    return Comment(
        comment_lines[0][0],
        "\n".join(comment for _line, comment in comment_lines),
        rest.partition("\n")[0].strip(),
        len(comment_lines),
    )
