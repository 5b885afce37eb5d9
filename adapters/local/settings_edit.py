"""Puts parts into a settings file, and takes them out again. Law: bytes in, bytes out; the rest says what it said."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from . import json_edit, toml_edit
from .json_edit import NotEditable as NotEditable
from .toml_edit import same

FORMATS: dict[str, ModuleType] = {"json": json_edit, "toml": toml_edit}

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What is to stand at a place, a path of keys."""

    place: Place
    value: Any


def read(kind: str, data: bytes | None) -> dict[str, Any]:
    """What a file says; no file says nothing. Raises NotEditable."""
    values: dict[str, Any] = FORMATS[kind].read(_text(data)[1])
    return values


def put_in(kind: str, data: bytes | None, parts: Iterable[Part]) -> bytes:
    """The file with ``parts``; the same bytes where it has them all. Raises NotEditable."""
    mark, text = _text(data)
    for part in parts:
        text = FORMATS[kind].put(text, part.place, part.value)
    return _encoded(mark, text)


def take_out(
    kind: str,
    places: Sequence[Place],
    versions: tuple[bytes | None, bytes | None, bytes],
    traces: Sequence[Place] = (),
) -> bytes | None:
    """The file without what an install put into it; None where then nothing is left, and there was no file.

    ``versions`` is the file before the install, after it, and now. What stands at a place has to be what was put
    there: NotEditable names what is not. ``traces`` are places whose last key is the beginning of keys that the client
    itself adds for us: those that were not there before go as well.
    """
    before, after, now = versions
    edit = FORMATS[kind]
    was, ours, says = read(kind, before), read(kind, after), read(kind, now)
    mark, text = _text(now)
    gone = [place for place in _traced(says, traces) if not _has(was, place)]
    for place in gone:
        text = edit.drop(text, place)
    changed = [place for place in places if _at(says, place) != _at(was, place)]
    for place in changed:
        if _has(says, place) and _at(says, place) != _at(ours, place):
            raise NotEditable(f"{'.'.join(place)} is no longer what upbeat wrote; take it out yourself")
    wanted = edit.read(text)
    for place in changed:
        _set(wanted, place, _at(was, place))
    ways = [*changed, *gone]
    wanted = _pruned(wanted, was, ways)
    left = _as_appended(text, (before, after))
    if left is None or not _says(edit, left, was, ways, wanted):
        left = _part_by_part(edit, text, was, changed)
    left = _without_empty(edit, left, was, ways)
    if not _says(edit, left, was, ways, wanted):
        raise NotEditable("no edit was found that leaves everything else as it is; take the lines out yourself")
    return None if before is None and edit.is_blank(left) else _encoded(mark, left)


def without(kind: str, data: bytes, places: Sequence[Place]) -> bytes:
    """The file without ``places``, and without tables that are empty then. Raises NotEditable."""
    mark, text = _text(data)
    edit = FORMATS[kind]
    for place in places:
        text = edit.drop(text, place)
    return _encoded(mark, _without_empty(edit, text, {}, places))


def says(kind: str, data: bytes | None, part: Part) -> bool:
    """Whether a file has ``part``. Raises NotEditable."""
    return bool(_at(read(kind, data), part.place) == part.value)


def _as_appended(text: str, ends: tuple[bytes | None, bytes | None]) -> str | None:
    """The text without what was appended as one piece, if it was."""
    before, after = (_text(data)[1] for data in ends)
    piece = after[len(before) :] if after.startswith(before) else ""
    if not piece or text.count(piece) != 1:
        return None
    return text.replace(piece, "")


def _says(edit: ModuleType, text: str, was: Mapping[str, Any], places: Sequence[Place], wanted: Any) -> bool:
    try:
        return same(_pruned(edit.read(text), was, places), wanted)
    except NotEditable:
        return False


def _part_by_part(edit: ModuleType, text: str, was: Mapping[str, Any], places: Sequence[Place]) -> str:
    for place in places:
        text = edit.put(text, place, _at(was, place)) if _has(was, place) else edit.drop(text, place)
    return text


def _without_empty(edit: ModuleType, text: str, was: Mapping[str, Any], places: Sequence[Place]) -> str:
    """``text`` without tables on the way to ``places`` that are empty and were not there."""
    for place in places:
        for length in range(len(place) - 1, 0, -1):
            if _at(edit.read(text), place[:length]) == {} and not _has(was, place[:length]):
                text = edit.drop(text, place[:length])
    return text


def _pruned(values: dict[str, Any], was: Mapping[str, Any], places: Sequence[Place]) -> dict[str, Any]:
    """The same for what a text says."""
    values = deepcopy(values)
    for place in places:
        for length in range(len(place) - 1, 0, -1):
            if _at(values, place[:length]) == {} and not _has(was, place[:length]):
                _set(values, place[:length], None)
    return values


def _traced(values: Mapping[str, Any], traces: Sequence[Place]) -> list[Place]:
    found = []
    for trace in traces:
        table = _at(values, trace[:-1])
        keys = table if isinstance(table, dict) else {}
        found += [(*trace[:-1], key) for key in keys if key.startswith(trace[-1])]
    return found


def _text(data: bytes | None) -> tuple[bytes, str]:
    """The byte order mark, if there is one, and the text."""
    data = data or b""
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark, data[len(mark) :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotEditable(f"not UTF-8 (byte {len(mark) + error.start})") from error


def _encoded(mark: bytes, text: str) -> bytes:
    try:
        return mark + text.encode("utf-8")
    except UnicodeEncodeError as error:
        what = "what is to be written is not UTF-8; where that is the path of a folder, use another one"
        raise NotEditable(what) from error


def _has(values: Mapping[str, Any], place: Place) -> bool:
    return _at(values, place) is not None


def _at(values: Mapping[str, Any], place: Place) -> Any:
    level: Any = values
    for key in place:
        level = level.get(key) if isinstance(level, Mapping) else None
    return level


def _set(values: dict[str, Any], place: Place, value: Any) -> None:
    """Put ``value`` at ``place``; None takes away. A table is put into the one that is there."""
    level = values
    for key in place[:-1]:
        level = level.setdefault(key, {})
    if value is None:
        level.pop(place[-1], None)
    else:
        level[place[-1]] = value
