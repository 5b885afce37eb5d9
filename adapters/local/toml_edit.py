"""Edits the text of a TOML file that a person may have written. Law: what is not asked for stays, byte by byte.

Only whole tables under a header of their own are put in and dropped, at the end of the text where they are new. A
real parser reads the result before it counts: it has to say exactly the old things and what was asked for. Where no
edit does that (an inline table in the way, values that cannot be told from their comments), ``NotEditable`` says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import tomli

from .json_edit import NotEditable

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_VALUE = re.compile(
    r"""
    (?P<named> [ \t]* (?P<key> [A-Za-z0-9_-]+ ) [ \t]*=[ \t]* )
    (?: "(?:[^"\\]|\\.)*" | '[^']*' | \w+ )
    (?= [ \t]* (?: \# | \r?$ ) )
    """,
    re.VERBOSE,
)
"""A key and its value on one line, before a comment."""


def read(text: str) -> dict[str, Any]:
    """The values in ``text``. Raises NotEditable."""
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        raise NotEditable(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except ValueError as error:
        raise NotEditable("a number with too many digits") from error
    except RecursionError as error:
        raise NotEditable("too many values inside each other") from error


def put(text: str, place: Sequence[str], value: Mapping[str, Any]) -> str:
    """``text`` with the table ``value`` (strings and booleans) at ``place``, a path of keys. Raises NotEditable."""
    old = read(text)
    expected = _with(old, place, value)
    if same(old, expected):
        return text
    for new in (*_rewritten(text, place, value), _appended(text, place, value)):
        if _says(new, expected):
            return new
    way_out = f"write it yourself, under [{_header(place)}]: {', '.join(_lines(value))}"
    raise NotEditable(f"{_header(place)} cannot be put in without touching other lines; {way_out}")


def drop(text: str, place: Sequence[str]) -> str:
    """``text`` without the table at ``place``; as it is when there is none. Raises NotEditable."""
    old = read(text)
    if not _has(old, place):
        return text
    expected = _without(old, place)
    for new in _cut(text, place):
        if any(_says(new, each) for each in expected):
            return new
    raise NotEditable(f"{_header(place)} cannot be taken out without touching other lines; take it out yourself")


def is_blank(text: str) -> bool:
    """Whether nothing would be lost with ``text``."""
    return text.strip() == ""


def _appended(text: str, place: Sequence[str], value: Mapping[str, Any]) -> str:
    end = _line_end(text)
    lines = [f"[{_header(place)}]", *_lines(value)]
    if text:
        lines.insert(0, "")
    before = text if not text or text.endswith("\n") else text + end
    return before + "".join(line + end for line in lines)


def _rewritten(text: str, place: Sequence[str], value: Mapping[str, Any]) -> Iterator[str]:
    """The table under its header with other values; comments stay."""
    lines = text.splitlines(keepends=True)
    for start, stop in _tables(lines, place):
        missing, table = dict(value), []
        for line in lines[start + 1 : stop]:
            found = _VALUE.match(line)
            if found and found["key"] in value:
                line = found["named"] + _written(value[found["key"]]) + line[found.end() :]
                missing.pop(found["key"], None)
            table.append(line)
        header = lines[start] if lines[start].endswith("\n") else lines[start] + _line_end(text)
        added = [line + _line_end(text) for line in _lines(missing)]
        yield "".join([*lines[:start], header, *added, *table, *lines[stop:]])


def _cut(text: str, place: Sequence[str]) -> Iterator[str]:
    """The text without the table's header and values, and without one empty line before them."""
    lines = text.splitlines(keepends=True)
    for start, stop in _tables(lines, place):
        while stop > start + 1 and (not lines[stop - 1].strip() or lines[stop - 1].lstrip().startswith("#")):
            stop -= 1
        first = start - 1 if start and not lines[start - 1].strip() else start
        yield "".join([*lines[:first], *lines[stop:]])
        yield "".join([*lines[:start], *lines[stop:]])


def _tables(lines: Sequence[str], place: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the header of ``place`` may stand, and where the next header does: a line of a text in several lines may
    look like one."""
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    for number in headers:
        if _place_of(lines[number]) == list(place):
            yield number, next((other for other in headers if other > number), len(lines))


def _place_of(line: str) -> list[str] | None:
    """The path of keys in a header."""
    try:
        found = tomli.loads(line)
    except (tomli.TOMLDecodeError, RecursionError):
        return None
    place: list[str] = []
    level: Any = found
    while isinstance(level, dict) and len(level) == 1:
        [(key, level)] = level.items()
        place.append(key)
    return place if level == {} else None


def _says(text: str, expected: Mapping[str, Any]) -> bool:
    try:
        return same(read(text), expected)
    except NotEditable:
        return False


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same, and of the same kinds: 1 is not true, and nan is nan."""
    if isinstance(one, dict) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, int) and type(one) is type(other):
        return bool(one == other)  # one of many digits has no repr
    return type(one) is type(other) and repr(one) == repr(other)


def _has(values: Mapping[str, Any], place: Sequence[str]) -> bool:
    level: Any = values
    for key in place:
        if not isinstance(level, dict) or key not in level:
            return False
        level = level[key]
    return True


def _with(values: Mapping[str, Any], place: Sequence[str], value: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` with the table ``value`` at ``place``, beside what else that table has."""
    whole = deepcopy(dict(values))
    level: Any = whole
    for number, key in enumerate(place, start=1):
        level = level.setdefault(key, {})
        if not isinstance(level, dict):
            raise NotEditable(f"{_header(place[:number])} is not a table")
    level.update(value)
    return whole


def _without(values: Mapping[str, Any], place: Sequence[str]) -> list[dict[str, Any]]:
    """``values`` without the table at ``place``; tables above it that only it had made are still there, or gone."""
    whole = deepcopy(dict(values))
    levels: list[Any] = [whole]
    for key in place[:-1]:
        levels.append(levels[-1][key])
    del levels[-1][place[-1]]
    found = [deepcopy(whole)]
    for level, inner, key in reversed(list(zip(levels, levels[1:], place, strict=False))):
        if inner:
            break
        del level[key]
        found.append(deepcopy(whole))
    return found


def _lines(value: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_written(one)}" for key, one in value.items()]


def _written(value: Any) -> str:
    """A string or a boolean; JSON writes both as TOML does, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _header(place: Sequence[str]) -> str:
    return ".".join(map(_key, place))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _written(key)


def _line_end(text: str) -> str:
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
