"""Reads a JSON file that somebody else wrote, as far as it is an object. Law: it never fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .lines import object_in

MAX_BYTES = 8 * 1024 * 1024


def json_file(path: Path) -> dict[str, Any]:
    """The object in the file; empty where there is none, or the file cannot be read."""
    return object_in(first_bytes(path))


def first_bytes(path: Path) -> bytes:
    """What is in the file, as far as a settings file is long; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES)
    except OSError:
        return b""
