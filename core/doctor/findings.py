"""What ``upbeat doctor`` looks at and what it says, as values.

Law: ``…Seen`` is what adapters have seen, ``…Report`` what follows from it; ``config/schema/v1/doctor.schema.json`` is
generated from the latter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..journal.entry import Health

SCHEMA_VERSION = "1.0"


class Guard(StrEnum):
    """What upbeat does at one kind of moment; it is armed when the client's hooks of that moment reach upbeat."""

    START = "start"
    """A session begins: workflows and notes are told again."""
    TURNS = "turns"
    """A prompt is prepared."""
    CALLS = "calls"
    """A skipped stage, a destructive command or a rule's case is stopped before it happens."""
    ANSWERS = "answers"
    """What a call has led to is met: failures, evidence, long answers."""
    AGENTS = "agents"
    """Agents get the stage that they work on, and are judged at their end."""
    END = "end"
    """A turn that is not done goes on."""


SHOWN_BY: Mapping[Guard, frozenset[str]] = {
    Guard.START: frozenset({"SessionStarted"}),
    Guard.TURNS: frozenset({"PromptSubmitted"}),
    Guard.CALLS: frozenset({"ToolStarting", "AskingUser", "Delegating"}),
    Guard.ANSWERS: frozenset({"ToolFinished", "Delegated"}),
    Guard.AGENTS: frozenset({"AgentStarted", "AgentStopped"}),
    Guard.END: frozenset({"TurnEnding", "TurnFailed"}),
}
"""Guard -> the events of records that show that it was reached."""

ALL = frozenset(Guard)
REMEMBERING = ALL - {Guard.START, Guard.TURNS}
"""Guards that decide by what a session was before, which is kept in the journal."""


class Reason(StrEnum):
    """Why a guard is not armed. Part of contract v1: may be added to, never renamed."""

    UNPROVEN = "unproven"
    DID_NOT_FIRE = "did_not_fire"
    NOT_REFUSED = "not_refused"
    CANARY_FAILED = "canary_failed"
    SILENT = "silent"
    UNSEEN_SESSION = "unseen_session"
    NOT_SWITCHED_ON = "not_switched_on"
    PLUGIN_DISABLED = "plugin_disabled"
    PLUGIN_GONE = "plugin_gone"
    PROGRAM_GONE = "program_gone"
    HOOKS_CHANGED = "hooks_changed"
    HOOKS_DISABLED = "hooks_disabled"
    MANAGED_HOOKS_ONLY = "managed_hooks_only"
    HOOK_OFF = "hook_off"
    UNTRUSTED = "untrusted"
    TRUST_CHANGED = "trust_changed"
    SERVER_OFF = "server_off"
    SERVER_NOT_CONNECTED = "server_not_connected"
    CLIENT_TOO_OLD = "client_too_old"
    CLIENT_BROKEN = "client_broken"
    TWICE = "twice"
    IN_THE_WAY = "in_the_way"
    SWITCHED_OFF = "switched_off"
    PLAN_MODE = "plan_mode"
    NO_BYTE_CODE = "no_byte_code"
    AFFECTED_SQLITE = "affected_sqlite"
    NETWORK_FILE_SYSTEM = "network_file_system"
    JOURNAL_UNUSABLE = "journal_unusable"


OF_TRUST = frozenset({Reason.UNTRUSTED, Reason.TRUST_CHANGED})
"""What its user mends by a review in the client, and nobody else."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that keeps ``guards`` from being armed. ``detail`` names what and where.

    ``can_be_disproved``: it only makes it likely, so that a guard that a canary saw at work is armed all the same: that
    started the client of now. What the journal saw may have been another one.
    """

    reason: Reason
    detail: str = ""
    guards: frozenset[Guard] = ALL
    can_be_disproved: bool = False


@dataclass(frozen=True, slots=True)
class SessionSeen:
    """What the journal has of one session by the hooks of now. Times are UTC, ISO 8601; ``last`` has the guards seen.

    ``is_whole``: all its records were read, and show it. ``is_wrapped``: codex-auto drove it, and answers for
    the ends of its turns.
    """

    session_id: str
    at: str
    counts: Mapping[Guard, int] = field(default_factory=dict)
    last: Mapping[Guard, str] = field(default_factory=dict)
    is_whole: bool = True
    is_wrapped: bool = False


@dataclass(frozen=True, slots=True)
class Unseen:
    """A session that the client has kept a record of; ``began`` as in ``SessionSeen``."""

    session_id: str
    began: str


@dataclass(frozen=True, slots=True)
class Canary:
    """One session of the real client with a stub for a model.

    ``problem`` says why nothing can be told from it; ``server`` what the client said of our server, if anything was
    wrong with it. ``refused``: a destructive command was stopped, and the model was told by whom.
    """

    at: str
    session_id: str = ""
    seen: frozenset[Guard] = frozenset()
    refused: bool = False
    problem: str = ""
    server: str = ""
    milliseconds: int = 0


class Presence(StrEnum):
    """Whether there is something to be armed."""

    INSTALLED = "installed"
    NOT_INSTALLED = "not_installed"
    """The client is here, upbeat was never installed for it."""
    NOT_HERE = "not_here"


@dataclass(frozen=True, slots=True)
class ClientSeen:
    """What was seen of one client. ``word`` is what ``upbeat install`` calls it; ``version`` is empty if not told.

    The hooks of now were written at ``written_at`` (UTC, ISO 8601). ``own`` are guards that need
    no hook of a client.
    """

    client: str
    name: str
    word: str
    presence: Presence
    version: str = ""
    program: str = ""
    faults: tuple[Fault, ...] = ()
    sessions: tuple[SessionSeen, ...] = ()
    """The latest first."""
    kept: tuple[Unseen, ...] = ()
    """Sessions that the client has kept and the journal does not know."""
    written_at: str = ""
    own: frozenset[Guard] = frozenset()
    canary: Canary | None = None
    notes: tuple[str, ...] = ()
    """What is worth knowing and disarms nothing."""
    hooks_of: str = ""
    """The program whose hooks these are, where it is another one."""

    @property
    def about(self) -> str:
        """Whom sentences are about."""
        return self.hooks_of or self.name


@dataclass(frozen=True, slots=True)
class InstallationSeen:
    """What was seen of this installation of upbeat."""

    version: str
    python: str
    modules: int
    uncompiled: int
    """Modules without byte code, in a place where none can be written."""
    sqlite: str
    is_sqlite_sound: bool
    is_network: bool
    journal: Health
    days: int = 0
    unanswered: int = 0
    """Events of the last ``days`` that upbeat itself failed at."""
    last_unanswered: str = ""
    off_by: str = ""
    """Where upbeat is switched off; empty when it is on."""
    plan_by: str = ""
    policies_off: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """How it is known that a guard is armed.

    ``kind`` is canary, session, own (no hook is needed) or alike (its hooks are there as those that fired are, and
    there was nothing for them to do).
    """

    kind: str
    at: str = ""
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Because:
    """One reason, in words, with what to do about it."""

    reason: Reason
    detail: str
    sentence: str
    way_out: str


@dataclass(frozen=True, slots=True)
class GuardReport:
    """One guard. Not armed: ``reasons`` says why, the surest first; armed: ``proof`` says how that is known."""

    guard: Guard
    armed: bool
    proof: Proof | None = None
    reasons: tuple[Because, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientReport:
    """One client; ``about`` is the name of the program whose hooks these are. Without upbeat there are no guards."""

    client: str
    name: str
    about: str
    word: str
    presence: Presence
    version: str
    program: str
    armed: bool
    guards: tuple[GuardReport, ...] = ()
    canary: Canary | None = None
    notes: tuple[str, ...] = ()


class Grade(StrEnum):
    OK = "ok"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Check:
    """One look at this installation. ``bad`` disarms guards, ``note`` is worth knowing."""

    name: str
    grade: Grade
    sentence: str
    way_out: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """``upbeat doctor --json``. ``armed``: every guard of every client that has upbeat is."""

    at: str
    armed: bool
    clients: tuple[ClientReport, ...] = ()
    checks: tuple[Check, ...] = ()
    schema_version: str = SCHEMA_VERSION

    @property
    def reasons(self) -> frozenset[Reason]:
        """Every reason that is given."""
        guards = (guard for client in self.clients for guard in client.guards)
        return frozenset(because.reason for guard in guards for because in guard.reasons)


def document(report: Report) -> dict[str, Any]:
    """``report`` as JSON has it."""
    from dataclasses import asdict

    def plain(value: Any) -> Any:
        if isinstance(value, frozenset):
            return sorted(value)
        if isinstance(value, dict):
            return {name: plain(one) for name, one in value.items()}
        return [plain(one) for one in value] if isinstance(value, list | tuple) else value

    told: dict[str, Any] = plain(asdict(report))
    return {"schema_version": report.schema_version, **told}
