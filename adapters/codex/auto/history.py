"""The prompts of earlier days, for the arrow keys.

Law: what is stored has lost its secrets, and only its owner reads it.
"""

from __future__ import annotations

import os
from pathlib import Path

from prompt_toolkit.history import FileHistory

from ....core.turn.redact import redact
from ....core.turn.strip import strip

FILE = "upbeat/codex-auto-history"
MAX_BYTES = 1 << 20


class PromptHistory(FileHistory):
    """A history file in prompt_toolkit's format. What was typed in this run is recalled as typed.

    A file that cannot be written is no reason to say anything: the history of this run is there all the same.
    """

    def __init__(self, state_home: Path) -> None:
        self.path = state_home / FILE
        super().__init__(str(self.path))

    def load_history_strings(self) -> list[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self.path.exists() and self.path.stat().st_size > MAX_BYTES:
                self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            os.close(os.open(self.path, flags, 0o600))
            super().store_string(redact(strip(string)).text)
        except OSError:
            return
