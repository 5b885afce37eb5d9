"""The Policy type: handlers, queries and effects of one behavior.

Invariant: a policy is a pure function (event, PolicyContext) -> PolicyResult. It queries the world beforehand
(``Handler.queries``) and keeps notes for later events. Usually it returns nothing, and most of the time its handler
is not even called: ``Handler`` declares which events it is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from upbeat.core.contract.client import UNKNOWN_CLIENT, ClientTraits
from upbeat.core.contract.effect import Effect
from upbeat.core.contract.event import Event, PromptOrigin, ToolKind
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.policy.queries import Query
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.workflow.decision import LoopLimits
from upbeat.core.workflow.state import SessionState


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


@dataclass(frozen=True, slots=True)
class MarkIntroduced:
    """Remember that the user has been told the commands."""


SideEffect = Notify | KillTmuxSessions | MarkIntroduced
"""What a policy may have done after the decision is recorded."""


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
    policy: str = ""
    """The name of the evaluated policy."""

    def text(self, key: str, /, **fields: object) -> SafeText:
        """Return a text of the policy with its fields filled in, from ``core/messages/*/policies.toml``."""
        return load_messages("policies", self.language).group(self.policy)[key].format(**fields)


@dataclass(frozen=True, slots=True)
class Handler:
    """What a policy does at one type of event, and at which of these events; the others cost it nothing.

    ``queries`` returns what ``handle`` needs to know of the world, from the event and the state of the session.
    """

    handle: Callable[[Any, PolicyContext], PolicyResult]
    queries: Callable[[Any, SessionState], tuple[Query, ...]] | None = None
    tools: frozenset[ToolKind] = frozenset()
    """Kinds of the called tool; empty: any."""
    origins: tuple[PromptOrigin, ...] = ()
    """Origins of the prompt; empty: any."""
    is_for_main_agent: bool = False
    """Not for events of subagents."""
    text: re.Pattern[str] | None = None
    """What the command or the prompt must contain."""
    needs_notes: bool = False
    """Only while the policy has notes; an event with ``text`` needs none."""

    def applies_to(self, event: Any, notes: tuple[str, ...]) -> bool:
        """Return whether the conditions hold for ``event``, which has its type, given the policy's notes."""
        if self.is_for_main_agent and event.source.agent_id:
            return False
        if self.tools and event.call.kind not in self.tools:
            return False
        if self.origins and event.origin not in self.origins:
            return False
        if self.text is None or (self.needs_notes and notes):
            return not self.needs_notes or bool(notes)
        text: str = getattr(event, "command", "") or getattr(event, "prompt", "")
        return self.text.search(text) is not None


@dataclass(frozen=True, slots=True)
class Policy:
    """One behavior. ``name`` is that of its module, with hyphens.

    ``rank`` orders the policies when there is not room for all: lower goes first.
    """

    name: str
    handlers: Mapping[type[Event], Handler]
    effects: tuple[type[Effect], ...] = ()
    """Every effect that a handler may return; the capability table of a client decides which are carried out."""
    native_trait: str = ""
    """The trait (``ClientTraits``) of a client that does this by itself: the policy is not evaluated there."""
    required_trait: str = ""
    """The trait without which a client's hooks give the policy nothing to act on."""
    is_for_hooks: bool = False
    """Not for a program that drives the client, which has commands of its own."""
    is_enabled_by_default: bool = True
    """The settings ``policies.on`` and ``policies.off`` override it."""
    survives_compaction: bool = False
    """Its notes are kept after a compaction."""
    rank: int = 50
