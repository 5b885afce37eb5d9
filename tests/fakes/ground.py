"""A ground that knows what a test tells it, and remembers what it was to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from upbeat.core.contract.event import Source
from upbeat.core.policies.errand import Errand
from upbeat.core.policies.look import Look


@dataclass
class FakeGround:
    """Implements ``core.ports.Ground``: ``answers`` by look, ``looked`` and ``errands`` in order."""

    answers: Mapping[Look, object] = field(default_factory=dict)
    looked: list[Look] = field(default_factory=list)
    errands: list[Errand] = field(default_factory=list)

    def look(self, look: Look, source: Source, root: str) -> object | None:
        self.looked.append(look)
        return self.answers.get(look)

    def run(self, errand: Errand, root: str) -> None:
        self.errands.append(errand)
