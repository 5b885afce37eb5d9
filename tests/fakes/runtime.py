"""A whole runtime of fakes, for tests of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fakes.clock import FakeClock
from fakes.ground import FakeGround
from fakes.journal import MemoryJournal
from fakes.rules import FakeRules
from fakes.runner import FakeRunner
from fakes.surroundings import FakeSurroundings
from fakes.workspace import BuiltInWorkflows, FakeMemory, FakeTranscripts, FakeWorkspace

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.pipeline import Runtime
from upbeat.core.ports import Situation


@dataclass
class FakeWorld:
    """The parts of a runtime, each to be looked at after the turn."""

    surroundings: FakeSurroundings
    runner: FakeRunner
    clock: FakeClock = field(default_factory=FakeClock)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    workspace: FakeWorkspace = field(default_factory=FakeWorkspace)
    transcripts: FakeTranscripts = field(default_factory=FakeTranscripts)
    memory: FakeMemory = field(default_factory=FakeMemory)
    ground: FakeGround = field(default_factory=FakeGround)
    rules: FakeRules = field(default_factory=FakeRules)

    @property
    def runtime(self) -> Runtime:
        parts = (self.surroundings, self.runner, self.clock, self.journal, self.workspace, self.transcripts)
        return Runtime(*parts, BuiltInWorkflows(), self.memory, self.ground, self.rules)


def fake_world(
    found: Situation | None = None, answers: Mapping[str, ToolOutput | ErrorCode] | None = None
) -> FakeWorld:
    """A world where ``found`` is the situation and tools answer as the table says."""
    return FakeWorld(FakeSurroundings(found), FakeRunner(answers))
