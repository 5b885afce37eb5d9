"""One record of the journal. Invariant: it is written once and never changed; a field is only ever added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from upbeat.core.contract.effect import Explanation
from upbeat.core.workflow.facts import Fact

DROPPED = "dropped"
"""The decision that records an effect that a component proposed and that was not carried out."""
HELD_OUT = "held out"
OVER_CAP = "client limit reached"
OVER_BUDGET = "injection budget exhausted"
DUPLICATE = "duplicate"
"""Why an effect is dropped. Invariant: no reason contains a semicolon, which separates reasons."""


@dataclass(frozen=True, slots=True)
class Record:
    """What happened at one event, who said what to it, and what came of it.

    ``at`` is UTC, ISO 8601 with milliseconds. ``event_fields`` has the event's own fields, and ``driver`` where
    a program that drives the client reported it, not a hook (codex-auto). ``effects`` are what was done:
    ``{"kind": "inject", "text": …}``. ``turn`` sums up a prepared turn. ``facts`` are what the state is folded from.
    """

    at: str
    event: str
    client: str = ""
    session_id: str = ""
    agent_id: str = ""
    root: str = ""
    event_fields: Mapping[str, Any] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    effects: tuple[Mapping[str, str], ...] = ()
    turn: Mapping[str, Any] = field(default_factory=dict)
    injected_chars: int = 0
    duration_ms: float = 0.0
