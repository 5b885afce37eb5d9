"""Edit the text of a TOML file that users may also edit. Invariant: all other bytes stay the same.

Only whole tables under their own header are added (at the end of the text) and removed. Each result is parsed, and
must have exactly the old values plus the requested change. If no edit achieves that, for example because of an inline
table, ``NotEditableError`` says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import tomli

from upbeat.adapters.system.files.json_edit import NotEditableError, line_end

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


def parse_object(text: str) -> dict[str, Any]:
    """Parse ``text``. Raises NotEditableError."""
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        raise NotEditableError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except ValueError as error:
        raise NotEditableError("a number with too many digits") from error
    except RecursionError as error:
        raise NotEditableError("nested too deep") from error


def set_value(text: str, key_path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return ``text`` with the table ``value`` (strings and booleans) at ``key_path``. Raises NotEditableError."""
    old = parse_object(text)
    expected = _with_table(old, key_path, value)
    if is_same_value(old, expected):
        return text
    for new in (*_rewrite_table(text, key_path, value), _append_table(text, key_path, value)):
        if _has_values(new, expected):
            return new
    header = _header(key_path)
    by_hand = f"add it yourself, under [{header}]: {', '.join(_value_lines(value))}"
    raise NotEditableError(f"{header} cannot be added without changing other lines; {by_hand}")


def remove_value(text: str, key_path: Sequence[str]) -> str:
    """Return ``text`` without the table at ``key_path``; unchanged if there is none. Raises NotEditableError."""
    old = parse_object(text)
    if not _has_path(old, key_path):
        return text
    expected = _without_table(old, key_path)
    for new in _cut_table(text, key_path):
        if any(_has_values(new, each) for each in expected):
            return new
    raise NotEditableError(f"{_header(key_path)} cannot be removed without changing other lines; remove it yourself")


def is_blank(text: str) -> bool:
    """Return whether ``text`` is empty."""
    return text.strip() == ""


def _append_table(text: str, key_path: Sequence[str], value: Mapping[str, Any]) -> str:
    end = line_end(text)
    lines = [f"[{_header(key_path)}]", *_value_lines(value)]
    if text:
        lines.insert(0, "")
    before = text if not text or text.endswith("\n") else text + end
    return before + "".join(line + end for line in lines)


def _rewrite_table(text: str, key_path: Sequence[str], value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text with new values under the table's header; comments stay."""
    lines = text.splitlines(keepends=True)
    for start, stop in _table_ranges(lines, key_path):
        missing, table = dict(value), []
        for line in lines[start + 1 : stop]:
            match = _VALUE.match(line)
            if match and match["key"] in value:
                line = match["named"] + _serialize(value[match["key"]]) + line[match.end() :]
                missing.pop(match["key"], None)
            table.append(line)
        header = lines[start] if lines[start].endswith("\n") else lines[start] + line_end(text)
        added = [line + line_end(text) for line in _value_lines(missing)]
        yield "".join([*lines[:start], header, *added, *table, *lines[stop:]])


def _cut_table(text: str, key_path: Sequence[str]) -> Iterator[str]:
    """Yield the text without the table, and without one empty line before it."""
    lines = text.splitlines(keepends=True)
    for start, stop in _table_ranges(lines, key_path):
        while stop > start + 1 and (not lines[stop - 1].strip() or lines[stop - 1].lstrip().startswith("#")):
            stop -= 1
        first = start - 1 if start and not lines[start - 1].strip() else start
        yield "".join([*lines[:first], *lines[stop:]])
        yield "".join([*lines[:start], *lines[stop:]])


def _table_ranges(lines: Sequence[str], key_path: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield candidates for the lines of the table: a line of a multi-line string can look like a header."""
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    for number in headers:
        if _header_path(lines[number]) == list(key_path):
            yield number, next((other for other in headers if other > number), len(lines))


def _header_path(line: str) -> list[str] | None:
    """Return the key path of a header line."""
    try:
        level: Any = tomli.loads(line)
    except (tomli.TOMLDecodeError, RecursionError):
        return None
    key_path: list[str] = []
    while isinstance(level, dict) and len(level) == 1:
        [(key, level)] = level.items()
        key_path.append(key)
    return key_path if level == {} else None


def _has_values(text: str, expected: Mapping[str, Any]) -> bool:
    try:
        return is_same_value(parse_object(text), expected)
    except NotEditableError:
        return False


def is_same_value(left: Any, right: Any) -> bool:
    """Return whether two values are equal and have the same types: 1 is not true, and nan is nan."""
    if isinstance(left, dict) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(is_same_value(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_same_value, left, right))
    if isinstance(left, int) and type(left) is type(right):
        return bool(left == right)  # a very long integer has no repr
    return type(left) is type(right) and repr(left) == repr(right)


def _has_path(values: Mapping[str, Any], key_path: Sequence[str]) -> bool:
    level: Any = values
    for key in key_path:
        if not isinstance(level, dict) or key not in level:
            return False
        level = level[key]
    return True


def _with_table(values: Mapping[str, Any], key_path: Sequence[str], value: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with the keys of ``value`` added to the table at ``key_path``."""
    whole = deepcopy(dict(values))
    level: Any = whole
    for number, key in enumerate(key_path, start=1):
        level = level.setdefault(key, {})
        if not isinstance(level, dict):
            raise NotEditableError(f"{_header(key_path[:number])} is not a table")
    level.update(value)
    return whole


def _without_table(values: Mapping[str, Any], key_path: Sequence[str]) -> list[dict[str, Any]]:
    """Return ``values`` without the table at ``key_path``, once for each number of empty parents that go with it."""
    whole = deepcopy(dict(values))
    levels: list[Any] = [whole]
    for key in key_path[:-1]:
        levels.append(levels[-1][key])
    del levels[-1][key_path[-1]]
    results = [deepcopy(whole)]
    for level, inner, key in reversed(list(zip(levels, levels[1:], key_path, strict=False))):
        if inner:
            break
        del level[key]
        results.append(deepcopy(whole))
    return results


def _value_lines(value: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_serialize(item)}" for key, item in value.items()]


def _serialize(value: Any) -> str:
    """Return a string or boolean as TOML, which equals JSON except for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _header(key_path: Sequence[str]) -> str:
    return ".".join(map(_key, key_path))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _serialize(key)
