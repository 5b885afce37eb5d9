"""What the core needs from outside, as Protocols that ``adapters/system`` and ``adapters/code`` implement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from upbeat.core.contract.event import EventSource
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.settings import Settings

if TYPE_CHECKING:
    from upbeat.core.contract.report import Limit, PlannedTool, RootSource, ToolRun
    from upbeat.core.journal.record import Record
    from upbeat.core.learned.model import Habit, HabitObservation
    from upbeat.core.policy.definition import SideEffect
    from upbeat.core.policy.queries import ContextUsage, Query
    from upbeat.core.rules.rule import RuleSet
    from upbeat.core.workflow.evidence.runner_calls import ProjectFiles
    from upbeat.core.workflow.registry import Registry
    from upbeat.core.workflow.state import PeerSession, SessionState


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository of an event.

    ``root`` is absolute and real (no symlinks); ``display_path`` names it in reports; ``identity`` is the ID of the
    first commit, or ``display_path`` without git. ``problem`` is empty, or says why nothing can be read there.
    """

    root: str
    display_path: str
    root_source: RootSource
    identity: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RepoContext:
    """The repository of an event, the settings in force there, and what limits them."""

    repository: Repository
    settings: Settings
    limits: tuple[Limit, ...] = ()
    problems: tuple[str, ...] = ()
    """All configuration errors; while there are any, nothing is looked up."""


class Clock(Protocol):
    """Time and randomness, which tests and plan mode fix."""

    def now(self) -> datetime:
        """Return the time in UTC."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""

    def nonce(self) -> str:
        """Return twelve unpredictable hexadecimal digits."""


class ContextResolver(Protocol):
    """Resolves the repository and the settings of an event."""

    def resolve(self, source: EventSource, repo_root: str | None, *, is_plan: bool) -> RepoContext:
        """Return the repository and settings for ``source``; never raise for invalid settings."""


class Cancellation(Protocol):
    """Tells a tool to stop."""

    def is_set(self) -> bool:
        """Return whether the tool's time is over; asked between units of work of a few milliseconds."""


class ToolProvider(Protocol):
    """Offers tools."""

    def tools(self) -> Mapping[str, str]:
        """Return the names of the offered tools, each with one sentence."""

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        """Run one tool on the repository at ``root`` (real, absolute).

        Raises:
            ToolFailure: The call gives no result.
        """


class CodeIndex(Protocol):
    """The index of a repository, which outlives a turn. Never raises."""

    def request_update(self, root: str) -> None:
        """Update the index of the tree at ``root`` in the background; return at once."""

    def forget_check(self, root: str) -> None:
        """Check the tree at ``root`` for changes with the next question."""


class ToolRunner(Protocol):
    """Runs planned tools within the turn's budget."""

    def run(
        self, tools: tuple[PlannedTool, ...], repository: Repository, deadline: float, max_concurrency: int
    ) -> tuple[ToolRun, ...]:
        """Return the runs in planned order, by ``deadline`` (``Clock.monotonic``) whatever the tools do."""


class Transaction(Protocol):
    """The reads and writes of one event; no other process writes in between.

    ``problem`` is why they are not stored; empty while they are, and after the transaction if they were.
    """

    @property
    def problem(self) -> str: ...

    def state(self, session_id: str) -> SessionState:
        """Return the session's current state; ``NEW_SESSION`` if it is unknown."""

    def peer_sessions(self, root: str) -> tuple[PeerSession, ...]:
        """Return the sessions in the repository at ``root`` that have a run, the latest first; at most 50."""

    def append(self, record: Record, state: SessionState | None = None) -> None:
        """Store ``record``, redacted, and the new state of its session if it has changed."""


class Journal(Protocol):
    """Records decisions. Never raises: what cannot be stored must not cost a turn."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that is committed at the end of the block, or rolled back if the block raises."""


class Workspace(Protocol):
    """The files of workflows. Never raises because of a repository's content."""

    def tree_digest(self, root: str) -> str:
        """Return a digest of the working tree without prose and specs; empty if it cannot be computed in time."""

    def base_commit(self, root: str) -> str:
        """Return the commit that is checked out, in hexadecimal; empty if there is none."""

    def changed_files(self, root: str, since: str) -> tuple[str, ...] | None:
        """Return the files that differ from the commit ``since``, or from the last one if that is empty.

        Paths are relative to ``root``, sorted; None if they are unknown.
        """

    def read_tasks(self, root: str, feature: str) -> str | None:
        """Return the text of the feature's ``tasks.md``, or None if there is none."""

    def tick_tasks(self, root: str, feature: str, boxes: tuple[str, ...]) -> None:
        """Tick the open boxes in ``tasks.md`` whose text is, or begins with, one of ``boxes``."""

    def tick_subtask(self, root: str, feature: str, title: str, occurrence: int = 1) -> None:
        """Tick the Nth open box with this text in the phases of ``tasks.md``, and those below it."""

    def archive_feature(self, root: str, feature: str) -> None:
        """Move the feature from in-progress to the archive."""

    def features_in_progress(self, root: str) -> tuple[str, ...]:
        """Return the names of the features in progress, sorted."""

    def features_in_backlog(self, root: str) -> tuple[str, ...]:
        """Return the names of the features in the backlog, sorted."""

    def start_feature(self, root: str, feature: str) -> None:
        """Move the feature from the backlog to those in progress."""


class HandoffFiles(Protocol):
    """The whole reports of subagents, outside the repository. Never raises."""

    @property
    def folder(self) -> str:
        """The absolute folder of all runs; a report is in the file that ``core.workflow.handoff`` names."""

    def store(self, run_id: str, name: str, text: str, *, is_more: bool) -> None:
        """Store ``text``, redacted, in the file ``name`` of a run, or append it."""


class EvidenceSource(Protocol):
    """What a run of tests is judged by. Never raises."""

    def files(self, root: str) -> ProjectFiles:
        """Return the files of the repository at ``root`` (real, absolute)."""

    def is_trusted(self, root: str, path: str) -> bool:
        """Return whether the user trusts the file ``path`` of the repository as it is now."""

    def exec_key(self) -> str:
        """Return the key that ``upbeat exec`` signs with; empty if it cannot be read."""


class WorkflowLoader(Protocol):
    """Loads workflows."""

    def load(self, root: str) -> tuple[Registry, tuple[str, ...]]:
        """Return the workflows in force in the repository at ``root``, and a sentence for each problem of its files."""


class RuleLoader(Protocol):
    """Loads rules."""

    def load(self, root: str) -> RuleSet:
        """Return the rules of the user and of the repository at ``root``, with their problems; never raise."""


class LearnedHabits(Protocol):
    """Learned habits, used only if the user has enabled them. Never raises."""

    def load(self, root: str) -> tuple[Habit, ...]:
        """Return the habits of the project at ``root``."""

    def record(self, root: str, observations: Sequence[HabitObservation], now: float) -> None:
        """Add ``observations``, redacted, at ``now`` (seconds since the epoch)."""


class WorldQueries(Protocol):
    """Answers queries of policies and performs their side effects. Never raises."""

    def query(self, query: Query, source: EventSource, root: str) -> object | None:
        """Return the answer to ``query`` in the repository at ``root`` (real), or None if there is none."""

    def perform(self, side_effect: SideEffect, root: str) -> None:
        """Perform ``side_effect`` without starting a program that lies in the repository at ``root`` (real)."""


class Transcripts(Protocol):
    """Reads the clients' own transcripts. Never raises because of their content."""

    def total_tokens(self, source: EventSource) -> int | None:
        """Return all tokens that the session has used, or None if its transcript does not say."""

    def context_usage(self, source: EventSource) -> ContextUsage | None:
        """Return how full the context window of the agent in ``source`` was at its last answer.

        None if its transcript does not say, and after a compaction until the agent has answered again.
        """

    def agent_id_of(self, source: EventSource, call_id: str) -> str:
        """Return the ID of the agent that a delegating call started; empty if the transcript does not say."""

    def exit_codes(self, source: EventSource, call_ids: frozenset[str]) -> Mapping[str, int]:
        """Return the exit codes of those shell commands whose end the transcript has."""
