"""What policies may have done outside the conversation. Law: values only; ``Ground`` does them, after the record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notify:
    """Show the person a notification of the desktop."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class EndTerminals:
    """End these tmux sessions, which the agent has started."""

    sessions: tuple[str, ...]


Errand = Notify | EndTerminals
