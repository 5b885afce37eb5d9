"""What a policy is: one behaviour, what it says to events, and what it says of itself.

Law: a policy is pure. It sees an event and a ``View``, and answers with a ``Word``; what it has to know of the world
it asks for beforehand (``looks``), what it wants to know later it notes. Saying nothing is the usual answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..contract.effect import Effect
from ..contract.event import ClientName, Event
from ..turn.word import Template
from ..workflow.outcome import Caps
from ..workflow.state import SessionState
from .errand import Errand
from .look import Look


@dataclass(frozen=True, slots=True)
class Words:
    """One text in both languages; fields in braces."""

    en: str
    zh: str

    def of(self, language: str) -> Template:
        """The text for ``language`` (``zh``, or anything else)."""
        return Template(self.zh if language == "zh" else self.en)


@dataclass(frozen=True, slots=True)
class Word:
    """What a policy says to one event.

    ``because`` is one sentence for ``upbeat why``, ``names`` the files that its text is about. ``notes`` takes the
    place of what it has noted; None leaves that as it is. ``errands`` are done once the decision is recorded.
    """

    effects: tuple[Effect, ...] = ()
    because: str = ""
    notes: tuple[str, ...] | None = None
    names: tuple[str, ...] = ()
    errands: tuple[Errand, ...] = ()


SILENT = Word()


@dataclass(frozen=True, slots=True)
class View:
    """What a policy sees beside the event. ``at`` is seconds since the epoch, ``root`` the repository's real path."""

    state: SessionState = field(default_factory=SessionState)
    notes: tuple[str, ...] = ()
    """What this policy has noted in this session."""
    at: float = 0.0
    language: str = "en"
    root: str = ""
    nonce: str = ""
    """Hexadecimal digits that nobody can foresee, for a frame around what is shown of the repository."""
    found: Mapping[Look, Any] = field(default_factory=dict)
    """What was looked up of what the policy asked for; nothing there where that failed."""
    caps: Caps = field(default_factory=Caps)
    """How far its user lets turns be sent on."""


class Carries(StrEnum):
    """How far a client can have a behaviour."""

    WORKS = "works"
    DEGRADED = "degraded to"
    CANNOT = "cannot, because"
    NATIVE = "native in the client"


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one client can have it, and what that means there; ``why`` may be empty for what works."""

    carries: Carries
    why: str = ""


WORKS = Standing(Carries.WORKS)
EVERYWHERE: Mapping[ClientName, Standing] = {ClientName.CLAUDE_CODE: WORKS, ClientName.CODEX_CLI: WORKS}

Judge = Callable[[Any, View], Word]
"""Says something to an event of the type that it stands for in ``Policy.on``."""

Looks = Callable[[Event, SessionState], tuple[Look, ...]]


def no_looks(_event: Event, _state: SessionState) -> tuple[Look, ...]:
    """Nothing has to be looked up."""
    return ()


@dataclass(frozen=True, slots=True)
class Policy:
    """One behaviour. ``name`` is that of its module with hyphens, ``original`` the one that users of A3 know it by.

    ``rank`` decides who is heard first when there is no room for all: less is earlier.
    """

    name: str
    original: str
    number: int
    """Its place in the list of behaviours that it comes from; 0 for one of our own."""
    what: Words
    why: Words
    silent: Words
    """When it says nothing although one could expect it."""
    on: Mapping[type[Event], Judge]
    clients: Mapping[ClientName, Standing] = field(default_factory=lambda: EVERYWHERE)
    looks: Looks = no_looks
    is_on: bool = True
    """Unless its user says otherwise (``policies.on``, ``policies.off``)."""
    stays: bool = False
    """Its notes hold after a compaction, too."""
    rank: int = 50
