"""What servers declare and answer, as values of ours. Law: what a server says is cleaned before any of it is cut."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ...core.turn.word import word

MAX_SAID = 300


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool as its server declares it: ``text`` is the whole declaration as JSON, ``digest`` is over that text.

    ``arguments`` are the names that it takes; empty where it takes any.
    """

    name: str
    reads_only: bool
    arguments: tuple[str, ...]
    text: str

    @property
    def digest(self) -> str:
        return "sha256:" + hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool said: its text, and the kinds of what it said beside text."""

    text: str
    left_out: tuple[str, ...] = ()
    is_error: bool = False


def said(text: str) -> str:
    """What a server said, fit for a message: cleaned before it is cut, so that no half of a secret is left."""
    return word(text, MAX_SAID)
