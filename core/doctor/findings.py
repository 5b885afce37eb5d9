"""The observations and the report of ``upbeat doctor``, as values.

Invariant: ``…Snapshot`` is what adapters observed, ``…Report`` what follows from it;
``config/schema/v1/doctor.schema.json`` is generated from the latter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from upbeat.core.journal.record import JournalHealth

SCHEMA_VERSION = "1.0"


class HookPoint(StrEnum):
    """One kind of event that upbeat reacts to; it is active if the client's hooks for it reach upbeat."""

    START = "start"
    """A session starts: restore workflows and notes."""
    TURNS = "turns"
    """A prompt is submitted: add context."""
    CALLS = "calls"
    """A tool is about to run: block skipped stages, destructive commands and what a rule forbids."""
    RESULTS = "results"
    """A tool has finished: react to failures, record evidence, shorten long output."""
    AGENTS = "agents"
    """A subagent starts or ends: assign its stage, and check its report."""
    END = "end"
    """A turn ends: continue unfinished work."""


EVENTS_BY_HOOK_POINT: Mapping[HookPoint, frozenset[str]] = {
    HookPoint.START: frozenset({"SessionStarted"}),
    HookPoint.TURNS: frozenset({"PromptSubmitted"}),
    HookPoint.CALLS: frozenset({"ToolStarting", "UserQuestionRequested", "SubagentRequested"}),
    HookPoint.RESULTS: frozenset({"ToolFinished", "SubagentReturned"}),
    HookPoint.AGENTS: frozenset({"SubagentStarted", "SubagentEnding"}),
    HookPoint.END: frozenset({"TurnEnding", "TurnFailed"}),
}
"""Hook point -> the journal events that show that it was reached."""

ALL_HOOK_POINTS = frozenset(HookPoint)
STATEFUL_HOOK_POINTS = ALL_HOOK_POINTS - {HookPoint.START, HookPoint.TURNS}
"""Hook points whose decisions depend on the session state in the journal."""


class Reason(StrEnum):
    """Why a hook point is inactive. Stable codes of the JSON report."""

    UNPROVEN = "unproven"
    DID_NOT_FIRE = "did_not_fire"
    NOT_REFUSED = "not_refused"
    CANARY_FAILED = "canary_failed"
    NOT_SEEN_IN_SESSION = "not_seen_in_session"
    UNRECORDED_SESSION = "unrecorded_session"
    PLUGIN_NOT_ENABLED = "plugin_not_enabled"
    PLUGIN_DISABLED = "plugin_disabled"
    PLUGIN_MISSING = "plugin_missing"
    PROGRAM_MISSING = "program_missing"
    HOOKS_CHANGED = "hooks_changed"
    HOOKS_DISABLED = "hooks_disabled"
    MANAGED_HOOKS_ONLY = "managed_hooks_only"
    HOOK_DISABLED = "hook_disabled"
    UNTRUSTED = "untrusted"
    TRUST_CHANGED = "trust_changed"
    SERVER_DISABLED = "server_disabled"
    SERVER_NOT_CONNECTED = "server_not_connected"
    CLIENT_TOO_OLD = "client_too_old"
    CLIENT_BROKEN = "client_broken"
    DUPLICATE_HOOKS = "duplicate_hooks"
    CONFLICTING_PLUGIN = "conflicting_plugin"
    UPBEAT_DISABLED = "upbeat_disabled"
    PLAN_MODE = "plan_mode"
    SETTINGS_INVALID = "settings_invalid"
    NO_BYTE_CODE = "no_byte_code"
    AFFECTED_SQLITE = "affected_sqlite"
    NETWORK_FILE_SYSTEM = "network_file_system"
    JOURNAL_UNUSABLE = "journal_unusable"


class State(StrEnum):
    """How a hook point, a client or the whole is; the later outweighs the earlier."""

    ACTIVE = "active"
    UNVERIFIED = "unverified"
    """Correctly installed, and no event has come since: nothing to worry about."""
    ACTION_NEEDED = "action_needed"


TRUST_REASONS = frozenset({Reason.UNTRUSTED, Reason.TRUST_CHANGED})
"""Only the user can fix these, by a review in the client."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that disables ``hook_points``. ``detail`` names what and where.

    ``can_be_disproved``: it is only likely. A hook point that a canary saw firing is active all the same, because the
    canary started the current client; a session in the journal may have run another version.
    """

    reason: Reason
    detail: str = ""
    hook_points: frozenset[HookPoint] = ALL_HOOK_POINTS
    can_be_disproved: bool = False


@dataclass(frozen=True, slots=True)
class SessionActivity:
    """What the journal has of one session since the current hooks were installed. Times are UTC, ISO 8601.

    ``is_complete``: all of its records were read. ``is_wrapped``: codex-auto drove it and handles the ends of turns.
    """

    session_id: str
    last_seen_at: str
    counts: Mapping[HookPoint, int] = field(default_factory=dict)
    last_seen_by_point: Mapping[HookPoint, str] = field(default_factory=dict)
    is_complete: bool = True
    is_wrapped: bool = False


@dataclass(frozen=True, slots=True)
class UnrecordedSession:
    """A session that the client has recorded. ``started_at`` is UTC, ISO 8601."""

    session_id: str
    started_at: str


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """The result of one session of the real client with a stub model.

    ``problem`` says why it shows nothing, ``server`` what the client reported about upbeat's MCP server if that failed.
    ``refused``: a destructive command was blocked, and the model received upbeat's reason.
    """

    at: str
    session_id: str = ""
    seen: frozenset[HookPoint] = frozenset()
    refused: bool = False
    problem: str = ""
    server: str = ""
    milliseconds: int = 0


class InstallStatus(StrEnum):
    """Whether upbeat is installed for a client."""

    INSTALLED = "installed"
    NOT_INSTALLED = "not_installed"
    """The client is on PATH, but upbeat is not installed for it."""
    CLIENT_NOT_FOUND = "client_not_found"


@dataclass(frozen=True, slots=True)
class ClientSnapshot:
    """The state of one client. ``cli_name`` is its name on upbeat's command line; ``version`` is empty if unknown.

    The current hooks were written at ``hooks_written_at`` (UTC, ISO 8601). ``hookless_points`` work without a hook.
    """

    client: str
    name: str
    cli_name: str
    install_status: InstallStatus
    version: str = ""
    program: str = ""
    faults: tuple[Fault, ...] = ()
    sessions: tuple[SessionActivity, ...] = ()
    """Most recent first."""
    unrecorded_sessions: tuple[UnrecordedSession, ...] = ()
    """Sessions that the client has recorded and the journal has not."""
    hooks_written_at: str = ""
    hookless_points: frozenset[HookPoint] = frozenset()
    canary: CanaryResult | None = None
    notes: tuple[str, ...] = ()
    """Worth knowing; does not disable anything."""
    hook_owner: str = ""
    """The program whose hooks these are, if it is another one."""

    @property
    def display_name(self) -> str:
        """The program that messages are about."""
        return self.hook_owner or self.name


@dataclass(frozen=True, slots=True)
class InstallationSnapshot:
    """The state of this installation of upbeat."""

    version: str
    python: str
    modules: int
    uncompiled_modules: int
    """Modules without byte code in a folder where it cannot be written."""
    sqlite: str
    is_sqlite_sound: bool
    is_network_file_system: bool
    journal: JournalHealth
    period_days: int = 0
    failed_events: int = 0
    """Events of the last ``period_days`` on which upbeat itself failed."""
    last_failed_event: str = ""
    disabled_by: str = ""
    """The setting that disables upbeat; empty if it is enabled."""
    plan_mode_by: str = ""
    settings_problems: tuple[str, ...] = ()
    policies_off: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """The evidence that a hook point is active.

    ``kind`` is canary, session, no_hook_needed or inferred (its hooks are installed like those that fired, and nothing
    has triggered them yet).
    """

    kind: str
    at: str = ""
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One reason as text, and how to fix it."""

    reason: Reason
    detail: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class HookPointReport:
    """One hook point. Inactive: ``reasons`` says why, the surest first; active: ``proof`` says how that is known."""

    hook_point: HookPoint
    active: bool
    proof: Proof | None = None
    reasons: tuple[Diagnosis, ...] = ()
    state: State = State.ACTIVE


@dataclass(frozen=True, slots=True)
class ClientReport:
    """One client; ``hook_owner`` is the program whose hooks these are. Without upbeat there are no hook points."""

    client: str
    name: str
    hook_owner: str
    cli_name: str
    install_status: InstallStatus
    version: str
    program: str
    active: bool
    hook_points: tuple[HookPointReport, ...] = ()
    canary: CanaryResult | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_missing(self) -> bool:
        """Whether upbeat is installed for a client that is not on PATH; a note says so."""
        return self.install_status is InstallStatus.CLIENT_NOT_FOUND and bool(self.notes)


class CheckStatus(StrEnum):
    OK = "ok"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class InstallationCheck:
    """One check of this installation. ``bad`` disables hook points, ``note`` is worth knowing."""

    name: str
    status: CheckStatus
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """``upbeat doctor --json``. ``active``: every hook point of every client that has upbeat is.

    ``state`` is the worst of all hook points.
    """

    at: str
    active: bool
    clients: tuple[ClientReport, ...] = ()
    checks: tuple[InstallationCheck, ...] = ()
    schema_version: str = SCHEMA_VERSION
    state: State = State.ACTIVE

    @property
    def has_clients(self) -> bool:
        """Whether upbeat is installed for a client that is here."""
        return any(client.hook_points for client in self.clients)

    @property
    def reasons(self) -> frozenset[Reason]:
        """Every reason in the report."""
        hook_points = (hook_point for client in self.clients for hook_point in client.hook_points)
        return frozenset(reason.reason for hook_point in hook_points for reason in hook_point.reasons)


def doctor_document(report: DoctorReport) -> dict[str, Any]:
    """Return ``report`` as a JSON document."""
    from dataclasses import asdict

    def plain(value: Any) -> Any:
        if isinstance(value, frozenset):
            return sorted(value)
        if isinstance(value, dict):
            return {name: plain(item) for name, item in value.items()}
        return [plain(item) for item in value] if isinstance(value, list | tuple) else value

    document: dict[str, Any] = plain(asdict(report))
    return {"schema_version": report.schema_version, **document}
