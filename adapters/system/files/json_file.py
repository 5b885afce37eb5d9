"""Read JSON files that other programs write. Invariant: no content makes it fail."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from upbeat.adapters.system.files.safe_open import read_file
from upbeat.adapters.system.files.tail import parse_json_object

MAX_BYTES = 8 * 1024 * 1024


def read_json_object(path: Path) -> dict[str, Any]:
    """Return the object in the file; empty if there is none or the file cannot be read."""
    return parse_json_object(read_settings_bytes(path))


def read_settings_bytes(path: Path) -> bytes:
    """Return the first ``MAX_BYTES`` of a regular file, following links; empty if it cannot be read."""
    try:
        return read_file(os.path.realpath(path), MAX_BYTES)
    except (OSError, ValueError):
        return b""
