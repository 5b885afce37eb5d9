"""Side effects of policies. Invariant: values only; they run after the decision is recorded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notify:
    """Show a desktop notification."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class TmuxSession:
    """A tmux session that the agent may have started: only if it was created in this interval.

    ``since`` and ``until`` are in seconds since the epoch, inclusive.
    """

    name: str
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class KillTmuxSessions:
    """Kill these tmux sessions if they are the agent's and nobody is attached."""

    sessions: tuple[TmuxSession, ...]


SideEffect = Notify | KillTmuxSessions
