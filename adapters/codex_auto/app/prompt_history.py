"""The history of prompts, for the arrow keys.

Invariant: secrets are redacted before a prompt is stored, and only the owner can read the file.
"""

from __future__ import annotations

import os
from pathlib import Path

from prompt_toolkit.history import FileHistory

from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact

HISTORY_FILE = "upbeat/codex-auto-history"
MAX_HISTORY_BYTES = 1 << 20


class PromptHistory(FileHistory):
    """A history file in prompt_toolkit's format.

    Prompts of this run are recalled as typed, even if they cannot be stored.
    """

    def __init__(self, state_home: Path) -> None:
        self.path = state_home / HISTORY_FILE
        super().__init__(str(self.path))

    def load_history_strings(self) -> list[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self.path.exists() and self.path.stat().st_size > MAX_HISTORY_BYTES:
                self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            os.close(os.open(self.path, flags, 0o600))
            super().store_string(redact(strip_controls(string)).text)
        except OSError:
            return
