"""Reads a JSON file that somebody else wrote, as far as it is an object. Law: it never fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .lines import object_in
from .opening import read_file

MAX_BYTES = 8 * 1024 * 1024


def json_file(path: Path) -> dict[str, Any]:
    """The object in the file; empty where there is none, or the file cannot be read."""
    return object_in(first_bytes(path))


def first_bytes(path: Path) -> bytes:
    """What is in the file, as far as a settings file is long; nothing where it is none, or cannot be read.

    People keep their settings behind links, so links are followed; what is no regular file is never opened.
    """
    try:
        return read_file(os.path.realpath(path), MAX_BYTES)
    except (OSError, ValueError):
        return b""
