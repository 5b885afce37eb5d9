"""The journal as values: the record of one event, stored records and sessions, and the journal's health.

Invariant: a record is written once and never changed; a field is only ever added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from upbeat.core.contract.effect import Explanation
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.workflow.facts import Fact
from upbeat.core.workflow.state import SessionState

DROPPED = "dropped"
"""The decision that records an effect that a component proposed and that was not carried out."""
HELD_OUT = "held out"
OVER_CAP = "client limit reached"
OVER_BUDGET = "injection budget exhausted"
DUPLICATE = "duplicate"
"""Why an effect is dropped. Invariant: no reason contains a semicolon, which separates reasons."""


@dataclass(frozen=True, slots=True)
class Record:
    """What happened at one event, who said what to it, and what came of it.

    ``at`` is UTC, ISO 8601 with milliseconds. ``event_fields`` has the event's own fields, and ``driver`` where
    a program that drives the client reported it, not a hook (codex-auto). ``effects`` are what was done:
    ``{"kind": "inject", "text": …}``. ``turn`` sums up a prepared turn. ``facts`` are what the state is folded from.
    """

    at: str
    event: str
    client: str = ""
    session_id: str = ""
    agent_id: str = ""
    root: str = ""
    event_fields: Mapping[str, Any] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    effects: tuple[Mapping[str, str], ...] = ()
    turn: Mapping[str, Any] = field(default_factory=dict)
    injected_chars: int = 0
    duration_ms: float = 0.0
    route: str = ""
    """How a client's event arrived: ``server``, ``socket`` or ``command``; empty for what did not come as a hook."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One stored record. ``seq`` counts from 1 over all sessions; ``body`` has the fields of ``Record`` as JSON."""

    seq: int
    body: Mapping[str, Any]
    previous: str
    digest: str

    def text_field(self, name: str) -> str:
        """A field of the body as text; empty when there is none."""
        value = self.body.get(name, "")
        return value if isinstance(value, str) else str(value)


SESSION_RENAMED = "SessionRenamed"
"""The last event of a session whose client gave it another name."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session that the journal has. ``updated_at`` is seconds since the epoch; ``last`` its last event, if kept."""

    session_id: str
    root: str
    client: str
    state: SessionState
    seq: int
    updated_at: float
    last_entry: JournalEntry | None = None
    problem: str = ""
    """Why its state cannot be read; it counts as new then."""

    @property
    def is_renamed(self) -> bool:
        """Whether all that it was goes on under another name, so that nobody looks for it here."""
        return self.last_entry is not None and self.last_entry.text_field("event") == SESSION_RENAMED


@dataclass(frozen=True, slots=True)
class Retention:
    """How much is kept: megabytes of file, days of records."""

    max_mb: int = 256
    max_days: int = 90


@dataclass(frozen=True, slots=True)
class PruneResult:
    """What was taken out. ``is_finished`` is False when more has to go another time."""

    records: int = 0
    sessions: int = 0
    is_finished: bool = True


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """The first record whose hash does not match, and why."""

    seq: int
    problem: str


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """Whether the journal is what was written. ``differing`` are sessions whose state is not what their records say."""

    records: int
    pruned_records: int
    """Records before the first one that is kept."""
    sessions: int
    chain_break: ChainBreak | None = None
    inconsistent_sessions: tuple[str, ...] = ()

    @property
    def is_intact(self) -> bool:
        return self.chain_break is None and not self.inconsistent_sessions


@dataclass(frozen=True, slots=True)
class JournalHealth:
    """How the journal is. ``problem`` says why nothing can be stored now; empty when all is well.

    ``mode`` is wal or delete (SQLite's name for a rollback journal). ``failures`` counts events that could not be
    stored. ``damaged`` are the names of files that were set aside.
    """

    path: str
    exists: bool
    size_bytes: int = 0
    records: int = 0
    sessions: int = 0
    oldest: str = ""
    newest: str = ""
    journal_mode: str = ""
    problem: str = ""
    write_failures: int = 0
    last_failure: str = ""
    damaged_files: tuple[str, ...] = ()
