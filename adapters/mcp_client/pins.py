"""Store digests of the approved tool declarations. Invariant: an unreadable file approves nothing.

One private file in the user's state folder: server -> tool -> digest of the tool's declaration.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from upbeat.adapters.system.files import atomic
from upbeat.adapters.system.files.lock import hold_lock

PINS_FILE = "upbeat/mcp-tools.json"
LOCK_SECONDS = 5.0
LOST_MARKER = ""
"""An entry that marks lost pins: an unknown tool then counts as changed, because it may have been approved."""


class PinStatus(Enum):
    """A tool compared with its approved declaration."""

    UNKNOWN = "unknown"
    SAME = "same"
    CHANGED = "changed"


class PinStore:
    """The user's pins below ``state_home``."""

    def __init__(self, state_home: Path) -> None:
        self._path = state_home / PINS_FILE

    def status_of(self, server: str, tool: str, digest: str) -> PinStatus:
        """Compare ``tool`` with its pin; every tool counts as changed while the file cannot be read."""
        try:
            pins = self._load()
        except OSError:
            pins = None
        if pins is None:
            return PinStatus.CHANGED
        known = pins.get(server, {}).get(tool)
        if known is None:
            return PinStatus.CHANGED if LOST_MARKER in pins else PinStatus.UNKNOWN
        return PinStatus.SAME if known == digest else PinStatus.CHANGED

    def approve(self, server: str, digests: Mapping[str, str]) -> None:
        """Pin the digests of tools of ``server``. Raises OSError if they cannot be stored."""
        with self._exclusive_lock():
            stored = self._load()
            pins = {LOST_MARKER: {}} if stored is None else stored
            pins[server] = pins.get(server, {}) | dict(digests)
            atomic.write_file(self._path, json.dumps(pins, indent=2, sort_keys=True).encode(), is_private=True)

    def _load(self) -> dict[str, dict[str, str]] | None:
        """Return the pins; None if the file is invalid. Raises OSError if it cannot be read."""
        try:
            stored = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError):
            return None
        is_whole = isinstance(stored, dict) and all(isinstance(tools, dict) for tools in stored.values())
        return stored if is_whole else None

    @contextmanager
    def _exclusive_lock(self) -> Iterator[None]:
        """Hold the lock of the file. Raises TimeoutError if another process keeps it."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold_lock(self._path.with_name(f"{self._path.name}.lock"), LOCK_SECONDS) as is_ours:
            if is_ours is False:
                raise TimeoutError(f"another upbeat process is writing {self._path}; try again")
            yield
