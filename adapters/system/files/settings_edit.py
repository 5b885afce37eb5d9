"""Insert entries into a settings file and remove them again. Invariant: all other values of the file stay the same."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

from upbeat.adapters.system.files import json_edit, toml_edit
from upbeat.adapters.system.files.json_edit import NotEditableError as NotEditableError
from upbeat.adapters.system.files.toml_edit import is_same_value

KeyPath = tuple[str, ...]


class SettingsEditor(Protocol):
    """Edits the text of one file format; each function but ``is_blank`` raises ``NotEditableError``."""

    def parse_object(self, text: str) -> dict[str, Any]: ...

    def set_value(self, text: str, key_path: Sequence[str], value: Any) -> str: ...

    def remove_value(self, text: str, key_path: Sequence[str]) -> str: ...

    def is_blank(self, text: str) -> bool: ...


EDITOR_BY_FORMAT: dict[str, SettingsEditor] = {"json": json_edit, "toml": toml_edit}


@dataclass(frozen=True, slots=True)
class SettingsEntry:
    """A value and the path of keys where it belongs."""

    key_path: KeyPath
    value: Any


def parse_settings(file_format: str, data: bytes | None) -> dict[str, Any]:
    """Return the values of a file; empty without a file. Raises NotEditableError."""
    return EDITOR_BY_FORMAT[file_format].parse_object(_split_bom(data)[1])


def insert_entries(file_format: str, data: bytes | None, entries: Iterable[SettingsEntry]) -> bytes:
    """Return the file with ``entries``; the same bytes if it has them all. Raises NotEditableError."""
    mark, text = _split_bom(data)
    for entry in entries:
        text = EDITOR_BY_FORMAT[file_format].set_value(text, entry.key_path, entry.value)
    return _encode(mark, text)


def remove_entries(
    file_format: str,
    key_paths: Sequence[KeyPath],
    versions: tuple[bytes | None, bytes | None, bytes],
    client_key_prefixes: Sequence[KeyPath] = (),
) -> bytes | None:
    """Return the file without the entries of an install; None if nothing is left and there was no file before.

    An entry goes whatever its value is now, or gets the value that it had before the install.

    ``versions`` is the file before the install, after it, and now. ``client_key_prefixes`` are paths whose last key is
    the prefix of keys that the client adds for upbeat; those that were not there before are removed too. A key that is
    not named after upbeat, such as the status line, is the user's once its value was changed.

    Raises:
        NotEditableError: An entry cannot be removed alone.
    """
    before, after, now = versions
    editor = EDITOR_BY_FORMAT[file_format]
    old, installed, current = (parse_settings(file_format, data) for data in versions)
    mark, text = _split_bom(now)
    added_by_client = [path for path in _paths_with_prefixes(current, client_key_prefixes) if not _has(old, path)]
    for path in added_by_client:
        text = editor.remove_value(text, path)
    changed = [path for path in key_paths if _value_at(current, path) != _value_at(old, path)]
    changed = [
        path for path in changed if _is_named_ours(path) or _value_at(current, path) == _value_at(installed, path)
    ]
    expected = editor.parse_object(text)
    for path in changed:
        _set_value(expected, path, _value_at(old, path))
    paths = [*changed, *added_by_client]
    expected = _without_empty_values(expected, old, paths)
    result = _without_appended(text, before, after)
    if result is None or not _has_values(editor, result, old, paths, expected):
        result = text
        for path in changed:
            if _has(old, path):
                result = editor.set_value(result, path, _value_at(old, path))
            else:
                result = editor.remove_value(result, path)
    result = _without_empty_tables(editor, result, old, paths)
    if not _has_values(editor, result, old, paths, expected):
        raise NotEditableError("upbeat's lines cannot be removed without changing others; remove them yourself")
    return None if before is None and editor.is_blank(result) else _encode(mark, result)


def remove_key_paths(file_format: str, data: bytes, key_paths: Sequence[KeyPath]) -> bytes:
    """Return the file without ``key_paths`` and tables that this empties. Raises NotEditableError."""
    mark, text = _split_bom(data)
    editor = EDITOR_BY_FORMAT[file_format]
    for path in key_paths:
        text = editor.remove_value(text, path)
    return _encode(mark, _without_empty_tables(editor, text, {}, key_paths))


def has_entry(file_format: str, data: bytes | None, entry: SettingsEntry) -> bool:
    """Return whether a file has ``entry``. Raises NotEditableError."""
    return bool(_value_at(parse_settings(file_format, data), entry.key_path) == entry.value)


def read_value(file_format: str, data: bytes | None, key_path: KeyPath) -> Any:
    """Return the value at ``key_path`` of a file; None if there is none. Raises NotEditableError."""
    return _value_at(parse_settings(file_format, data), key_path)


def _without_appended(text: str, before: bytes | None, after: bytes | None) -> str | None:
    """Return ``text`` without what the install appended as one piece; None if it did not."""
    old, new = _split_bom(before)[1], _split_bom(after)[1]
    piece = new[len(old) :] if new.startswith(old) else ""
    return text.replace(piece, "") if piece and text.count(piece) == 1 else None


def _has_values(
    editor: SettingsEditor, text: str, old: Mapping[str, Any], paths: Sequence[KeyPath], expected: Any
) -> bool:
    try:
        return is_same_value(_without_empty_values(editor.parse_object(text), old, paths), expected)
    except NotEditableError:
        return False


def _without_empty_tables(editor: SettingsEditor, text: str, old: Mapping[str, Any], paths: Sequence[KeyPath]) -> str:
    """Return ``text`` without empty parent tables of ``paths`` that were not there before."""
    for table in _new_tables(old, paths):
        if _value_at(editor.parse_object(text), table) == {}:
            text = editor.remove_value(text, table)
    return text


def _without_empty_values(values: dict[str, Any], old: Mapping[str, Any], paths: Sequence[KeyPath]) -> dict[str, Any]:
    """Return ``values`` without empty parent tables of ``paths`` that were not there before."""
    values = deepcopy(values)
    for table in _new_tables(old, paths):
        if _value_at(values, table) == {}:
            _set_value(values, table, None)
    return values


def _is_named_ours(key_path: KeyPath) -> bool:
    return any("upbeat" in key for key in key_path)


def _new_tables(old: Mapping[str, Any], paths: Sequence[KeyPath]) -> list[KeyPath]:
    tables = [path[:length] for path in paths for length in range(len(path) - 1, 0, -1)]
    return [table for table in tables if not _has(old, table)]


def _paths_with_prefixes(values: Mapping[str, Any], prefixes: Sequence[KeyPath]) -> list[KeyPath]:
    paths: list[KeyPath] = []
    for prefix in prefixes:
        table = _value_at(values, prefix[:-1])
        keys = table if isinstance(table, dict) else {}
        paths += [(*prefix[:-1], key) for key in keys if key.startswith(prefix[-1])]
    return paths


def _split_bom(data: bytes | None) -> tuple[bytes, str]:
    """Return the byte order mark, if any, and the text."""
    data = data or b""
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark, data[len(mark) :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotEditableError(f"not UTF-8 (byte {len(mark) + error.start})") from error


def _encode(mark: bytes, text: str) -> bytes:
    try:
        return mark + text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotEditableError("the new value is not UTF-8; if it is the path of a folder, use another one") from error


def _has(values: Mapping[str, Any], key_path: KeyPath) -> bool:
    return _value_at(values, key_path) is not None


def _value_at(values: Mapping[str, Any], key_path: KeyPath) -> Any:
    level: Any = values
    for key in key_path:
        level = level.get(key) if isinstance(level, Mapping) else None
    return level


def _set_value(values: dict[str, Any], key_path: KeyPath, value: Any) -> None:
    """Set ``value`` at ``key_path``, creating its tables; None removes the key."""
    level = values
    for key in key_path[:-1]:
        level = level.setdefault(key, {})
    if value is None:
        level.pop(key_path[-1], None)
    else:
        level[key_path[-1]] = value
