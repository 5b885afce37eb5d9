"""A session that handles one event after the other, without a client, a disk or a clock.

Its state is folded from the facts of the decisions alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import tomli

from upbeat.core.contract import event as events
from upbeat.core.contract.client import ClientTraits
from upbeat.core.contract.effect import ContinueTurn, Deny, Effect, InjectContext, NotifyUser, PrependPrompt
from upbeat.core.engine.observe_run import observe_run
from upbeat.core.settings import Settings
from upbeat.core.settings_layers import Layer
from upbeat.core.workflow import registry_file
from upbeat.core.workflow.decide.table import decide
from upbeat.core.workflow.decision import LoopLimits, WorkflowDecision, WorkflowInputs, WorkspaceAction
from upbeat.core.workflow.facts import Fact, apply_facts
from upbeat.core.workflow.registry import Registry
from upbeat.core.workflow.state import PeerSession, SessionState, WorkflowRun, current_steps
from upbeat.core.workflow.tasks import TasksFile

CONFIG = Path(__file__).parent.parent / "config" / "workflows.toml"
PASS = '<!-- VERDICT: {"result": "PASS"} -->'
FAIL = 'The total is off by one.\n<!-- VERDICT: {"result": "FAIL"} -->'
REJECT = 'The error is swallowed.\n<!-- VERDICT: {"result": "REJECT"} -->'
ISSUES = 'Nobody wrote down why.\n<!-- VERDICT: {"result": "ISSUES"} -->'


@cache
def registry() -> Registry:
    """The built-in workflows."""
    values = tomli.loads(CONFIG.read_text(encoding="utf-8"))
    loaded = registry_file.load_registry([Layer("config/workflows.toml", values)])
    assert loaded.problems == ()
    return loaded.registry


def with_own(toml: str) -> Registry:
    """The built-in workflows and those of ``toml``."""
    values = tomli.loads(CONFIG.read_text(encoding="utf-8"))
    loaded = registry_file.load_registry([Layer("config/workflows.toml", values), Layer("own", tomli.loads(toml))])
    assert loaded.problems == ()
    return loaded.registry


@dataclass
class Play:
    """One session. ``tree`` is the digest of the working tree; a test changes it as an agent would change files."""

    client: events.ClientName = events.ClientName.CLAUDE_CODE
    traits: ClientTraits = field(default_factory=lambda: ClientTraits(has_subagents=True))
    session_id: str = "session"
    limits: LoopLimits = field(default_factory=LoopLimits)
    tree: str = "tree 1"
    tasks: str | None = None
    changed: tuple[str, ...] | None = None
    handoff_folder: str = ""
    at: float = 1_000_000.0
    tokens: int = 0
    peer_sessions: tuple[PeerSession, ...] = ()
    features: tuple[str, ...] = ()
    backlog: tuple[str, ...] = ()
    known: Registry = field(default_factory=registry)
    state: SessionState = field(default_factory=SessionState)
    facts: list[Fact] = field(default_factory=list)
    workspace_actions: list[WorkspaceAction] = field(default_factory=list)
    last: WorkflowDecision = field(default_factory=WorkflowDecision)
    calls: int = 0

    @property
    def source(self) -> events.EventSource:
        return events.EventSource(self.client, "/repo", self.session_id)

    @property
    def run(self) -> WorkflowRun:
        assert self.state.run is not None
        return self.state.run

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects of the last event."""
        return self.last.effects

    def inputs(self, **changes: object) -> WorkflowInputs:
        """The inputs of the next decision."""
        inputs = WorkflowInputs(
            now=self.at,
            registry=self.known,
            limits=self.limits,
            root="/repo",
            run_id=f"run-{self.at:.0f}",
            peer_sessions=self.peer_sessions,
            features_in_progress=self.features,
            features_in_backlog=self.backlog,
            tree_digest=self.tree,
            tasks=None if self.tasks is None else TasksFile.parse(self.tasks),
            tokens=self.tokens,
            client=self.traits,
            changed_files=self.changed,
            handoff_folder=self.handoff_folder,
        )
        return replace(inputs, **changes)  # type: ignore[arg-type]

    def handle(self, event: events.Event, **changes: object) -> WorkflowDecision:
        """Decide on ``event`` and apply the facts."""
        self.at += 1
        if isinstance(event, events.ToolFinished):
            changes.setdefault("observed", observe_run(event, None, "/repo", None, Settings(), self.at))
        self.last = decide(event, self.state, self.inputs(**changes))
        self.facts += self.last.facts
        self.workspace_actions += self.last.workspace_actions
        self.state = apply_facts(self.last.facts, self.state)
        return self.last

    # Events

    def begin(self, how: str = "startup", **changes: object) -> WorkflowDecision:
        return self.handle(events.SessionStarted(self.source, how), **changes)

    def prompt(self, text: str, **changes: object) -> WorkflowDecision:
        return self.handle(events.PromptSubmitted(self.source, text), **changes)

    def delegate(self, agent: str, call_id: str = "", prompt: str = "do it", **fields: object) -> str:
        """Delegate to ``agent``; return the id of the call, or an empty text if it was denied."""
        self.calls += 1
        call = events.Call(call_id or f"call-{self.calls}", "Agent", {"prompt": prompt})
        kind = agent if ":" in agent or not agent else f"upbeat:{agent}"
        self.handle(events.SubagentRequested(self.source, call, kind, prompt, **fields))  # type: ignore[arg-type]
        return "" if self.denied else call.id

    def started(self, agent: str, agent_id: str) -> WorkflowDecision:
        return self.handle(events.SubagentStarted(self.source, agent_id, f"upbeat:{agent}"))

    def stopped(self, agent: str, agent_id: str, message: str, *, continued: bool = True) -> WorkflowDecision:
        return self.handle(events.SubagentEnding(self.source, agent_id, f"upbeat:{agent}", message, continued))

    def returned(self, call_id: str, message: str | None, agent_id: str = "", **fields: object) -> WorkflowDecision:
        call = events.Call(call_id, "Agent", {})
        return self.handle(events.SubagentReturned(self.source, call, agent_id, message, **fields))  # type: ignore[arg-type]

    def reads(self, agent_id: str, path: str = "/repo/a.py") -> None:
        """Let a subagent read a file."""
        self.calls += 1
        call = events.Call(f"call-{self.calls}", "Read", {}, events.ToolKind.READ, (path,))
        self.handle(events.ToolFinished(replace(self.source, agent_id=agent_id), call))

    def does(self, agent: str, message: str = PASS) -> None:
        """Run a whole delegation in the foreground: started, has read a file, stopped, returned."""
        call_id = self.delegate(agent)
        assert call_id, self.denied
        self.started(agent, f"agent of {call_id}")
        self.reads(f"agent of {call_id}")
        self.stopped(agent, f"agent of {call_id}", message)
        self.returned(call_id, message, f"agent of {call_id}")

    def runs(self, command: str, exit_code: int | None = 0) -> None:
        """Run a shell command."""
        self.calls += 1
        call = events.Call(f"call-{self.calls}", "Bash", {"command": command})
        self.handle(events.ToolStarting(self.source, call, command))
        output = "14 passed in 0.30s" if exit_code == 0 else ""
        self.handle(events.ToolFinished(self.source, call, output, command, exit_code))

    def tests(self, message: str = PASS, exit_code: int = 0) -> None:
        """Let the tester run the tests and report."""
        call_id = self.delegate("tester")
        assert call_id, self.denied
        self.started("tester", f"agent of {call_id}")
        self.runs("pytest -q", exit_code)
        self.stopped("tester", f"agent of {call_id}", message)

    def asks(self) -> WorkflowDecision:
        return self.handle(events.UserQuestionRequested(self.source, events.Call("ask", "AskUserQuestion", {})))

    def ends(self, message: str = "Done so far.", **fields: object) -> WorkflowDecision:
        """End the turn with this message."""
        return self.handle(events.TurnEnding(self.source, message, **{"background_task_count": 0} | fields))  # type: ignore[arg-type]

    def fails(self, error: str = "rate_limit") -> WorkflowDecision:
        return self.handle(events.TurnFailed(self.source, error))

    def closes(self) -> WorkflowDecision:
        return self.handle(events.SessionEnded(self.source))

    # Effects of the last event

    def _texts(self, kind: type[Effect]) -> str:
        return "\n".join(effect.text for effect in self.effects if isinstance(effect, kind))

    @property
    def denied(self) -> str:
        return self._texts(Deny)

    @property
    def continuation(self) -> str:
        return self._texts(ContinueTurn)

    @property
    def notified(self) -> str:
        return self._texts(NotifyUser)

    @property
    def injected(self) -> str:
        return self._texts(InjectContext)

    @property
    def prepended(self) -> str:
        return self._texts(PrependPrompt)

    @property
    def shown(self) -> str:
        """The steps with their verdicts: ``PLAN:pass DEV``."""
        return " ".join(step.key + (f"={step.verdict}" if step.verdict else "") for step in self.run.steps)

    @property
    def now(self) -> list[str]:
        """The steps of the current group."""
        return [step.key for step in current_steps(self.run)]


def started(workflow: str, goal: str = "add retries", **fields: object) -> Play:
    """A session whose user has started ``workflow``."""
    play = Play(**fields)  # type: ignore[arg-type]
    play.begin()
    play.prompt(f"/upbeat:{workflow} {goal}")
    return play
