"""What the tools of servers looked like when they were approved. Law: what cannot be read has approved nothing.

One file in the user's state folder, for nobody else to read: server -> tool -> digest of the tool's declaration.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from ..local import atomic
from ..local.lock import locked

PINS_FILE = "upbeat/mcp-tools.json"
LOCK_SECONDS = 5.0
LOST = ""
"""Stands among the servers once pins could not be read: nothing is new any more, since nobody knows what was."""


class Pin(Enum):
    """How a tool is, beside what was approved."""

    UNKNOWN = "unknown"
    SAME = "same"
    CHANGED = "changed"


class Pins:
    """The user's pins below ``state_home``."""

    def __init__(self, state_home: Path) -> None:
        self._path = state_home / PINS_FILE

    def look(self, server: str, tool: str, digest: str) -> Pin:
        """Whether ``tool`` is what was approved; everything has changed while the file cannot be read."""
        pins = self._read()
        if pins is None:
            return Pin.CHANGED
        known = pins.get(server, {}).get(tool)
        if known is None:
            return Pin.CHANGED if LOST in pins else Pin.UNKNOWN
        return Pin.SAME if known == digest else Pin.CHANGED

    def pin(self, server: str, digests: Mapping[str, str]) -> None:
        """Approve the tools of ``server`` as they are. Raises OSError where that cannot be remembered."""
        with self._alone():
            known = self._stored()
            pins = {LOST: {}} if known is None else known
            pins[server] = pins.get(server, {}) | dict(digests)
            atomic.write(self._path, json.dumps(pins, indent=2, sort_keys=True).encode(), private=True)

    def _read(self) -> dict[str, dict[str, str]] | None:
        """The pins; none when there is no file, None when it cannot be read."""
        try:
            return self._stored()
        except OSError:
            return None

    def _stored(self) -> dict[str, dict[str, str]] | None:
        """The pins; None when they cannot be understood. Raises OSError when the disk does not give them."""
        try:
            stored = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError):
            return None
        is_whole = isinstance(stored, dict) and all(isinstance(tools, dict) for tools in stored.values())
        return stored if is_whole else None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two processes that approve at the same time keep what both approved."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(self._path.with_name(f"{self._path.name}.lock"), LOCK_SECONDS) as is_ours:
            if is_ours is False:
                raise TimeoutError(f"another upbeat is writing {self._path}; try again")
            yield
