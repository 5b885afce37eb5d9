"""Parse the front matter of a Markdown file: YAML, and common text that is not quite YAML.

``globs: **/*.ts, *.tsx`` and ``pattern: [a-z]+ x`` are not YAML: the value of such a key is the text after the colon.
Every scalar is text as written; the caller knows its type. Invariant: never raises, takes time linear in the text, and
expands nothing: an anchor, an alias or a tag is plain text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass, field

MAX_FRONT_MATTER_CHARS = 16_384
"""Maximum characters of front matter."""
MAX_DEPTH = 4
"""Maximum nesting of lists and tables; foreign rules need two."""

_FENCE = re.compile(r"---[ \t]*")
_KEY = re.compile(r"([A-Za-z_][\w.-]{0,63})[ \t]*:(?=[ \t]|$)[ \t]*")
_PLAIN_LINE = re.compile(r"([ \t]*(?:-[ \t]+)?(?:[A-Za-z_][\w.-]{0,63}[ \t]*:[ \t]+|(?<=- )))(?![|>\[])(\S.*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_NULL_SCALARS = ("", "~", "null")

YamlValue = str | list[Any] | dict[str, Any]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The values between the lines ``---`` by key, and the line number of each. ``body`` is the rest, trimmed.

    A key that is written twice is a problem.
    """

    values: Mapping[str, YamlValue] = field(default_factory=dict)
    line_numbers: Mapping[str, int] = field(default_factory=dict)
    body: str = ""
    problems: tuple[tuple[int, str], ...] = ()
    is_present: bool = True


class _UnsupportedYaml(Exception):
    """The text is not YAML of the supported kind."""


def parse_front_matter(text: str, *, is_raw: bool = False) -> FrontMatter:
    """Parse the front matter of ``text``. With ``is_raw`` the value of a line is its text without quotes."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or not _FENCE.fullmatch(lines[0]):
        return FrontMatter(body=text.strip(), is_present=False)
    end = next((number for number, line in enumerate(lines[1:], start=1) if _FENCE.fullmatch(line)), None)
    if end is None:
        return FrontMatter(problems=((1, "the front matter does not end: a line --- is missing"),))
    if sum(map(len, lines[1:end])) > MAX_FRONT_MATTER_CHARS:
        return FrontMatter(problems=((1, f"the front matter is longer than {MAX_FRONT_MATTER_CHARS} characters"),))
    return _parse_lines(lines[1:end], "\n".join(lines[end + 1 :]).strip(), is_raw=is_raw)


def _parse_lines(lines: Sequence[str], body: str, *, is_raw: bool) -> FrontMatter:
    values: dict[str, YamlValue] = {}
    places: dict[str, int] = {}
    problems: list[tuple[int, str]] = []
    for number, key, chunk in _split_keys(lines):
        if not key:
            problems.append((number, "this line is neither a key with a colon nor part of a value"))
        elif key in values:
            problems.append((number, f"{key} is given twice"))
        else:
            places[key] = number
            values[key] = _parse_value(key, chunk, is_raw=is_raw)
    return FrontMatter(values, places, body, tuple(problems))


def _split_keys(lines: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (line number, key, lines) for each key; an empty key for lines that belong to none."""
    start, key, chunk = 0, "", [""][:0]
    for number, line in enumerate(lines, start=2):
        is_more = not line.strip() or line[0] in " \t-#"
        start_of_key = None if is_more else _KEY.match(line)
        if is_more and key:
            chunk.append(line)
        elif start_of_key:
            if key:
                yield start, key, chunk
            start, key, chunk = number, start_of_key[1], [line]
        elif line.strip() and not line.lstrip().startswith("#"):
            if key:
                yield start, key, chunk
            key = ""
            yield number, "", [line]
    if key:
        yield start, key, chunk


def _parse_value(key: str, chunk: Sequence[str], *, is_raw: bool) -> YamlValue:
    """Return the value of one key."""
    import yaml

    try:
        parsed = _build_value("\n".join(map(_quote_value, chunk) if is_raw else chunk))
    except (yaml.YAMLError, _UnsupportedYaml, ValueError):
        return _literal_value(chunk)
    value: YamlValue | None = parsed.get(key) if isinstance(parsed, dict) and len(parsed) == 1 else None
    return _literal_value(chunk) if value is None else value


def _literal_value(chunk: Sequence[str]) -> YamlValue:
    """Return the text after the colon, or each item of the lines below it."""
    first = _KEY.sub("", chunk[0], count=1).strip()
    rest = [line for line in chunk[1:] if line.strip() and not line.lstrip().startswith("#")]
    items = [item[1] for line in rest if (item := _ITEM.fullmatch(line))]
    if not first and items and len(items) == len(rest):
        return [_unquote(item) for item in items]
    return _unquote(" ".join([first, *(line.strip() for line in rest)]).strip())


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _quote_value(line: str) -> str:
    """Put the value of ``line`` into single quotes, in which YAML has no escapes."""
    parts = _PLAIN_LINE.fullmatch(line)
    return line if parts is None else parts[1] + "'" + _unquote(parts[2]).replace("'", "''") + "'"


def _build_value(text: str) -> YamlValue:
    """Parse YAML with scalars as text. Raises ``yaml.YAMLError`` or ``_UnsupportedYaml`` for anything else."""
    import yaml

    stack: list[Any] = [[]]
    keys: list[str | None] = [None]
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise _UnsupportedYaml
        if isinstance(event, yaml.ScalarEvent):
            is_null = not event.style and event.value.lower() in _NULL_SCALARS
            _add_value(stack, keys, "" if is_null else event.value)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            container: YamlValue = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            _add_value(stack, keys, container)
            stack.append(container)
            keys.append(None)
            if len(stack) > MAX_DEPTH + 1:
                raise _UnsupportedYaml
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            stack.pop()
            keys.pop()
    if len(stack[0]) != 1:
        raise _UnsupportedYaml
    built: YamlValue = stack[0][0]
    return built


def _add_value(stack: list[Any], keys: list[str | None], value: YamlValue) -> None:
    """Add ``value`` to the container being built; in a table every other value is a key."""
    inside = stack[-1]
    if isinstance(inside, list):
        inside.append(value)
    elif keys[-1] is None:
        if not isinstance(value, str) or value in inside:
            raise _UnsupportedYaml
        keys[-1] = value
    else:
        inside[keys[-1]] = value
        keys[-1] = None
