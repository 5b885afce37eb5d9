"""The agents that were started and have not been heard of since, kept in the notes of a policy.

Law: an agent is in the list from its start to its end or the answer to its call, and no longer than the client's
process. Notes that are not the list's own are left where they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..contract.event import AgentStarted, AgentStopped, Delegated, Event, SessionStarted

MAX_AGENTS = 20

_AGENT = "agent "
_LONGEST_ID, _LONGEST_KIND = 60, 40


@dataclass(frozen=True, slots=True)
class Running:
    """One agent; ``since`` is seconds since the epoch."""

    id: str
    kind: str
    since: float

    @property
    def name(self) -> str:
        """Its kind and the beginning of its id."""
        return f"`{self.kind or 'agent'}` ({self.id[:13]})"


def folded(notes: tuple[str, ...], event: Event, at: float) -> tuple[str, ...]:
    """``notes`` after ``event``: the very same when it does not change the list."""
    match event:
        case AgentStarted(agent_id=name) if name:
            kind = "".join(char for char in event.agent[:_LONGEST_KIND] if char.isalnum() or char in "-_:.")
            after = (*_without(notes, name), f"{_AGENT}{_one_word(name)} {at:.0f} {kind}")
            over = sum(note.startswith(_AGENT) for note in after) - MAX_AGENTS
            return _without(after, running(after)[0].id) if over > 0 else after
        case AgentStopped() if notes:
            return _without(notes, event.agent_id)
        case Delegated() if notes and (event.message is not None or event.failed):
            return _without(notes, event.agent_id)
        case SessionStarted() if notes and event.how != "compact":
            return tuple(note for note in notes if not note.startswith(_AGENT))
    return notes


def running(notes: Iterable[str]) -> tuple[Running, ...]:
    """The agents in ``notes``, the first started first."""
    told = (note[len(_AGENT) :].split(" ", 2) for note in notes if note.startswith(_AGENT))
    return tuple(Running(one[0], one[2], number(one[1])) for one in told if len(one) == 3)


def number(text: str) -> float:
    """The number in a note; 0 where there is none."""
    return float(text) if text.isdecimal() else 0.0


def _without(notes: tuple[str, ...], name: str) -> tuple[str, ...]:
    start = f"{_AGENT}{_one_word(name)} "
    left = tuple(note for note in notes if not note.startswith(start))
    return left if len(left) != len(notes) else notes


def _one_word(name: str) -> str:
    """An id as it stands in a note."""
    return "_".join(name[:_LONGEST_ID].split())
