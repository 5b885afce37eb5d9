"""What a turn is prepared with. Light to import: a guard needs it, and prepares no turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from upbeat.core.contract.client import ClientTraits
from upbeat.core.contract.event import EventSource
from upbeat.core.engine import ports
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit

if TYPE_CHECKING:
    from upbeat.core.contract.report import Limit

NO_CAP = TextLimit(10**9, LengthUnit.CHARS)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One turn to prepare. ``cap`` is the client's limit; the settings have their own."""

    source: EventSource
    prompt: str
    event_name: str = "cli"
    repo_root: str | None = None
    is_plan: bool = False
    cap: TextLimit = NO_CAP
    codex_command: str | None = None
    max_ms: int | None = None
    """The most milliseconds that the client waits; the budget of the settings may be longer."""
    limits: tuple[Limit, ...] = ()
    """What the caller could not do before, such as continue a session that is gone."""
    shown_excerpts: frozenset[str] = frozenset()
    """The excerpts that the session has been shown (``Item.excerpt``)."""
    subject: tuple[str, ...] = ()
    """The names that the session's last block led with."""
    holds_call: bool = False
    """Whether the call of the event waits for the decision, as it does for a hook."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything outside that the core needs, put together in ``adapters/wiring.py`` or from fakes in tests."""

    context_resolver: ports.ContextResolver
    runner: ports.ToolRunner
    clock: ports.Clock
    journal: ports.Journal
    workspace: ports.Workspace
    transcripts: ports.Transcripts
    workflow_loader: ports.WorkflowLoader
    learned_habits: ports.LearnedHabits
    world: ports.WorldQueries
    rule_loader: ports.RuleLoader
    language: str = "en"
    client_traits: Mapping[str, ClientTraits] = field(default_factory=dict)
    """By client name; a client that is missing has the traits of ``UNKNOWN_CLIENT``."""
    handoffs: ports.HandoffFiles | None = None
    evidence: ports.EvidenceSource | None = None
    """None where no commands are judged."""
    index: ports.CodeIndex | None = None
    """None in a process for one turn, which would not keep it."""
