"""Tells what the words of a text are: names of definitions, parameters, code, documentation, comments or strings.

Invariant: pure functions, linear in the text whatever it is. One pattern for each language family finds comments and
string literals; everything else is code, and all of a file without a language is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

from upbeat.adapters.code.syntax.parsed_file import Definition
from upbeat.core.package_data import load_rows


class WordRole(IntEnum):
    """What one occurrence of a word is part of."""

    NAME = 0
    """The name of a definition, where it is defined."""
    PARAMETER = 1
    """The parameters of a definition, with their types."""
    CODE = 2
    COMMENT = 3
    STRING = 4
    DOC = 5
    """A docstring, the comment at the head of a file, or the comment right above a definition."""


MAX_PARAMETER_CHARS = 2000
MAX_INDENT_CHARS = 200
"""Characters before a docstring in its line."""

_COMPILED = {
    language: re.compile(pattern, re.S)
    for language, pattern in load_rows("upbeat.adapters.code.syntax", "role_patterns.tsv")
}
_QUOTES = ("'", '"', "`")
_TRIPLE_QUOTES = ("'''", '"""')
_GROUP = r"\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\)"
_PARAMETERS = re.compile(
    rf"(?:<[^<>()\n]{{0,200}}>|\[[^\]()\n]{{0,200}}\])?[ \t]?{_GROUP}"
    rf"|[ \t]*[:=][ \t]*(?:async\b[ \t]*)?(?:function\b[^(\n]{{0,60}}{_GROUP}|{_GROUP}(?=[^=\n]{{0,80}}=>))"
)
"""The parameters behind a name, of which three levels of parentheses are read."""


def split_by_role(
    text: str, language: str, definitions: Iterable[Definition], line_starts: Sequence[int]
) -> list[tuple[int, int, WordRole]]:
    """Split ``text`` of a language family into parts (start, end, role), in order and without gaps.

    Of documentation only docstrings are told apart; the others are comments (``document.build_document``).

    Args:
        line_starts: The offset of the first character of each line.
    """
    names = [part for item in definitions for part in _name_and_parameters(text, language, item, line_starts)]
    parts: list[tuple[int, int, WordRole]] = []
    pattern = _COMPILED.get(language)
    done = taken = 0
    for match in pattern.finditer(text) if pattern else ():
        start, end = match.span()
        taken = _add_code(parts, done, start, names, taken)
        parts.append((start, end, _role_of(text, start)))
        done = end
    _add_code(parts, done, len(text), names, taken)
    return parts


def _role_of(text: str, start: int) -> WordRole:
    """Return the role of the comment or string literal at ``start``."""
    if not text.startswith(_QUOTES, start):
        return WordRole.COMMENT
    if text.startswith(_TRIPLE_QUOTES, start):
        before = text[max(start - MAX_INDENT_CHARS, 0) : start].rpartition("\n")[2].strip()
        if not before or before in "rRuU":
            return WordRole.DOC
    return WordRole.STRING


def _add_code(
    parts: list[tuple[int, int, WordRole]], start: int, end: int, names: list[tuple[int, int, WordRole]], taken: int
) -> int:
    """Add the code from ``start`` to ``end`` to ``parts``, divided by ``names``.

    Return the index of the first of ``names`` that does not end before ``end``; those before ``taken`` are done.
    """
    while taken < len(names) and names[taken][0] < end:
        first, last, role = names[taken]
        if last > start:
            if first > start:
                parts.append((start, first, WordRole.CODE))
            parts.append((max(first, start), min(last, end), role))
            start = min(last, end)
            if last > end:
                return taken
        taken += 1
    if start < end:
        parts.append((start, end, WordRole.CODE))
    return taken


def _name_and_parameters(
    text: str, language: str, definition: Definition, line_starts: Sequence[int]
) -> Iterator[tuple[int, int, WordRole]]:
    """Yield where the name of ``definition`` and its parameters are."""
    line, name = definition.start_line, definition.name
    first = line_starts[line - 1]
    last = line_starts[line] if line < len(line_starts) else len(text)
    start = text.find(name, first, last)
    while start > first and _is_word(text[start - 1]):
        start = text.find(name, start + 1, last)
    end = start + len(name)
    if start < 0 or (end < last and _is_word(text[end])):
        return
    yield start, end, WordRole.NAME
    if language == "python" and not text[first:start].rstrip().endswith("def"):
        return
    if parameters := _PARAMETERS.match(text, end, end + MAX_PARAMETER_CHARS):
        yield end, parameters.end(), WordRole.PARAMETER


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()
