"""The subagents that have started and not ended, kept in the notes of a policy.

Invariant: a subagent is listed from its start to its end or the result of its call, and no longer than the client's
process. Other notes stay unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from upbeat.core.contract.event import Event, SessionStarted, SubagentEnding, SubagentReturned, SubagentStarted

MAX_AGENTS = 20

_NOTE_PREFIX = "agent "
_LONGEST_ID, _LONGEST_KIND = 60, 40


@dataclass(frozen=True, slots=True)
class RunningAgent:
    """One subagent; ``since`` is in seconds since the epoch."""

    id: str
    kind: str
    since: float

    @property
    def name(self) -> str:
        """Its kind and the beginning of its id."""
        return f"`{self.kind or 'agent'}` ({self.id[:13]})"


def update_running_agents(notes: tuple[str, ...], event: Event, now: float) -> tuple[str, ...]:
    """Return ``notes`` after ``event``; the same object if the list does not change."""
    match event:
        case SubagentStarted(agent_id=name) if name:
            kind = "".join(char for char in event.agent_type[:_LONGEST_KIND] if char.isalnum() or char in "-_:.")
            after = (*_remove_agent(notes, name), f"{_NOTE_PREFIX}{_id_in_note(name)} {now:.0f} {kind}")
            over = sum(note.startswith(_NOTE_PREFIX) for note in after) - MAX_AGENTS
            return _remove_agent(after, running_agents(after)[0].id) if over > 0 else after
        case SubagentEnding() if notes:
            return _remove_agent(notes, event.agent_id)
        case SubagentReturned() if notes and (event.message is not None or event.has_failed):
            return _remove_agent(notes, event.agent_id)
        case SessionStarted() if notes and event.trigger != "compact":
            return tuple(note for note in notes if not note.startswith(_NOTE_PREFIX))
    return notes


def running_agents(notes: Iterable[str]) -> tuple[RunningAgent, ...]:
    """Return the subagents in ``notes``, in the order of their start."""
    fields = (note[len(_NOTE_PREFIX) :].split(" ", 2) for note in notes if note.startswith(_NOTE_PREFIX))
    return tuple(
        RunningAgent(id_, kind, parse_number(since)) for id_, since, kind in (f for f in fields if len(f) == 3)
    )


def parse_number(text: str) -> float:
    """Return the number in a note; 0 if there is none."""
    return float(text) if text.isdecimal() else 0.0


def _remove_agent(notes: tuple[str, ...], name: str) -> tuple[str, ...]:
    start = f"{_NOTE_PREFIX}{_id_in_note(name)} "
    left = tuple(note for note in notes if not note.startswith(start))
    return left if len(left) != len(notes) else notes


def _id_in_note(name: str) -> str:
    """Return an id in the form that notes use."""
    return "_".join(name[:_LONGEST_ID].split())
