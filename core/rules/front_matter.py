"""Reads the front matter of a Markdown file: YAML, and what people write who take it for YAML.

``globs: **/*.ts, *.tsx`` is none, nor is ``pattern: [a-z]+ x``: a key whose value is not valid YAML has the text that
stands behind the colon. Every scalar is text as written; whoever asks for a key knows its type. Law: never raises,
takes time in proportion to the text, and expands nothing: an anchor, an alias or a tag is text like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_FRONT = 16_384
"""Characters of front matter."""
MAX_DEPTH = 4
"""Lists and tables inside each other; the rules of others need two."""

_FENCE = re.compile(r"---[ \t]*")
_KEY = re.compile(r"([A-Za-z_][\w.-]{0,63})[ \t]*:(?=[ \t]|$)[ \t]*")
_PLAIN = re.compile(r"([ \t]*(?:-[ \t]+)?(?:[A-Za-z_][\w.-]{0,63}[ \t]*:[ \t]+|(?<=- )))(?![|>\[])(\S.*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_EMPTY = ("", "~", "null")

Value = str | list[Any] | dict[str, Any]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands between the lines ``---``: values by key, and the line of each. ``body`` is the rest, trimmed.

    ``problems`` are (line, sentence). ``is_there`` tells a file without front matter from one with an empty one.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    body: str = ""
    problems: tuple[tuple[int, str], ...] = ()
    is_there: bool = True


class _NotYaml(Exception):
    """It is no YAML of the kind that is read here."""


def read(text: str, *, is_raw: bool = False) -> FrontMatter:
    """The front matter of ``text``. With ``is_raw`` a line's value is what stands there, without quotes."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or not _FENCE.fullmatch(lines[0]):
        return FrontMatter(body=text.strip(), is_there=False)
    end = next((number for number, line in enumerate(lines[1:], start=1) if _FENCE.fullmatch(line)), None)
    if end is None:
        return FrontMatter(problems=((1, "the front matter does not end: a line --- is missing"),))
    if sum(map(len, lines[1:end])) > MAX_FRONT:
        return FrontMatter(problems=((1, f"the front matter is longer than {MAX_FRONT} characters"),))
    return _of_lines(lines[1:end], "\n".join(lines[end + 1 :]).strip(), is_raw=is_raw)


def _of_lines(lines: Sequence[str], body: str, *, is_raw: bool) -> FrontMatter:
    values: dict[str, Value] = {}
    places: dict[str, int] = {}
    problems: list[tuple[int, str]] = []
    for number, key, chunk in _chunks(lines):
        if not key:
            problems.append((number, "is neither a key with a colon nor what belongs to one"))
        elif key in values:
            problems.append((number, f"{key} stands twice"))
        else:
            places[key] = number
            values[key] = _value(key, chunk, is_raw=is_raw)
    return FrontMatter(values, places, body, tuple(problems))


def _chunks(lines: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
    """(line in the file, key, its lines) of each key; without a key what belongs to none."""
    start, key, chunk = 0, "", [""][:0]
    for number, line in enumerate(lines, start=2):
        is_more = not line.strip() or line[0] in " \t-#"
        found = None if is_more else _KEY.match(line)
        if is_more and key:
            chunk.append(line)
        elif found:
            if key:
                yield start, key, chunk
            start, key, chunk = number, found[1], [line]
        elif line.strip() and not line.lstrip().startswith("#"):
            if key:
                yield start, key, chunk
            key = ""
            yield number, "", [line]
    if key:
        yield start, key, chunk


def _value(key: str, chunk: Sequence[str], *, is_raw: bool) -> Value:
    """The value of one key."""
    import yaml

    try:
        found = _built("\n".join(map(_quoted, chunk) if is_raw else chunk))
    except (yaml.YAMLError, _NotYaml, ValueError):
        return _as_written(chunk)
    value: Value | None = found.get(key) if isinstance(found, dict) and len(found) == 1 else None
    return _as_written(chunk) if value is None else value


def _as_written(chunk: Sequence[str]) -> Value:
    """What stands behind the colon; of the lines below it each item."""
    first = _KEY.sub("", chunk[0], count=1).strip()
    rest = [line for line in chunk[1:] if line.strip() and not line.lstrip().startswith("#")]
    items = [found[1] for line in rest if (found := _ITEM.fullmatch(line))]
    if not first and items and len(items) == len(rest):
        return [_unquoted(item) for item in items]
    return _unquoted(" ".join([first, *(line.strip() for line in rest)]).strip())


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _quoted(line: str) -> str:
    """``line`` with its value in single quotes, in which YAML knows no escapes."""
    found = _PLAIN.fullmatch(line)
    return line if found is None else found[1] + "'" + _unquoted(found[2]).replace("'", "''") + "'"


def _built(text: str) -> Value:
    """The value of a YAML document, its scalars as text. Raises ``yaml.YAMLError`` or ``_NotYaml`` for what is none."""
    import yaml

    stack: list[Any] = [[]]
    keys: list[str | None] = [None]
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise _NotYaml
        if isinstance(event, yaml.ScalarEvent):
            _add(stack, keys, _scalar(event.value, event.style))
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            made: Value = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            _add(stack, keys, made)
            stack.append(made)
            keys.append(None)
            if len(stack) > MAX_DEPTH + 1:
                raise _NotYaml
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            stack.pop()
            keys.pop()
    if len(stack[0]) != 1:
        raise _NotYaml
    built: Value = stack[0][0]
    return built


def _add(stack: list[Any], keys: list[str | None], value: Value) -> None:
    """Put ``value`` into what is being built; in a table every other one is a key."""
    inside = stack[-1]
    if isinstance(inside, list):
        inside.append(value)
    elif keys[-1] is None:
        if not isinstance(value, str) or value in inside:
            raise _NotYaml
        keys[-1] = value
    else:
        inside[keys[-1]] = value
        keys[-1] = None


def _scalar(text: str, style: str | None) -> str:
    return "" if not style and text.lower() in _EMPTY else text
