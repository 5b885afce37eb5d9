"""What a client tells us, in words that belong to no client.

A client's field names stay in its ``wire.py``; everything behind it sees these frozen values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class ClientName(StrEnum):
    """The clients that the contract knows. ``cli`` is anybody who calls ``upbeat prepare``."""

    CLAUDE_CODE = "claude-code"
    CODEX_CLI = "codex-cli"
    CLI = "cli"


class Origin(StrEnum):
    """Who wrote a prompt."""

    USER = "user"
    TASK_NOTIFICATION = "task_notification"
    """The client reports a finished background task in the form of a prompt."""
    SUBAGENT = "subagent"
    """An agent delegates to another one."""
    WRAPPED = "wrapped"
    """codex-auto has prepared this turn already."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where an event comes from. ``cwd`` is absolute; ``session_id`` is empty when the client has none.

    ``agent_id`` names the subagent that the event happened in; empty for the main agent. ``transcript`` is the
    path of the client's own record, where it tells one.
    """

    client: ClientName
    cwd: str
    session_id: str = ""
    agent_id: str = ""
    transcript: str = ""

    @property
    def agent_mark(self) -> str:
        """The end of ``agent_id``, short enough to stand in a note of what this agent was told."""
        return self.agent_id[-12:]


@dataclass(frozen=True, slots=True)
class PromptSubmitted:
    """A prompt is about to reach the model."""

    source: Source
    prompt: str
    origin: Origin = Origin.USER


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session began; ``how`` is startup, resume, clear, compact or fork."""

    source: Source
    how: str


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """A session is over; ``reason`` is the client's word for why."""

    source: Source
    reason: str = ""


class Act(StrEnum):
    """What a call of a tool does, whatever the client calls the tool."""

    READ = "read"
    """Files are looked at."""
    EDIT = "edit"
    """Parts of files are replaced."""
    WRITE = "write"
    """Whole files are written."""
    SEARCH = "search"
    FETCH = "fetch"
    """Something comes from the web."""
    SHELL = "shell"
    PLAN = "plan"
    """The agent's own list of tasks is written."""
    ASK = "ask"
    DELEGATE = "delegate"
    OTHER = "other"


CHANGES_FILES = frozenset({Act.EDIT, Act.WRITE})


@dataclass(frozen=True, slots=True)
class Change:
    """Text that a call puts into a file. ``before`` is what it takes out, where the call tells."""

    path: str
    text: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One entry of the agent's own list of tasks. ``id`` is empty where a call tells the whole list.

    What a call that changes an entry does not speak of is left as it was: ``text`` is empty then, ``is_done`` None.
    """

    text: str
    is_done: bool | None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool. ``id`` is the client's, the same before and after; ``input`` is what the model gave.

    The rest is ``input`` in words that belong to no client: ``paths`` are absolute, as far as the call names files;
    ``changes`` and ``tasks`` are what it writes.
    """

    id: str
    tool: str
    input: Mapping[str, Any]
    act: Act = Act.OTHER
    paths: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    tasks: tuple[Task, ...] = ()
    is_whole_list: bool = False
    """``tasks`` are all there are, and not one more or one changed."""
    labels: tuple[str, ...] = ()
    """What its user may choose from, each once, for a call that asks."""


@dataclass(frozen=True, slots=True)
class ToolStarting:
    """A tool is about to run. ``command`` is the shell command line, for the client's shell tool."""

    source: Source
    call: Call
    command: str = ""


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool has run. ``exit_code`` is None when the client does not tell one; ``interrupted`` by the user."""

    source: Source
    call: Call
    output: str = ""
    command: str = ""
    exit_code: int | None = None
    failed: bool = False
    interrupted: bool = False
    refused: bool = False
    """The client took the call for invalid and never started it."""
    raw: Any = field(default=None, compare=False, repr=False)
    """The answer in the client's own form: for its adapter alone, and for no record."""


@dataclass(frozen=True, slots=True)
class AskingUser:
    """The agent is about to ask its user something through the client's own tool for that."""

    source: Source
    call: Call


@dataclass(frozen=True, slots=True)
class Delegating:
    """An agent is about to hand ``prompt`` to another one. ``agent`` is the kind it asked for, as it wrote it.

    ``is_sealed``: the client hides the prompt from hooks, and nothing can be put before it.
    """

    source: Source
    call: Call
    agent: str
    prompt: str
    title: str = ""
    is_sealed: bool = False


@dataclass(frozen=True, slots=True)
class Delegated:
    """The call that hands work to another agent has returned.

    ``message`` is the agent's answer, or None while it still works; ``agent_id`` is empty when the client does
    not tell which agent the call became. ``failed``: no agent came of it, and ``error`` is what the client said of
    that; it is empty where nobody told, and where its user broke the call off. ``resume`` is the call that goes on
    with the agent, in the client's own words; empty where nothing is known, and where the client tells its model.
    """

    source: Source
    call: Call
    agent_id: str = ""
    message: str | None = None
    failed: bool = False
    error: str = ""
    resume: str = ""
    refused: bool = False
    """The client took the call for invalid and never started it."""


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """A subagent began to work."""

    source: Source
    agent_id: str
    agent: str


@dataclass(frozen=True, slots=True)
class AgentStopped:
    """A subagent wants to end with ``message``. ``continued``: it was already sent on once."""

    source: Source
    agent_id: str
    agent: str
    message: str
    continued: bool = False


@dataclass(frozen=True, slots=True)
class Compacting:
    """The client is about to summarise the conversation."""

    source: Source
    trigger: str = ""


@dataclass(frozen=True, slots=True)
class TurnEnding:
    """The main agent wants to end its turn with ``message``; ``running`` background tasks go on without it.

    ``continued``: a hook already sent it on in this turn. ``running`` is None when the client does not tell.
    ``is_planning``: the client is in the mode in which nothing is to be changed yet.
    """

    source: Source
    message: str
    continued: bool = False
    running: int | None = None
    is_planning: bool = False


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """A turn ended by an error of the client or its provider. ``error`` is the client's word for it."""

    source: Source
    error: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class TurnInterrupted:
    """The user broke the turn off."""

    source: Source


@dataclass(frozen=True, slots=True)
class Commanded:
    """Somebody gives the session's workflow an order beside the conversation: a person's shell, a model's tool.

    ``verb`` is show, start, start-if-idle (a model's: it cannot leave a workflow by starting another one), stop,
    continue or hand-over; ``argument`` is the workflow's name, or the client to hand over to.
    """

    source: Source
    verb: str
    argument: str = ""
    goal: str = ""


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a newer client, or one that upbeat has no opinion on."""

    source: Source
    name: str
    fields: tuple[str, ...] = field(default=())
    is_noise: bool = False
    """It happens all the time and tells nothing: there is no record of it."""


Event = (
    PromptSubmitted
    | SessionStarted
    | SessionEnded
    | ToolStarting
    | ToolFinished
    | AskingUser
    | Delegating
    | Delegated
    | AgentStarted
    | AgentStopped
    | Compacting
    | TurnEnding
    | TurnFailed
    | TurnInterrupted
    | Commanded
    | UnknownEvent
)
