"""Change a settings file and keep everything else in it, comments included."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from upbeat.adapters.system.files import atomic
from upbeat.adapters.system.files.toml_file import read_toml
from upbeat.core.errors import UserError


def read_document(path: Path) -> Any:
    """Return the document of ``path`` with its comments; an empty one if there is no file. Raises UserError."""
    import tomlkit

    if problem := read_toml(path).problem:
        raise UserError(f"{problem}; fix it with `upbeat config edit`")
    return tomlkit.parse(path.read_text(encoding="utf-8-sig") if path.exists() else "")


def find_table(document: Any, setting: str) -> tuple[MutableMapping[str, Any], str]:
    """Return the table of ``document`` for ``setting``, made if there is none, and the setting's name in it.

    Raises:
        UserError: What should be a table has another value.
    """
    *tables, name = setting.split(".")
    for part in tables:
        document = document.setdefault(part, {})
        if not isinstance(document, MutableMapping):
            raise UserError(f"{part} is not a table in the file, as {setting} needs; fix it with `upbeat config edit`")
    return document, name


def write_document(path: Path, document: Any) -> None:
    """Write ``document`` to ``path``, with its folder if there is none. Raises OSError."""
    import tomlkit

    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_file(path, tomlkit.dumps(document).encode())
