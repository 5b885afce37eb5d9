"""Events of clients, independent of the client.

A client's field names stay in its ``codec.py``; the core sees these frozen values.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from upbeat.core.lazy_dataclass import dataclass, field


class ClientName(StrEnum):
    """The clients of the contract. ``cli`` is any caller of ``upbeat prepare``."""

    CLAUDE_CODE = "claude-code"
    CODEX_CLI = "codex-cli"
    CLI = "cli"


class PromptOrigin(StrEnum):
    """The author of a prompt."""

    USER = "user"
    TASK_NOTIFICATION = "task_notification"
    """The client reports a finished background task as a prompt."""
    SUBAGENT = "subagent"
    """An agent delegates to a subagent."""
    WRAPPED = "wrapped"
    """codex-auto has already added context to this turn."""


@dataclass(frozen=True, slots=True)
class EventSource:
    """The origin of an event. ``cwd`` is absolute; ``session_id`` is empty if the client has none.

    ``agent_id`` identifies the subagent, or is empty for the main agent. ``transcript_path`` is the client's own
    record, if it reports one.
    """

    client: ClientName
    cwd: str
    session_id: str = ""
    agent_id: str = ""
    transcript_path: str = ""

    @property
    def short_agent_id(self) -> str:
        """Return the end of ``agent_id``, for use in session notes."""
        return self.agent_id[-12:]


@dataclass(frozen=True, slots=True)
class PromptSubmitted:
    """A prompt is about to reach the model."""

    source: EventSource
    prompt: str
    origin: PromptOrigin = PromptOrigin.USER


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session began; ``trigger`` is startup, resume, clear, compact or fork.

    ``is_headless``: nobody sees its messages; None if the client does not say.
    """

    source: EventSource
    trigger: str
    is_headless: bool | None = None


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """A session ended; ``reason`` is the client's word for why."""

    source: EventSource
    reason: str = ""


class ToolKind(StrEnum):
    """What a tool call does, independent of the client's name for the tool."""

    READ = "read"
    EDIT = "edit"
    """Replaces parts of files."""
    WRITE = "write"
    """Writes whole files."""
    SEARCH = "search"
    FETCH = "fetch"
    SHELL = "shell"
    TASK_LIST = "plan"
    """Writes the agent's own task list."""
    ASK_USER = "ask"
    DELEGATE = "delegate"
    OTHER = "other"


FILE_CHANGING_KINDS = frozenset({ToolKind.EDIT, ToolKind.WRITE})
READING_KINDS = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH})


@dataclass(frozen=True, slots=True)
class FileEdit:
    """Text that a call puts into a file, and the text it replaces if the call states it."""

    path: str
    new_text: str
    old_text: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One entry of the agent's own task list. ``id`` is empty if a call writes the whole list.

    In a call that updates an entry, an empty ``text`` and ``is_done`` None mean "unchanged".
    """

    text: str
    is_done: bool | None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. ``id`` is the client's, the same before and after; ``input`` is what the model wrote.

    The other fields describe ``input`` independently of the client: ``paths`` are absolute and cover the files that
    the call names; ``edits`` and ``tasks`` are what it writes.
    """

    id: str
    tool: str
    input: Mapping[str, Any]
    kind: ToolKind = ToolKind.OTHER
    paths: tuple[str, ...] = ()
    edits: tuple[FileEdit, ...] = ()
    tasks: tuple[Task, ...] = ()
    is_full_task_list: bool = False
    """``tasks`` replaces the whole list instead of adding or updating one entry."""
    option_labels: tuple[str, ...] = ()
    """The options of a question to the user, each once."""


@dataclass(frozen=True, slots=True)
class ToolStarting:
    """A tool is about to run. ``command`` is the shell command line, for the client's shell tool."""

    source: EventSource
    call: Call
    command: str = ""


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool has run. ``exit_code`` is None if the client reports none; ``was_interrupted``: by the user."""

    source: EventSource
    call: Call
    output: str = ""
    command: str = ""
    exit_code: int | None = None
    has_failed: bool = False
    was_interrupted: bool = False
    was_rejected: bool = False
    """The client rejected the call as invalid and never started it."""
    raw: Any = field(default=None, compare=False, repr=False)
    """The client's own response: for its adapter only, never recorded."""


@dataclass(frozen=True, slots=True)
class UserQuestionRequested:
    """The agent is about to ask the user a question with the client's own tool."""

    source: EventSource
    call: Call


@dataclass(frozen=True, slots=True)
class SubagentRequested:
    """An agent is about to delegate ``prompt`` to a subagent of ``agent_type``, as the agent wrote it.

    ``is_prompt_hidden``: the client hides the prompt from hooks, so nothing can be prepended.
    """

    source: EventSource
    call: Call
    agent_type: str
    prompt: str
    title: str = ""
    is_prompt_hidden: bool = False


@dataclass(frozen=True, slots=True)
class SubagentReturned:
    """A delegating call has returned.

    ``message`` is the subagent's answer, or None while it still works; ``agent_id`` is empty if the client does not
    report it. ``has_failed``: no subagent was started, and ``error`` is the client's message; it is empty if the
    client gave none or the user interrupted the call. ``resume_call`` is the client's call that continues the
    subagent; it is empty if unknown, or if the client tells its model itself.
    """

    source: EventSource
    call: Call
    agent_id: str = ""
    message: str | None = None
    has_failed: bool = False
    error: str = ""
    resume_call: str = ""
    was_rejected: bool = False
    """The client rejected the call as invalid and never started it."""


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """A subagent started."""

    source: EventSource
    agent_id: str
    agent_type: str


@dataclass(frozen=True, slots=True)
class SubagentEnding:
    """A subagent is about to end with ``message``. ``was_continued``: it was already continued once."""

    source: EventSource
    agent_id: str
    agent_type: str
    message: str
    was_continued: bool = False


@dataclass(frozen=True, slots=True)
class CompactionStarting:
    """The client is about to compact the conversation."""

    source: EventSource
    trigger: str = ""


@dataclass(frozen=True, slots=True)
class TurnEnding:
    """The main agent is about to end its turn with ``message``.

    ``was_continued``: a hook already continued this turn. ``background_task_count`` is None if the client does not
    report it. ``is_planning``: the client is in plan mode.
    """

    source: EventSource
    message: str
    was_continued: bool = False
    background_task_count: int | None = None
    is_planning: bool = False


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """A turn failed with an error of the client or its provider. ``error`` is the client's name for it."""

    source: EventSource
    error: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class TurnInterrupted:
    """The user interrupted the turn."""

    source: EventSource


@dataclass(frozen=True, slots=True)
class AnswerLost:
    """The client did not wait for the answer about an event, so what was decided has no effect there.

    ``event_name`` is the name of the event's class.
    """

    source: EventSource
    event_name: str


@dataclass(frozen=True, slots=True)
class WorkflowCommanded:
    """A workflow command from outside the conversation: the user's shell or a model's tool.

    ``verb`` is show, start, start-if-idle (for models, which cannot leave a workflow by starting another one), stop,
    continue or hand-over; ``argument`` is the name of the workflow, or of the client to hand over to.
    """

    source: EventSource
    verb: str
    argument: str = ""
    goal: str = ""


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a newer client, or one that upbeat does not handle."""

    source: EventSource
    name: str
    fields: tuple[str, ...] = field(default=())
    is_noise: bool = False
    """The event is frequent and carries no information; it is not recorded."""


Event = (
    PromptSubmitted
    | SessionStarted
    | SessionEnded
    | ToolStarting
    | ToolFinished
    | UserQuestionRequested
    | SubagentRequested
    | SubagentReturned
    | SubagentStarted
    | SubagentEnding
    | CompactionStarting
    | TurnEnding
    | TurnFailed
    | TurnInterrupted
    | AnswerLost
    | WorkflowCommanded
    | UnknownEvent
)
