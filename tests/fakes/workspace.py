"""Working trees, transcripts, workflows and world queries without a disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workflow_play import registry

from upbeat.core.contract.event import EventSource
from upbeat.core.learned.model import Habit, HabitObservation
from upbeat.core.policy.definition import SideEffect
from upbeat.core.policy.queries import ContextUsage, Query
from upbeat.core.workflow.registry import Registry


@dataclass
class FakeWorkspace:
    """Implements ``ports.Workspace``: one tree, features by name; remembers what was ticked, archived and started."""

    digest: str = "tree 1"
    texts: dict[str, str] = field(default_factory=dict)
    ticked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    archived: list[str] = field(default_factory=list)
    changed: tuple[str, ...] | None = None
    looked_at: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    backlog: tuple[str, ...] = ()

    def tree_digest(self, root: str) -> str:
        self.looked_at.append(root)
        return self.digest

    def base_commit(self, root: str) -> str:
        return "a" * 40

    def changed_files(self, root: str, since: str) -> tuple[str, ...] | None:
        return self.changed

    def read_tasks(self, root: str, feature: str) -> str | None:
        return self.texts.get(feature)

    def tick_tasks(self, root: str, feature: str, boxes: tuple[str, ...]) -> None:
        self.ticked.append((feature, boxes))

    def tick_subtask(self, root: str, feature: str, title: str, occurrence: int = 1) -> None:
        self.ticked.append((feature, (title,)))

    def archive_feature(self, root: str, feature: str) -> None:
        self.archived.append(feature)

    def start_feature(self, root: str, feature: str) -> None:
        self.started.append(feature)

    def features_in_backlog(self, root: str) -> tuple[str, ...]:
        return self.backlog

    def features_in_progress(self, root: str) -> tuple[str, ...]:
        return tuple(sorted(self.texts))


@dataclass
class FakeTranscripts:
    """Implements ``ports.Transcripts`` from tables."""

    used: int | None = None
    use: ContextUsage | None = None
    codes: dict[str, int] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)

    def total_tokens(self, source: EventSource) -> int | None:
        return self.used

    def context_usage(self, source: EventSource) -> ContextUsage | None:
        return self.use

    def exit_codes(self, source: EventSource, call_ids: frozenset[str]) -> Mapping[str, int]:
        return {call_id: code for call_id, code in self.codes.items() if call_id in call_ids}

    def agent_id_of(self, source: EventSource, call_id: str) -> str:
        return self.agents.get(call_id, "")


@dataclass
class FakeMemory:
    """Implements ``ports.Memory``: keeps what was seen, sure from the first time on."""

    sightings: list[HabitObservation] = field(default_factory=list)

    def load(self, root: str) -> tuple[Habit, ...]:
        return tuple(
            Habit(str(number), seen.type, seen.trigger, seen.action, seen.tag, 0.9, 9, 0.0, 9e9)
            for number, seen in enumerate(self.sightings)
        )

    def record(self, root: str, observations: Sequence[HabitObservation], now: float) -> None:
        self.sightings += observations


class BuiltInWorkflows:
    """Implements ``ports.Workflows``: those that upbeat comes with."""

    def load(self, root: str) -> tuple[Registry, tuple[str, ...]]:
        return registry(), ()


@dataclass
class FakeWorldQueries:
    """A ``WorldQueries`` with ``answers`` by query; records the queries and the side effects in order."""

    answers: Mapping[Query, object] = field(default_factory=dict)
    queries: list[Query] = field(default_factory=list)
    side_effects: list[SideEffect] = field(default_factory=list)

    def query(self, query: Query, source: EventSource, root: str) -> object | None:
        self.queries.append(query)
        return self.answers.get(query)

    def perform(self, side_effect: SideEffect, root: str) -> None:
        self.side_effects.append(side_effect)
