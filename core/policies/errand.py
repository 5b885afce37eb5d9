"""What policies may have done outside the conversation. Law: values only; ``Ground`` does them, after the record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notify:
    """Show the person a notification of the desktop."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Terminal:
    """A tmux session that a call of the agent may have started: only if it was created between these seconds.

    ``since`` and ``until`` are seconds since the epoch, both included.
    """

    name: str
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class EndTerminals:
    """End these tmux sessions, as far as they are the agent's, and nobody looks at them."""

    terminals: tuple[Terminal, ...]


Errand = Notify | EndTerminals
