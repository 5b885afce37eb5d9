"""World queries with the answers that a test gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from upbeat.core.contract.event import EventSource
from upbeat.core.policy.definition import SideEffect
from upbeat.core.policy.queries import Query


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
