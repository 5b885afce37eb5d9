"""What the core needs from the world, as Protocols. ``adapters/local`` and ``adapters/code`` implement them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from upbeat.core.contract.event import EventSource
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.contract.report import Limit, PlannedTool, RootSource, ToolRun
from upbeat.core.settings import Settings

if TYPE_CHECKING:
    from upbeat.core.journal.record import Record
    from upbeat.core.learned.model import Habit, HabitObservation
    from upbeat.core.policy.queries import ContextUsage, Query
    from upbeat.core.policy.side_effects import SideEffect
    from upbeat.core.rules.ruleset import RuleSet
    from upbeat.core.workflow.registry import Registry
    from upbeat.core.workflow.state import PeerSession, SessionState


@dataclass(frozen=True, slots=True)
class Repository:
    """A place to look at.

    ``root`` is absolute and real (no symlinks); ``shown`` is how the report names it; ``identity`` is the
    first commit's id, or ``shown`` without git. ``problem`` is empty, or says why nothing can be read there.
    """

    root: str
    display_path: str
    root_source: RootSource
    identity: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RepoContext:
    """Where a turn happens: the repository, the settings in force there, and what was wrong with them."""

    repository: Repository
    settings: Settings
    limits: tuple[Limit, ...] = ()
    problems: tuple[str, ...] = ()
    """Configuration errors, all of them; the turn is left alone while there are any."""


class Clock(Protocol):
    """Time and chance, so that both can be fixed in tests and in plan mode."""

    def now(self) -> datetime:
        """The time in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go backwards."""

    def nonce(self) -> str:
        """Twelve hexadecimal digits that nobody can foresee."""


class ContextResolver(Protocol):
    """Resolves the repository and the settings of an event."""

    def resolve(self, source: EventSource, repo_root: str | None, *, is_plan: bool) -> RepoContext:
        """The repository and settings for ``source``; never raises for wrong settings."""


class Cancellation(Protocol):
    """Tells a tool to stop."""

    def is_set(self) -> bool:
        """Whether the tool's time is over; asked between units of work of a few milliseconds."""


class ToolProvider(Protocol):
    """Offers tools. Raises ``ToolFailure`` when a call gives no result."""

    def tools(self) -> Mapping[str, str]:
        """The names of the tools offered here, each with one sentence."""

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        """Run one tool on the repository at ``root`` (real, absolute)."""


class CodeIndex(Protocol):
    """What tools know of a repository from before. Never raises."""

    def request_update(self, root: str) -> None:
        """Bring what is known of the tree at ``root`` up to date, in the background; returns at once."""


class ToolRunner(Protocol):
    """Runs planned tools inside the turn's budget."""

    def run(
        self, tools: tuple[PlannedTool, ...], repository: Repository, deadline: float, max_concurrency: int
    ) -> tuple[ToolRun, ...]:
        """The runs in planned order; returns by ``deadline`` (``Clock.monotonic``), whatever the tools do."""


class Transaction(Protocol):
    """What one event reads and writes; nobody else writes in between."""

    def state(self, session_id: str) -> SessionState:
        """The session's present state; ``NEW`` for one that nobody knows."""

    def peer_sessions(self, root: str) -> tuple[PeerSession, ...]:
        """The sessions in the repository at ``root`` that have a run, the latest first; at most 50."""

    def append(self, record: Record, state: SessionState | None = None) -> None:
        """Store ``record``, redacted, and with it the new state of its session, if it has changed."""


class Journal(Protocol):
    """Keeps a record of what was decided. Never raises: what cannot be stored must not cost a turn."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A transaction that is committed at the end of the block, and rolled back if that raises."""


class Workspace(Protocol):
    """The files that workflows live on. Never raises for what a repository holds."""

    def tree_digest(self, root: str) -> str:
        """A digest of what the working tree holds, prose and specs left out; empty when it cannot be had in time."""

    def read_tasks(self, root: str, feature: str) -> str | None:
        """The text of the feature's ``tasks.md``; None when there is none."""

    def tick_tasks(self, root: str, feature: str, boxes: tuple[str, ...]) -> None:
        """Tick the open boxes in ``tasks.md`` whose text is, or begins with, one of ``boxes``."""

    def archive_feature(self, root: str, feature: str) -> None:
        """Move the feature from in-progress to the archive."""

    def features_in_progress(self, root: str) -> tuple[str, ...]:
        """The names of the features in progress, sorted."""


class WorkflowLoader(Protocol):
    """What workflows there are."""

    def load(self, root: str) -> tuple[Registry, tuple[str, ...]]:
        """Those in force in the repository at ``root``, and a sentence for everything that is wrong with its files."""


class RuleLoader(Protocol):
    """What rules there are."""

    def load(self, root: str) -> RuleSet:
        """Those of the user and of the repository at ``root``, with what is wrong with their files. Never raises."""


class LearnedHabits(Protocol):
    """What was observed of how a user works; asked only where its user has switched that on. Never raises."""

    def load(self, root: str) -> tuple[Habit, ...]:
        """What is known of the project at ``root``."""

    def record(self, root: str, observations: Sequence[HabitObservation], now: float) -> None:
        """Add ``sightings``, redacted, at ``now`` (seconds since the epoch)."""


class WorldQueries(Protocol):
    """What policies want to know of the world, and what they have done in it. Never raises."""

    def query(self, query: Query, source: EventSource, root: str) -> object | None:
        """The answer that ``look`` asks for, in the repository at ``root`` (real); None where it cannot be had."""

    def perform(self, side_effect: SideEffect, root: str) -> None:
        """Do it; no program that lies in the repository at ``root`` (real) is started for it."""


class Transcripts(Protocol):
    """What the clients' own records tell. Never raises for what they hold."""

    def total_tokens(self, source: EventSource) -> int | None:
        """Tokens that the session has used in all; None when its transcript does not tell."""

    def context_usage(self, source: EventSource) -> ContextUsage | None:
        """How full the window of the agent in ``source`` is, as of its last answer.

        None when its transcript does not tell, and after a compaction until it has answered again.
        """

    def agent_id_of(self, source: EventSource, call_id: str) -> str:
        """The id of the agent that a delegating call became; empty when the transcript does not tell."""

    def exit_codes(self, source: EventSource, call_ids: frozenset[str]) -> Mapping[str, int]:
        """The exit codes of those shell commands whose end the transcript has."""
