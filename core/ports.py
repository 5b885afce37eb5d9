"""What the core needs from the world, as Protocols. ``adapters/local`` and ``adapters/code`` implement them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from .contract.event import Source
from .contract.finding import ToolOutput
from .contract.report import Limit, PlannedTool, RootSource, ToolResult
from .settings import Settings

if TYPE_CHECKING:
    from .journal.record import Record
    from .observations import Observation, Sighting
    from .policies.errand import Errand
    from .policies.look import Look, Use
    from .rules.book import RuleBook
    from .workflow.registry import Registry
    from .workflow.state import SessionState


@dataclass(frozen=True, slots=True)
class Repository:
    """A place to look at.

    ``root`` is absolute and real (no symlinks); ``shown`` is how the report names it; ``identity`` is the
    first commit's id, or ``shown`` without git. ``problem`` is empty, or says why nothing can be read there.
    """

    root: str
    shown: str
    source: RootSource
    identity: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Situation:
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


class Surroundings(Protocol):
    """Finds the situation that an event happens in."""

    def locate(self, source: Source, repo_root: str | None, *, plan: bool) -> Situation:
        """The repository and settings for ``source``; never raises for what a person got wrong."""


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

    def renew(self, root: str) -> None:
        """Bring what is known of the tree at ``root`` up to date, in the background; returns at once."""


@dataclass(frozen=True, slots=True)
class Run:
    """One planned tool and what came of it. ``output`` is there when ``result.status`` is ok."""

    result: ToolResult
    output: ToolOutput | None = None


class ToolRunner(Protocol):
    """Runs planned tools inside the turn's budget."""

    def run(
        self, tools: tuple[PlannedTool, ...], repository: Repository, deadline: float, at_once: int
    ) -> tuple[Run, ...]:
        """The runs in planned order; returns by ``deadline`` (``Clock.monotonic``), whatever the tools do."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another session in the same repository. ``updated_at`` is seconds since the epoch."""

    session_id: str
    state: SessionState
    updated_at: float


class Transaction(Protocol):
    """What one event reads and writes; nobody else writes in between."""

    def state(self, session_id: str) -> SessionState:
        """The session's present state; ``NEW`` for one that nobody knows."""

    def neighbours(self, root: str) -> tuple[Neighbour, ...]:
        """The sessions in the repository at ``root`` that have a run, the latest first; at most 50."""

    def append(self, record: Record, state: SessionState | None = None) -> None:
        """Store ``record``, redacted, and with it the new state of its session, if it has changed."""


class Journal(Protocol):
    """Keeps a record of what was decided. Never raises: what cannot be stored must not cost a turn."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A transaction that is committed at the end of the block, and rolled back if that raises."""


class Workspace(Protocol):
    """The files that workflows live on. Never raises for what a repository holds."""

    def tree(self, root: str) -> str:
        """A digest of what the working tree holds, prose and specs left out; empty when it cannot be had in time."""

    def tasks(self, root: str, feature: str) -> str | None:
        """The text of the feature's ``tasks.md``; None when there is none."""

    def tick(self, root: str, feature: str, boxes: tuple[str, ...]) -> None:
        """Tick the open boxes in ``tasks.md`` whose text is, or begins with, one of ``boxes``."""

    def archive(self, root: str, feature: str) -> None:
        """Move the feature from in-progress to the archive."""

    def in_progress(self, root: str) -> tuple[str, ...]:
        """The names of the features in progress, sorted."""


class Workflows(Protocol):
    """What workflows there are."""

    def load(self, root: str) -> tuple[Registry, tuple[str, ...]]:
        """Those in force in the repository at ``root``, and a sentence for everything that is wrong with its files."""


class Rules(Protocol):
    """What rules there are."""

    def load(self, root: str) -> RuleBook:
        """Those of the user and of the repository at ``root``, with what is wrong with their files. Never raises."""


class Memory(Protocol):
    """What was observed of how a user works; asked only where its user has switched that on. Never raises."""

    def known(self, root: str) -> tuple[Observation, ...]:
        """What is known of the project at ``root``."""

    def record(self, root: str, sightings: Sequence[Sighting], now: float) -> None:
        """Add ``sightings``, redacted, at ``now`` (seconds since the epoch)."""


class Ground(Protocol):
    """What policies want to know of the world, and what they have done in it. Never raises."""

    def look(self, look: Look, source: Source, root: str) -> object | None:
        """The answer that ``look`` asks for, in the repository at ``root`` (real); None where it cannot be had."""

    def run(self, errand: Errand, root: str) -> None:
        """Do it; no program that lies in the repository at ``root`` (real) is started for it."""


class Transcripts(Protocol):
    """What the clients' own records tell. Never raises for what they hold."""

    def tokens(self, source: Source) -> int | None:
        """Tokens that the session has used in all; None when its transcript does not tell."""

    def context(self, source: Source) -> Use | None:
        """How full the window of the agent in ``source`` is, as of its last answer.

        None when its transcript does not tell, and after a compaction until it has answered again.
        """

    def agent_of(self, source: Source, call_id: str) -> str:
        """The id of the agent that a delegating call became; empty when the transcript does not tell."""

    def exit_codes(self, source: Source, call_ids: frozenset[str]) -> Mapping[str, int]:
        """The exit codes of those shell commands whose end the transcript has."""
