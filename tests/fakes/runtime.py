"""A whole runtime of fakes, for tests of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fakes.clock import FakeClock
from fakes.context import FakeContextResolver
from fakes.journal import MemoryJournal
from fakes.rules import FakeRules
from fakes.runner import FakeRunner
from fakes.workspace import BuiltInWorkflows, FakeMemory, FakeTranscripts, FakeWorkspace, FakeWorldQueries

from upbeat.adapters.clients.registry import CLIENTS
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.engine.pipeline import Runtime
from upbeat.core.engine.ports import RepoContext


@dataclass
class FakeWorld:
    """The parts of a runtime, each to be looked at after the turn."""

    context_resolver: FakeContextResolver
    runner: FakeRunner
    clock: FakeClock = field(default_factory=FakeClock)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    workspace: FakeWorkspace = field(default_factory=FakeWorkspace)
    transcripts: FakeTranscripts = field(default_factory=FakeTranscripts)
    memory: FakeMemory = field(default_factory=FakeMemory)
    world_queries: FakeWorldQueries = field(default_factory=FakeWorldQueries)
    rules: FakeRules = field(default_factory=FakeRules)

    @property
    def runtime(self) -> Runtime:
        parts = (self.context_resolver, self.runner, self.clock, self.journal, self.workspace, self.transcripts)
        return Runtime(
            *parts,
            BuiltInWorkflows(),
            self.memory,
            self.world_queries,
            self.rules,
            client_traits={client.id: client.traits for client in CLIENTS},
        )


def fake_world(
    found: RepoContext | None = None, answers: Mapping[str, ToolOutput | ErrorCode] | None = None
) -> FakeWorld:
    """Return a world with the repository context ``found`` and tools that answer as the table says."""
    return FakeWorld(FakeContextResolver(found), FakeRunner(answers))
