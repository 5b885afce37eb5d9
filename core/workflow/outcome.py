"""What the workflow reads to decide on one event, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..contract.effect import Effect, Said
from .facts import Fact
from .registry import Registry

if TYPE_CHECKING:
    from ..ports import Neighbour
    from .tasks import Tasks


@dataclass(frozen=True, slots=True)
class Caps:
    """How far the loop may go: turns sent on, turns failed in a row, turns without progress, time, tokens."""

    is_on: bool = True
    iterations: int = 30
    errors: int = 3
    stale: int = 3
    minutes: int = 240
    tokens: int = 5_000_000


@dataclass(frozen=True, slots=True)
class Scene:
    """What is known when an event is decided on. What was not looked up is at its default.

    ``at`` is seconds since the epoch. ``tree`` is a digest of the working tree, ``tokens`` the session's total,
    ``exit_code`` that of the command that has just run, ``agent_id`` of the call that has just returned.
    """

    at: float
    registry: Registry
    caps: Caps = field(default_factory=Caps)
    language: str = "en"
    root: str = ""
    run_id: str = ""
    tree: str = ""
    tasks: Tasks | None = None
    tokens: int | None = None
    exit_code: int | None = None
    agent_id: str = ""
    neighbours: tuple[Neighbour, ...] = ()
    features: tuple[str, ...] = ()
    """Names of the features in progress."""
    is_question: bool = False
    """The prompt asks something that is no work on the repository."""
    needs_witness: bool = True


@dataclass(frozen=True, slots=True)
class Tick:
    """Tick the boxes of these stages in the feature's ``tasks.md``."""

    feature: str
    boxes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Archive:
    """Move the finished feature to the archive."""

    feature: str


Chore = Tick | Archive


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer: what is now true, what is to be done about the event, who said so, and work on files."""

    facts: tuple[Fact, ...] = ()
    effects: tuple[Effect, ...] = ()
    said: tuple[Said, ...] = ()
    chores: tuple[Chore, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.facts + other.facts, self.effects + other.effects, self.said + other.said, self.chores + other.chores
        )


NOTHING = Outcome()


def said(part: str, decided: str, because: str = "", configured_at: str = "", **looked_at: object) -> Said:
    """One part's word."""
    shown: Mapping[str, object] = {name: value for name, value in looked_at.items() if value not in (None, "", ())}
    return Said(part, decided, because, shown, configured_at)
