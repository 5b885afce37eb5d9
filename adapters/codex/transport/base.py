"""The events, requests and endings that all transports to Codex share.

Invariant: a turn is a stream of events that ends with exactly one ``Ending``. A transport never sends a turn twice, and
when the stream is closed, no process of that turn remains.

A failed turn is classified by the message of Codex. Only the start of a message counts: what follows may quote a
provider. A message that is not in the table is ``FailureReason.TURN_FAILED``, and the user reads it unchanged. Source:
recordings of 0.169.0, one row for each (``tests/recorded/codex/exec_errors.json``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any, Protocol

from upbeat.core.package_data import load_toml


@dataclass(frozen=True, slots=True)
class TurnInput:
    """One turn: the prompt of the user, the context for it (may be empty), and the thread to continue.

    ``guidance`` is upbeat's own text about the workflow: it has no data of the repository, and no frame.
    ``effort`` is the reasoning effort of this turn in Codex's terms; empty leaves it to Codex.
    """

    prompt: str
    context: str = ""
    thread_id: str = ""
    guidance: str = ""
    effort: str = ""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens, counted over the whole life of a thread."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ThreadStarted:
    """Codex has a thread for this turn; it can be resumed even if the turn fails."""

    thread_id: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """Codex accepted the prompt."""


@dataclass(frozen=True, slots=True)
class Message:
    """One complete message of the model; its ``Delta`` pieces, if any, have the same ``item_id``."""

    text: str
    item_id: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a message while the model writes it; the complete ``Message`` may follow."""

    item_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A summary of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ItemStarted:
    """Work that takes time started; an event with the same ``item_id`` ends it."""

    item_id: str
    label: str
    """The command line or the name of the tool; empty for work that is shown when it is done."""


@dataclass(frozen=True, slots=True)
class CommandFinished:
    """A command ended; ``exit_code`` is None if it did not exit by itself."""

    item_id: str
    command: str
    output: str
    exit_code: int | None
    is_declined: bool = False
    """Whether it was not run because approval was declined."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One changed file; ``kind`` is add, update or delete. ``diff`` may be empty, or the content of a new file."""

    kind: str
    path: str
    diff: str = ""
    new_path: str = ""
    """Where the file is moved to, if it is."""


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """Files were changed, or could not be changed if ``has_failed``."""

    item_id: str
    diffs: tuple[FileDiff, ...]
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool of an MCP server was called (``server.tool``); ``error`` is empty if it answered."""

    item_id: str
    tool: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class WarningIssued:
    """Codex has a warning; the turn continues."""

    text: str


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """The connection to the model failed, and Codex retries. This is neither progress nor an ending."""

    text: str


@dataclass(frozen=True, slots=True)
class WindowUsage:
    """Tokens of the last request of the thread, and the size of the context window (0: unknown)."""

    used_tokens: int
    window_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ThreadCompacted:
    """Codex replaced the thread so far with a summary."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of the model's plan; ``status`` is pending, inProgress or completed."""

    text: str
    status: str


@dataclass(frozen=True, slots=True)
class PlanUpdated:
    """The current plan of the model."""

    steps: tuple[PlanStep, ...]


class ApprovalDecision(StrEnum):
    """The answers to an ``ApprovalRequest``."""

    ACCEPT = "accept"
    ACCEPT_SESSION = "accept_session"
    """Yes, and do not ask for the same again in this session."""
    ACCEPT_RULE = "accept_rule"
    """Yes, and never ask again for commands with ``ApprovalRequest.allowed_prefix``; Codex stores that."""
    DECLINE = "decline"
    """No; the model continues without it."""
    CANCEL = "cancel"
    """No, and end the turn."""


class ApprovalKind(StrEnum):
    """The subject of an ``ApprovalRequest``."""

    COMMAND = "command"
    FILES = "files"
    NETWORK = "network"
    TOOL = "tool"
    PERMISSIONS = "permissions"
    INPUT = "input"
    """Codex, a tool or a server wants text instead of a decision; codex-auto always declines."""


class ApprovalProblem(StrEnum):
    """Why nobody can say yes to an ``ApprovalRequest``: what it shows would not be what runs."""

    EMPTY = "empty"
    """It does not say what would run."""
    UNKNOWN_ITEM = "unknown_item"
    """It is about changes that Codex did not announce."""
    UNKNOWN_KIND = "unknown_kind"
    """It is of a kind that this version does not know."""
    NOT_EXACT = "not_exact"
    """What it says does not decode to the bytes that would run."""
    TOO_SMALL = "too_small"
    """The terminal is too small to show it."""


@dataclass(frozen=True, slots=True)
class PendingCall:
    """The call that waits for an approval, as a hook would report it; ``thread_id`` may be that of a subagent."""

    call_id: str
    thread_id: str
    tool: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """Codex asks for approval. ``subject`` is the command, the host, the question of the tool or the permissions.

    All of it is untrusted. ``choices`` are the decisions that Codex accepts, the most careful last. Whatever else the
    request says is in ``details``, as JSON by name.
    """

    kind: ApprovalKind
    subject: str
    cwd: str = ""
    reason: str = ""
    diffs: tuple[FileDiff, ...] = ()
    choices: tuple[ApprovalDecision, ...] = (ApprovalDecision.ACCEPT, ApprovalDecision.DECLINE, ApprovalDecision.CANCEL)
    allowed_prefix: tuple[str, ...] = ()
    """The words that commands start with which ``ACCEPT_RULE`` would allow."""
    program: str = ""
    """The shell that would run ``subject``, with its option; empty if ``subject`` is the whole command line."""
    details: tuple[tuple[str, str], ...] = ()
    problem: ApprovalProblem | None = None
    """Why no decision that means yes is among ``choices``."""
    call: PendingCall | None = field(default=None, compare=False)
    policy_text: str = ""
    """What the policies in force want the user to consider."""


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """Codex got its answer; ``is_by_person`` is False if no user could be asked and the answer was no."""

    request: ApprovalRequest
    decision: ApprovalDecision
    is_by_person: bool = True


class TransportNoticeKind(StrEnum):
    """The kinds of notices about the transport."""

    RESTARTED = "restarted"
    """Codex exited and was restarted; the thread continues. Nothing was sent twice."""
    WAITING = "waiting"
    """Another client runs a turn on the thread; this one waits for its end."""


@dataclass(frozen=True, slots=True)
class TransportNotice:
    """A notice about the transport, not about the turn. ``text`` comes from Codex and is untrusted."""

    kind: TransportNoticeKind
    text: str = ""


@dataclass(frozen=True, slots=True)
class UnrecognizedEvent:
    """An event of a newer Codex, or an invalid one; ``name`` identifies it."""

    name: str


class FailureReason(StrEnum):
    """Why a turn failed, as far as it matters for recovery and advice."""

    TURN_FAILED = "turn_failed"
    """Codex reported a failure; the prompt is part of the thread."""
    NO_ROLLOUT = "no_rollout"
    """The thread to resume is gone; nothing was sent."""
    ACTIVE_WRITER = "active_writer"
    """Another program holds the thread; nothing was sent."""
    ARCHIVED = "archived"
    """The thread is archived; nothing was sent."""
    LAUNCH_FAILED = "launch_failed"
    """Codex could not be started."""
    CODEX_CONFIG = "codex_config"
    """Codex rejects its configuration."""
    INVALID_FLAG = "invalid_flag"
    """Codex rejects a flag."""
    EXITED_MID_TURN = "exited_mid_turn"
    """Codex exited during the turn; the prompt may be part of the thread."""
    IDLE_TIMEOUT = "idle_timeout"
    """Codex made no progress for too long and was stopped."""
    PROMPT_TOO_LONG = "prompt_too_long"
    """The prompt is longer than Codex accepts; nothing was sent."""
    REQUEST_REFUSED = "request_refused"
    """Codex rejected the request; nothing was sent."""
    SERVER_EXITED = "server_exited"
    """Codex exited before it accepted the prompt, even after a restart; nothing was sent."""
    UNAUTHORIZED = "unauthorized"
    """The provider rejects the key or the login; here and below, the prompt is part of the thread."""
    MISSING_KEY = "missing_key"
    """The environment variable with the provider's key is not set."""
    QUOTA_EXCEEDED = "quota_exceeded"
    """The account is out of quota."""
    RATE_LIMITED = "rate_limited"
    """The provider limits the rate of requests."""
    PROVIDER_ERROR = "provider_error"
    """The provider is overloaded or failing."""
    STREAM_DISCONNECTED = "stream_disconnected"
    """The connection broke during the answer."""
    CONTEXT_FULL = "context_full"
    """The thread no longer fits the context window of the model."""
    BAD_REQUEST = "bad_request"
    """The provider rejects the request, or does not know the model."""
    PROVIDER_UNREACHABLE = "provider_unreachable"
    """The provider is unreachable."""
    EXITED_BEFORE_TURN = "exited_before_turn"
    """Codex exited before it accepted the prompt, for an unknown reason; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The turn is running; sent every second, so that the reader can poll other sources."""


HEARTBEAT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class RawLine:
    """One line of Codex as received, for programs; the event that it means precedes it."""

    line: bytes


@dataclass(frozen=True, slots=True)
class Completed:
    """The turn is complete."""

    usage: TokenUsage


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn failed. ``text`` comes from Codex and is untrusted."""

    reason: FailureReason
    text: str = ""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The user, or a signal to codex-auto, stopped the turn. ``signal`` is its number."""

    signal: int


Ending = Completed | Failed | Interrupted
TurnEvent = (
    ThreadStarted
    | TurnStarted
    | Message
    | Delta
    | Reasoning
    | ItemStarted
    | CommandFinished
    | FilesChanged
    | ToolCall
    | WarningIssued
    | Reconnecting
    | WindowUsage
    | ThreadCompacted
    | PlanUpdated
    | ApprovalDecided
    | TransportNotice
    | UnrecognizedEvent
    | Heartbeat
    | RawLine
    | Ending
)


class CodexRequestError(Exception):
    """Codex did not fulfill a request outside of a turn; ``failure`` says why."""

    def __init__(self, failure: Failed) -> None:
        super().__init__(failure.text)
        self.failure = failure


class Transport(Protocol):
    """A connection that runs turns of Codex."""

    name: str

    def planned_command(self, thread_id: str, effort: str = "") -> str:
        """Return the shell command of a turn on ``thread_id`` (empty: a new thread)."""

    def remaining_chars(self, prompt: str) -> int:
        """Return the characters left for context next to ``prompt``; negative if the prompt alone is too long."""

    def send(self, turn_input: TurnInput) -> Iterator[TurnEvent]:
        """Run one turn. The last event is an ``Ending``; closing the iterator early stops the turn."""

    def fork(self, thread_id: str) -> str:
        """Copy ``thread_id`` with its history; return the id of the new thread.

        Raises:
            CodexRequestError: Codex did not create one.
        """

    def close(self) -> None:
        """End all processes of the transport."""


# --- why a turn failed ---

_MAX_SCANNED_CHARS = 4000
_REJECTED_HISTORY = re.compile(
    r"No tool (?:output|call) found for|required following item|without its required '?reasoning"
    r"|Item with id '\w{1,80}' not found|Duplicate item found with id"
    r"|encrypted content .{0,80}could not be (?:verified|decrypted)"
    r"|tool_use.{0,80}without.{0,40}tool_result|unexpected .{0,10}tool_use_id"
    r"|must (?:start|end) with a (?:thinking block|user message)|expected .{0,3}thinking"
    r"|does not support assistant message prefill",
    re.IGNORECASE,
)


@cache
def reasons_by(table: str) -> dict[str, FailureReason]:
    """Return a table of ``failures.toml``, in its order."""
    rows = load_toml("upbeat.adapters.codex.transport", "failures.toml")[table]
    return {text: FailureReason(reason) for text, reason in rows.items()}


def classify_failure(failure: Failed) -> Failed:
    """Return ``failure`` with the reason that its text gives, unless it already has a specific one."""
    if failure.reason is not FailureReason.TURN_FAILED:
        return failure
    matches = (reason for pattern, reason in reasons_by("messages").items() if re.match(pattern, failure.text))
    return replace(failure, reason=next(matches, FailureReason.TURN_FAILED))


def is_waiting_for_network(text: str) -> bool:
    """Return whether ``text`` says that Codex waits for the provider without a limit."""
    return text.startswith("Reconnecting... waiting for network")


def is_rejected_history(text: str) -> bool:
    """Return whether a provider says in ``text`` that it rejects the conversation itself, not the last request."""
    return _REJECTED_HISTORY.search(text[:_MAX_SCANNED_CHARS]) is not None
