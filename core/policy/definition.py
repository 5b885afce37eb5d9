"""The Policy type: handlers, queries and effects of one behavior.

Invariant: a policy is a pure function (event, PolicyContext) -> PolicyResult. It queries the world beforehand
(``queries``) and keeps notes for later events. Usually it returns nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from upbeat.core.contract.client import UNKNOWN_CLIENT, ClientTraits
from upbeat.core.contract.effect import Effect
from upbeat.core.contract.event import Event
from upbeat.core.policy.queries import Query
from upbeat.core.policy.side_effects import SideEffect
from upbeat.core.sanitize.inline import SafeTemplate
from upbeat.core.workflow.decision import LoopLimits
from upbeat.core.workflow.state import SessionState


@dataclass(frozen=True, slots=True)
class LocalizedText:
    """One text in both languages, with placeholders in braces."""

    en: str
    zh: str

    def localize(self, language: str) -> SafeTemplate:
        """Return the text for ``language``: Chinese for ``zh``, English for anything else."""
        return SafeTemplate(self.zh if language == "zh" else self.en)


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """What a policy returns for one event.

    ``reason`` is one sentence for ``upbeat why``. ``notes`` replaces the notes of the policy; None keeps them.
    ``side_effects`` run after the decision is recorded.
    """

    effects: tuple[Effect, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] | None = None
    mentioned_paths: tuple[str, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()


NO_RESULT = PolicyResult()


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """What a policy sees besides the event. ``now`` is in seconds since the epoch, ``root`` a real path."""

    state: SessionState = field(default_factory=SessionState)
    notes: tuple[str, ...] = ()
    """The notes of this policy in this session."""
    now: float = 0.0
    language: str = "en"
    root: str = ""
    nonce: str = ""
    """Unpredictable hexadecimal digits for frames around untrusted text."""
    query_results: Mapping[Query, Any] = field(default_factory=dict)
    """The results of the policy's queries; a failed query is missing."""
    loop_limits: LoopLimits = field(default_factory=LoopLimits)
    """The user's limits of automatic continuation."""
    client: ClientTraits = UNKNOWN_CLIENT


PolicyHandler = Callable[[Any, PolicyContext], PolicyResult]
"""Handles events of its type in ``Policy.handlers``."""

QueryPlanner = Callable[[Event, SessionState], tuple[Query, ...]]


def no_queries(_event: Event, _state: SessionState) -> tuple[Query, ...]:
    """Return no queries."""
    return ()


@dataclass(frozen=True, slots=True)
class Policy:
    """One behavior. ``name`` is that of its module, with hyphens.

    ``rank`` orders the policies when there is not room for all: lower goes first.
    """

    name: str
    handlers: Mapping[type[Event], PolicyHandler]
    effects: tuple[type[Effect], ...] = ()
    """Every effect that a handler may return; the capability table of a client decides which are carried out."""
    native_trait: str = ""
    """The trait (``ClientTraits``) of a client that does this by itself: the policy is not evaluated there."""
    required_trait: str = ""
    """The trait without which a client's hooks give the policy nothing to act on."""
    queries: QueryPlanner = no_queries
    is_enabled_by_default: bool = True
    """The settings ``policies.on`` and ``policies.off`` override it."""
    survives_compaction: bool = False
    """Its notes are kept after a compaction."""
    rank: int = 50
