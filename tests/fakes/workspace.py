"""Working trees, transcripts and workflows without a disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workflow_play import registry

from upbeat.core.contract.event import Source
from upbeat.core.observations import Observation, Sighting
from upbeat.core.policies.look import Use
from upbeat.core.workflow.registry import Registry


@dataclass
class FakeWorkspace:
    """Implements ``core.ports.Workspace``: one tree, features by name; remembers what was ticked and archived."""

    digest: str = "tree 1"
    texts: dict[str, str] = field(default_factory=dict)
    ticked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    archived: list[str] = field(default_factory=list)
    looked_at: list[str] = field(default_factory=list)

    def tree(self, root: str) -> str:
        self.looked_at.append(root)
        return self.digest

    def tasks(self, root: str, feature: str) -> str | None:
        return self.texts.get(feature)

    def tick(self, root: str, feature: str, boxes: tuple[str, ...]) -> None:
        self.ticked.append((feature, boxes))

    def archive(self, root: str, feature: str) -> None:
        self.archived.append(feature)

    def in_progress(self, root: str) -> tuple[str, ...]:
        return tuple(sorted(self.texts))


@dataclass
class FakeTranscripts:
    """Implements ``core.ports.Transcripts`` from tables."""

    used: int | None = None
    use: Use | None = None
    codes: dict[str, int] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)

    def tokens(self, source: Source) -> int | None:
        return self.used

    def context(self, source: Source) -> Use | None:
        return self.use

    def exit_codes(self, source: Source, call_ids: frozenset[str]) -> Mapping[str, int]:
        return {call_id: code for call_id, code in self.codes.items() if call_id in call_ids}

    def agent_of(self, source: Source, call_id: str) -> str:
        return self.agents.get(call_id, "")


@dataclass
class FakeMemory:
    """Implements ``core.ports.Memory``: keeps what was seen, sure from the first time on."""

    sightings: list[Sighting] = field(default_factory=list)

    def known(self, root: str) -> tuple[Observation, ...]:
        return tuple(
            Observation(str(number), one.type, one.trigger, one.action, one.tag, 0.9, 9, 0.0, 9e9)
            for number, one in enumerate(self.sightings)
        )

    def record(self, root: str, sightings: Sequence[Sighting], now: float) -> None:
        self.sightings += sightings


class BuiltInWorkflows:
    """Implements ``core.ports.Workflows``: those that upbeat comes with."""

    def load(self, root: str) -> tuple[Registry, tuple[str, ...]]:
        return registry(), ()
