"""What a rule of a user is, and what came of asking it. Law: values only; a rule says one thing to one kind of event.

``EVENTS`` is the table of what a rule may be about: files, documentation and checks are made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..contract.effect import Effect
from ..contract.event import (
    AgentStarted,
    AgentStopped,
    AskingUser,
    ClientName,
    Delegated,
    Delegating,
    Event,
    PromptSubmitted,
    SessionStarted,
    ToolFinished,
    ToolStarting,
    TurnEnding,
)
from .globs import Globs
from .pattern import Pattern


class Action(StrEnum):
    """What a rule does where it matches."""

    TELL = "tell"
    """Its person reads the text."""
    ASK = "ask"
    """Its person decides whether the call happens."""
    DENY = "deny"
    """The call does not happen, or the turn does not end; the model reads why."""
    INJECT = "inject"
    """The model reads the text."""


class Where(StrEnum):
    """What a pattern is held against."""

    COMMAND = "command"
    """Each simple command of a shell line, without what wraps it, from its first word on; never the raw line."""
    PATH = "path"
    """Each file that the call names, relative to the repository."""
    CONTENT = "content"
    """Text that the call puts into a file."""
    PROMPT = "prompt"
    """What was asked of the agent, or of another one."""
    OUTPUT = "output"
    """What the tool said, or the agent's last words."""
    LINE = "line"
    """The raw shell line; for rules of other programs only."""
    BEFORE = "before"
    """Text that the call takes out of a file; for rules of other programs only."""


OFFERED = (Where.COMMAND, Where.PATH, Where.CONTENT, Where.PROMPT, Where.OUTPUT)
"""What a rule file may say in ``where``."""


class Fail(StrEnum):
    """What follows where it cannot be said whether a rule matches."""

    OPEN = "open"
    CLOSED = "closed"


class Owner(StrEnum):
    """Whose rule it is."""

    USER = "user"
    PROJECT = "project"
    """The project's, and its user has trusted the file as it is."""
    STRANGER = "untrusted"
    """The project's, and nobody has trusted it: it may only tighten, and its text is not shown."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """One kind of event that a rule can be about: what a pattern may look at there, what may be done there."""

    events: tuple[type[Event], ...]
    where: tuple[Where, ...]
    actions: tuple[Action, ...]
    doc: str

    @property
    def has_tool(self) -> bool:
        """Whether it is about a call of a tool."""
        return ToolStarting in self.events or ToolFinished in self.events


_BESIDE = (Action.TELL, Action.INJECT)
EVENTS: Mapping[str, Occasion] = {
    "before-tool": Occasion(
        (ToolStarting, AskingUser, Delegating),
        (Where.COMMAND, Where.PATH, Where.CONTENT, Where.PROMPT),
        tuple(Action),
        "A tool is about to run.",
    ),
    "after-tool": Occasion(
        (ToolFinished, Delegated),
        (Where.COMMAND, Where.PATH, Where.CONTENT, Where.OUTPUT),
        _BESIDE,
        "A tool has run.",
    ),
    "prompt": Occasion((PromptSubmitted,), (Where.PROMPT,), _BESIDE, "A person's prompt is about to reach the model."),
    "session-start": Occasion((SessionStarted,), (), _BESIDE, "A session begins, goes on, or was summarised."),
    "agent-start": Occasion((AgentStarted,), (), (Action.INJECT,), "A subagent begins to work."),
    "agent-end": Occasion((AgentStopped,), (Where.OUTPUT,), (Action.DENY,), "A subagent wants to end."),
    "turn-end": Occasion(
        (TurnEnding,), (Where.OUTPUT,), (Action.TELL, Action.DENY), "The main agent wants to end its turn."
    ),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """``pattern`` stands in one of the texts at ``where``; in none of them with ``is_absent``."""

    where: Where
    pattern: Pattern
    is_absent: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. All that it says must hold: the event, the client, the tool, the paths and every condition."""

    name: str
    event: str
    """A key of ``EVENTS``."""
    action: Action
    text: str
    file: str = ""
    """As messages name it: relative to the repository, or absolute for a user's own."""
    line: int = 1
    tools: frozenset[str] = frozenset()
    """Acts, and tools by their clients' own names; one that ends in ``*`` begins a name. Empty: every tool."""
    paths: Globs | None = None
    conditions: tuple[Condition, ...] = ()
    fail: Fail = Fail.OPEN
    clients: frozenset[ClientName] = frozenset()
    """Empty: every client."""
    owner: Owner = Owner.USER
    is_enabled: bool = True
    once: bool = False
    """Its text is said once in a session, and again after a compaction."""
    description: str = ""
    is_borrowed: bool = False
    """It is another program's, which asks it itself in its own client."""
    problem: str = ""
    """Why it cannot be evaluated at all, such as a pattern that is none."""

    @property
    def place(self) -> str:
        """Where it is written: file and line."""
        return f"{self.file}:{self.line}" if self.file else ""


class Verdict(StrEnum):
    """The three outcomes. The third is neither of the others, and is never taken for one."""

    NO = "does not match"
    YES = "matches"
    UNKNOWN = "could not evaluate"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one rule at one event.

    ``effect`` is what follows: None where nothing does, as from a rule that nobody has trusted and that would loosen.
    ``because`` is one sentence: what matched, or what could not be evaluated.
    """

    verdict: Verdict = Verdict.NO
    effect: Effect | None = None
    because: str = field(default="")


NO_MATCH = Outcome()
