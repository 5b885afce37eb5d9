"""Read the scripts that a shell line is about to run, wherever they are.

Invariant: only regular files of at most ``MAX_BYTES`` are read, at most ``MAX_FILES`` for one line, none of them twice.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from upbeat.adapters.system.files.bounded_read import read_content

MAX_BYTES = 200_000
MAX_FILES = 40


class LocalScriptFiles:
    """Implements ``core.policy.queries.ScriptFileReader``."""

    def __init__(self) -> None:
        self._texts: dict[str, str | None] = {}

    def read(self, path: str) -> str | None:
        """Return the text of the file at the absolute ``path``; None if it is too large, or not a text file."""
        if path not in self._texts and len(self._texts) < MAX_FILES:
            self._texts[path] = _read_text(path)
        return self._texts.get(path)


def _read_text(path: str) -> str | None:
    with suppress(ValueError, OSError):
        content = read_content(Path(path), None, MAX_BYTES)
        if not content.problem and b"\0" not in content.data:
            return content.data.decode("utf-8", "replace")
    return None
