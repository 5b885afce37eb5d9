"""What servers declare and answer, and which of their declarations the user has approved (the pins).

Invariants: text of a server is sanitized before it is truncated, and an unreadable file of pins approves nothing. The
pins are one private file in the user's state folder: server -> tool -> digest of the tool's declaration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from upbeat.adapters.system.files import atomic
from upbeat.adapters.system.files.lock import lock_private_file
from upbeat.core.sanitize.text import sanitize_inline

MAX_MESSAGE_CHARS = 300
PINS_FILE = "upbeat/mcp-tools.json"
LOST_MARKER = ""
"""An entry that marks lost pins: an unknown tool then counts as changed, because it may have been approved."""


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """A tool as its server declares it.

    ``json_text`` is the whole declaration. ``arguments`` are the accepted names; empty if the tool accepts any.
    """

    name: str
    is_read_only: bool
    arguments: tuple[str, ...]
    json_text: str

    @property
    def digest(self) -> str:
        return "sha256:" + hashlib.sha256(self.json_text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """The text that a tool returned, and the kinds of its other content."""

    text: str
    omitted_kinds: tuple[str, ...] = ()
    is_error: bool = False


def sanitize_server_text(text: str) -> str:
    """Return text of a server for a message: sanitized, then truncated, so that no part of a secret is left."""
    return sanitize_inline(text, MAX_MESSAGE_CHARS)


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
        with lock_private_file(self._path):
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
