"""The Rule type and its outcome. Invariant: values only.

``RULE_EVENTS`` defines what a rule can be about; the parser, the documentation and the checks use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from upbeat.core.contract.effect import Effect
from upbeat.core.contract.event import (
    ClientName,
    Event,
    PromptSubmitted,
    SessionStarted,
    SubagentEnding,
    SubagentRequested,
    SubagentReturned,
    SubagentStarted,
    ToolFinished,
    ToolStarting,
    TurnEnding,
    UserQuestionRequested,
)
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.rules.globs import Globs
from upbeat.core.rules.pattern import Pattern


class Action(StrEnum):
    """What a rule does if it matches."""

    TELL = "tell"
    """Show the text to the user."""
    ASK = "ask"
    """Ask the user whether the call may run."""
    DENY = "deny"
    """Block the call, or continue the turn; the model reads why."""
    INJECT = "inject"
    """Add the text to the model's context."""


class MatchTarget(StrEnum):
    """What a pattern is matched against."""

    COMMAND = "command"
    """Each simple command of a shell line, unwrapped, from its first word on; never the raw line."""
    PATH = "path"
    """Each file that the call names, relative to the repository."""
    CONTENT = "content"
    """Text that the call writes to a file."""
    PROMPT = "prompt"
    """The prompt of the user, or of a subagent."""
    OUTPUT = "output"
    """The tool's output, or the agent's last message."""
    RAW_COMMAND = "line"
    """The raw shell line; foreign rules only."""
    OLD_CONTENT = "before"
    """Text that the call removes from a file; foreign rules only."""


CONFIGURABLE_TARGETS = (
    MatchTarget.COMMAND,
    MatchTarget.PATH,
    MatchTarget.CONTENT,
    MatchTarget.PROMPT,
    MatchTarget.OUTPUT,
)
"""The values of ``where`` in rule files."""


class FailMode(StrEnum):
    """What a rule does if it cannot be evaluated."""

    OPEN = "open"
    CLOSED = "closed"


class Owner(StrEnum):
    """Who wrote a rule."""

    USER = "user"
    PROJECT = "project"
    """A rule of the project, in a file that the user has trusted."""
    UNTRUSTED = "untrusted"
    """A rule of the project in an untrusted file: it can only restrict, and its text is hidden."""


@dataclass(frozen=True, slots=True)
class RuleEvent:
    """One kind of event for rules, with the targets and actions that it supports."""

    event_types: tuple[type[Event], ...]
    targets: tuple[MatchTarget, ...]
    actions: tuple[Action, ...]
    doc: str

    @property
    def is_tool_event(self) -> bool:
        """Whether it is about a tool call."""
        return ToolStarting in self.event_types or ToolFinished in self.event_types


_ADVISORY_ACTIONS = (Action.TELL, Action.INJECT)
RULE_EVENTS: Mapping[str, RuleEvent] = {
    "before-tool": RuleEvent(
        (ToolStarting, UserQuestionRequested, SubagentRequested),
        (MatchTarget.COMMAND, MatchTarget.PATH, MatchTarget.CONTENT, MatchTarget.PROMPT),
        tuple(Action),
        "A tool is about to run.",
    ),
    "after-tool": RuleEvent(
        (ToolFinished, SubagentReturned),
        (MatchTarget.COMMAND, MatchTarget.PATH, MatchTarget.CONTENT, MatchTarget.OUTPUT),
        _ADVISORY_ACTIONS,
        "A tool has run.",
    ),
    "prompt": RuleEvent(
        (PromptSubmitted,),
        (MatchTarget.PROMPT,),
        _ADVISORY_ACTIONS,
        "A prompt of the user is about to reach the model.",
    ),
    "session-start": RuleEvent(
        (SessionStarted,), (), _ADVISORY_ACTIONS, "A session starts, resumes, or was compacted."
    ),
    "agent-start": RuleEvent((SubagentStarted,), (), (Action.INJECT,), "A subagent starts."),
    "agent-end": RuleEvent((SubagentEnding,), (MatchTarget.OUTPUT,), (Action.DENY,), "A subagent is about to end."),
    "turn-end": RuleEvent(
        (TurnEnding,), (MatchTarget.OUTPUT,), (Action.TELL, Action.DENY), "The main agent is about to end its turn."
    ),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """``pattern`` matches one of the texts at ``target``; if ``is_negated``, none of them."""

    target: MatchTarget
    pattern: Pattern
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. It matches if the event, the client, the tool, the paths and every condition match."""

    name: str
    event: str
    """A key of ``RULE_EVENTS``."""
    action: Action
    text: str
    file: str = ""
    """As messages show it: relative to the repository, or absolute for the user's own."""
    line: int = 1
    tools: frozenset[str] = frozenset()
    """Tool kinds and the clients' tool names; a trailing ``*`` matches a prefix. Empty: every tool."""
    paths: Globs | None = None
    conditions: tuple[Condition, ...] = ()
    fail_mode: FailMode = FailMode.OPEN
    clients: frozenset[ClientName] = frozenset()
    """Empty: every client."""
    owner: Owner = Owner.USER
    is_enabled: bool = True
    is_shown_once: bool = False
    """Its text is shown once per session, and again after a compaction."""
    description: str = ""
    is_foreign: bool = False
    """A rule of another program, which evaluates it itself in its own client."""
    problem: str = ""
    """Why it cannot be evaluated at all, such as an invalid pattern."""

    @property
    def location(self) -> str:
        """The file and line of the rule."""
        return f"{self.file}:{self.line}" if self.file else ""


class MatchResult(StrEnum):
    """The three outcomes of a rule. ``UNKNOWN`` is never treated as one of the others."""

    NO_MATCH = "does not match"
    MATCH = "matches"
    UNKNOWN = "could not evaluate"


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """The outcome of one rule for one event.

    ``effect`` is None if nothing follows, as from an untrusted rule that would not restrict. ``reason`` is one
    sentence: what matched, or what could not be evaluated.
    """

    match_result: MatchResult = MatchResult.NO_MATCH
    effect: Effect | None = None
    reason: str = field(default="")


NO_MATCH_OUTCOME = RuleOutcome()


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules, the problems of their files (a sentence each), and the untrusted files."""

    rules: tuple[Rule, ...] = ()
    problems: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()
