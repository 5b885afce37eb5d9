"""What codex-auto and a running Codex say to each other, whichever way they are connected.

Law: a turn is a stream of events and ends with exactly one ``Ending``; nothing comes after it. A transport
never sends a turn twice, and when its stream is closed no process of that turn is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Ask:
    """One turn: the person's words, what was prepared for them (may be empty), and the thread to go on with.

    ``guidance`` is what upbeat itself says about the workflow that runs: no data of the repository, and not framed.
    ``effort`` is how hard the model is to think in this turn, in Codex's words; empty leaves it to Codex.
    """

    prompt: str
    context: str = ""
    thread_id: str = ""
    guidance: str = ""
    effort: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, counted over the whole life of a thread."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ThreadStarted:
    """Codex has a thread for this turn; it can be resumed from now on, even if the turn fails."""

    thread_id: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """Codex works on the prompt."""


@dataclass(frozen=True, slots=True)
class Message:
    """One whole message of the model. If it came in pieces before, they were ``Delta`` with the same ``item``."""

    text: str
    item: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a message while the model writes it; the whole follows as a ``Message``, or never."""

    item: str
    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model shows of its thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class Began:
    """Work that takes time has begun; the event with the same ``item`` ends it."""

    item: str
    what: str
    """The command line, or the tool's name; empty for work that shows itself when it is done."""


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command has ended; ``exit_code`` is None when it did not come to an end of its own."""

    item: str
    command: str
    output: str
    exit_code: int | None
    declined: bool = False
    """It was not run: somebody said no."""


@dataclass(frozen=True, slots=True)
class Change:
    """One changed file; ``kind`` is add, update or delete. ``diff`` may be empty; of a new file it is the content."""

    kind: str
    path: str
    diff: str = ""


@dataclass(frozen=True, slots=True)
class FileChange:
    """Files were changed, or, if ``failed``, were to be."""

    item: str
    changes: tuple[Change, ...]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool of an MCP server (``server`` and all) was called; ``error`` is empty when it answered."""

    item: str
    tool: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Warned:
    """Codex wants something known; the turn goes on."""

    text: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """The connection to the model has trouble, and Codex tries on. Not progress, and not the end."""

    text: str


@dataclass(frozen=True, slots=True)
class ContextUsed:
    """Tokens that the last request of the thread took, and how many the model takes (0: not known)."""

    tokens: int
    window: int = 0


@dataclass(frozen=True, slots=True)
class Compacted:
    """Codex has put a summary in the place of what was said so far."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the model's plan; ``status`` is pending, inProgress or completed."""

    text: str
    status: str


@dataclass(frozen=True, slots=True)
class Planned:
    """The model's plan as it is now."""

    steps: tuple[Step, ...]


class Decision(StrEnum):
    """What a person can answer to an ``Approval``."""

    ACCEPT = "accept"
    ACCEPT_SESSION = "accept_session"
    """Yes, and do not ask again for the same in this session."""
    ACCEPT_RULE = "accept_rule"
    """Yes, and never ask again for what ``Approval.rule`` says; Codex writes that down for good."""
    DECLINE = "decline"
    """No; the model goes on without it."""
    CANCEL = "cancel"
    """No, and the turn is over."""


class Matter(StrEnum):
    """What an ``Approval`` is about."""

    COMMAND = "command"
    FILES = "files"
    NETWORK = "network"
    TOOL = "tool"
    PERMISSIONS = "permissions"
    INPUT = "input"
    """Codex, a tool or a server wants words rather than a yes; codex-auto can only say no."""


@dataclass(frozen=True, slots=True)
class Approval:
    """Codex asks whether it may. ``what`` is the command, the host, the tool's question or the permissions.

    All of it is untrusted. ``choices`` are the decisions that Codex takes, the most careful last.
    """

    matter: Matter
    what: str
    cwd: str = ""
    reason: str = ""
    changes: tuple[Change, ...] = ()
    choices: tuple[Decision, ...] = (Decision.ACCEPT, Decision.DECLINE, Decision.CANCEL)
    rule: tuple[str, ...] = ()
    """How the commands begin that ``ACCEPT_RULE`` would allow."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Codex has its answer; ``by_person`` is False where nobody could be asked and the answer was no."""

    approval: Approval
    decision: Decision
    by_person: bool = True


class Notice(StrEnum):
    """What the way to Codex has to say for itself."""

    RESTARTED = "restarted"
    """Codex had ended, and was started again; the thread goes on. Nothing was sent twice."""
    WAITING = "waiting"
    """The thread is busy with a turn that somebody else started; this one waits for its end."""


@dataclass(frozen=True, slots=True)
class TransportNote:
    """Something about the way to Codex, not about the turn. ``text`` is what Codex said about it, untrusted."""

    notice: Notice
    text: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that a newer Codex says, or something broken; ``what`` names it."""

    what: str


class Why(StrEnum):
    """Why a turn failed, as far as it matters for what happens next."""

    TURN = "turn"
    """Codex said so; the prompt is part of the thread."""
    NO_ROLLOUT = "no_rollout"
    """The thread to resume is gone; nothing was sent."""
    ACTIVE_WRITER = "active_writer"
    """Another program holds the thread; nothing was sent."""
    ARCHIVED = "archived"
    """The thread has been archived; nothing was sent."""
    NO_PROGRAM = "no_program"
    """Codex could not be started."""
    CODEX_CONFIG = "codex_config"
    """Codex does not accept its configuration."""
    USAGE = "usage"
    """Codex does not accept a flag."""
    NO_ENDING = "no_ending"
    """Codex stopped in the middle; the prompt may be part of the thread."""
    SILENT = "silent"
    """Codex made no progress for too long and was stopped."""
    TOO_LONG = "too_long"
    """The prompt is longer than Codex takes; nothing was sent."""
    REFUSED = "refused"
    """Codex did not take the request; nothing was sent."""
    GONE = "gone"
    """Codex has ended before it took the prompt, though it was started again; nothing was sent."""
    UNAUTHORIZED = "unauthorized"
    """The provider does not accept the key or the login; the prompt is part of the thread, as with all below."""
    MISSING_KEY = "missing_key"
    """The environment variable with the provider's key is not set."""
    QUOTA = "quota"
    """The account has used up what it may."""
    RATE_LIMIT = "rate_limit"
    """Too many requests; later it works again."""
    PROVIDER = "provider"
    """The provider is overloaded or broken."""
    CUT = "cut"
    """The connection broke in the middle of the answer."""
    CONTEXT_FULL = "context_full"
    """The thread no longer fits into the model's window."""
    BAD_REQUEST = "bad_request"
    """The provider does not accept what it was asked, or does not know the model."""
    UNREACHABLE = "unreachable"
    """There is no way to the provider."""
    NOT_STARTED = "not_started"
    """Codex ended before it took the prompt, and not for a reason that is known here; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """The turn goes on; told every second, so that whoever reads can look at what no event tells."""


PULSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Verbatim:
    """One line of Codex as it came, a JSON object, for programs; what it means has been told before."""

    line: bytes


@dataclass(frozen=True, slots=True)
class Completed:
    """The turn is over, and the model has said what it wanted to."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn came to nothing, or not to its end. ``text`` is what Codex said about it, untrusted."""

    why: Why
    text: str = ""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The person, or a signal to codex-auto, stopped the turn. ``signal`` is its number."""

    signal: int


Ending = Completed | Failed | Interrupted
Event = (
    ThreadStarted
    | TurnStarted
    | Message
    | Delta
    | Reasoning
    | Began
    | CommandRun
    | FileChange
    | ToolCall
    | Warned
    | Trouble
    | ContextUsed
    | Compacted
    | Planned
    | Answered
    | TransportNote
    | Unknown
    | Pulse
    | Verbatim
    | Completed
    | Failed
    | Interrupted
)


class Refused(Exception):
    """Codex did not do what was asked outside of a turn; ``failed`` says why."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.text)
        self.failed = failed


class Transport(Protocol):
    """A way to have Codex do turns."""

    name: str

    def planned_command(self, thread_id: str, effort: str = "") -> str:
        """The command line that a turn on ``thread_id`` (empty: a new thread) would start, quoted for a shell."""

    def room(self, prompt: str) -> int:
        """Characters that are left for context beside ``prompt``; below zero when the prompt alone is too long."""

    def send(self, ask: Ask) -> Iterator[Event]:
        """Do one turn. The last event is an ``Ending``; closing the iterator early stops the turn."""

    def fork(self, thread_id: str) -> str:
        """A new thread with the history of ``thread_id``; its id.

        Raises:
            Refused: there is none.
        """

    def close(self) -> None:
        """End what is still there of it."""
