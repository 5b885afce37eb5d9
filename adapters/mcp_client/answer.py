"""Declarations and answers of servers. Invariant: text of a server is sanitized before it is truncated."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from upbeat.core.sanitize.inline import sanitize_inline

MAX_MESSAGE_CHARS = 300


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
