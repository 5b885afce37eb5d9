"""One record of the journal. Law: it is written once and never changed; a field is only ever added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..contract.effect import Said
from ..workflow.facts import Fact


@dataclass(frozen=True, slots=True)
class Record:
    """What happened at one event, who said what to it, and what came of it.

    ``at`` is UTC, ISO 8601 with milliseconds. ``about`` has the event's own fields, and ``driver`` where
    no hook told of it but a program that drives the client (codex-auto). ``effects`` are what was done:
    ``{"kind": "inject", "text": …}``. ``turn`` sums up a prepared turn. ``facts`` are what the state is folded from.
    """

    at: str
    event: str
    client: str = ""
    session_id: str = ""
    agent_id: str = ""
    root: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    said: tuple[Said, ...] = ()
    effects: tuple[Mapping[str, str], ...] = ()
    turn: Mapping[str, Any] = field(default_factory=dict)
    injected_chars: int = 0
    milliseconds: float = 0.0
