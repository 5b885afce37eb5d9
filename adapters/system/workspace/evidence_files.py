"""Read what a run of tests is judged by: files of the repository, the trust in them, the key of ``upbeat exec``.

Invariant: nothing outside the repository is read but upbeat's own state, and nothing but the key is written.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from upbeat.adapters.system.config.trust import digest_of, is_trusted
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.bounded_read import read_content

MAX_BYTES = 200_000
MAX_ENTRIES = 500
KEY_FILE = "upbeat/exec.key"


class LocalEvidenceSource:
    """Implements ``core.engine.ports.EvidenceSource``."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def files(self, root: str) -> LocalProjectFiles:
        """Return the files of the repository at ``root``."""
        return LocalProjectFiles(root)

    def is_trusted(self, root: str, path: str) -> bool:
        """Return whether the user trusts the file as it is now; a path that names no file needs no trust."""
        file = Path(root, path)
        content = read_content(file, root, MAX_BYTES)
        if content.problem:
            return not content.exists and not os.path.lexists(file)
        return is_trusted(file, digest_of(content.data), self._environment)

    def exec_key(self) -> str:
        """Return the key; a new one if there is none yet."""
        return read_exec_key(self._environment)


@dataclass(frozen=True, slots=True)
class LocalProjectFiles:
    """Implements ``core.workflow.evidence.runner_calls.ProjectFiles``."""

    root: str

    def read(self, path: str) -> str | None:
        """Return the text of a file of at most ``MAX_BYTES`` below the root."""
        with suppress(ValueError):
            content = read_content(Path(self.root, path), self.root, MAX_BYTES)
            return None if content.problem else content.data.decode("utf-8", "replace")
        return None

    def exists(self, path: str) -> bool:
        """Return whether there is something of that name."""
        with suppress(ValueError):
            return os.path.lexists(os.path.join(self.root, path))
        return False

    def entries(self, path: str) -> list[str]:
        """Return the names in a folder below the root."""
        with suppress(OSError, ValueError):
            return sorted(os.listdir(os.path.join(self.root, path)))[:MAX_ENTRIES]
        return []


def read_exec_key(environment: Environment) -> str:
    """Return the key that ``upbeat exec`` signs with, created on first use; empty if that is not possible."""
    path = environment.state_home / KEY_FILE
    with suppress(OSError, ValueError):
        return path.read_text(encoding="ascii").strip()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key := secrets.token_hex(32))
        return key
    return ""
