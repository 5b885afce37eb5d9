"""A session played event by event against the workflow, without a client, a disk or a clock.

What the effects would do is kept in ``effects``; the state is folded from the facts alone, so a test that looks at
``state`` has tested ``evolve`` as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import tomli

from upbeat.core.contract.effect import Deny, Effect, Inject, KeepGoing, PutBefore, TellUser
from upbeat.core.contract.event import (
    AgentStarted,
    AgentStopped,
    AskingUser,
    Call,
    ClientName,
    Delegated,
    Delegating,
    Event,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    Source,
    ToolFinished,
    ToolStarting,
    TurnEnding,
    TurnFailed,
)
from upbeat.core.layers import Layer
from upbeat.core.ports import Neighbour
from upbeat.core.workflow import registry_file
from upbeat.core.workflow.decide import decide
from upbeat.core.workflow.facts import Fact
from upbeat.core.workflow.fold import fold
from upbeat.core.workflow.machine import current
from upbeat.core.workflow.outcome import Caps, Chore, Outcome, Scene
from upbeat.core.workflow.registry import Registry
from upbeat.core.workflow.state import Run, SessionState
from upbeat.core.workflow.tasks import Tasks

CONFIG = Path(__file__).parent.parent / "config" / "workflows.toml"
PASS = '<!-- VERDICT: {"result": "PASS"} -->'
FAIL = 'The total is off by one.\n<!-- VERDICT: {"result": "FAIL"} -->'
REJECT = 'The error is swallowed.\n<!-- VERDICT: {"result": "REJECT"} -->'
ISSUES = 'Nobody wrote down why.\n<!-- VERDICT: {"result": "ISSUES"} -->'


@cache
def registry() -> Registry:
    """The workflows that upbeat comes with."""
    values = tomli.loads(CONFIG.read_text(encoding="utf-8"))
    loaded = registry_file.read([Layer("config/workflows.toml", values)])
    assert loaded.problems == ()
    return loaded.registry


def with_own(toml: str) -> Registry:
    """The workflows that upbeat comes with, and a user's own."""
    values = tomli.loads(CONFIG.read_text(encoding="utf-8"))
    loaded = registry_file.read([Layer("config/workflows.toml", values), Layer("own", tomli.loads(toml))])
    assert loaded.problems == ()
    return loaded.registry


@dataclass
class Play:
    """One session. ``tree`` is what the working tree holds; change it as an agent would."""

    client: ClientName = ClientName.CLAUDE_CODE
    session_id: str = "session"
    caps: Caps = field(default_factory=Caps)
    tree: str = "tree 1"
    tasks: str | None = None
    at: float = 1_000_000.0
    tokens: int = 0
    neighbours: tuple[Neighbour, ...] = ()
    features: tuple[str, ...] = ()
    known: Registry = field(default_factory=registry)
    state: SessionState = field(default_factory=SessionState)
    facts: list[Fact] = field(default_factory=list)
    chores: list[Chore] = field(default_factory=list)
    last: Outcome = field(default_factory=Outcome)
    calls: int = 0

    @property
    def source(self) -> Source:
        return Source(self.client, "/repo", self.session_id)

    @property
    def run(self) -> Run:
        assert self.state.run is not None
        return self.state.run

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What the last event led to."""
        return self.last.effects

    def scene(self, **changes: object) -> Scene:
        """What the next event is decided on."""
        scene = Scene(
            at=self.at,
            registry=self.known,
            caps=self.caps,
            root="/repo",
            run_id=f"run-{self.at:.0f}",
            neighbours=self.neighbours,
            features=self.features,
            tree=self.tree,
            tasks=None if self.tasks is None else Tasks.parse(self.tasks),
            tokens=self.tokens,
        )
        return replace(scene, **changes)  # type: ignore[arg-type]

    def happens(self, event: Event, **scene: object) -> Outcome:
        """Decide on ``event`` and fold what follows."""
        self.at += 1
        self.last = decide(event, self.state, self.scene(**scene))
        self.facts += self.last.facts
        self.chores += self.last.chores
        self.state = fold(self.last.facts, self.state)
        return self.last

    # --- what a client does ---

    def begin(self, how: str = "startup", **scene: object) -> Outcome:
        return self.happens(SessionStarted(self.source, how), **scene)

    def prompt(self, text: str, **scene: object) -> Outcome:
        return self.happens(PromptSubmitted(self.source, text), **scene)

    def delegate(self, agent: str, call_id: str = "", prompt: str = "do it", **fields: object) -> str:
        """The main agent hands work to ``agent``; the call's id, or nothing when it was denied."""
        self.calls += 1
        call = Call(call_id or f"call-{self.calls}", "Agent", {"prompt": prompt})
        kind = agent if ":" in agent or not agent else f"upbeat:{agent}"
        self.happens(Delegating(self.source, call, kind, prompt, **fields))  # type: ignore[arg-type]
        return "" if self.denied else call.id

    def started(self, agent: str, agent_id: str) -> Outcome:
        return self.happens(AgentStarted(self.source, agent_id, f"upbeat:{agent}"))

    def stopped(self, agent: str, agent_id: str, message: str, *, continued: bool = True) -> Outcome:
        return self.happens(AgentStopped(self.source, agent_id, f"upbeat:{agent}", message, continued))

    def returned(self, call_id: str, message: str | None, agent_id: str = "", **fields: object) -> Outcome:
        call = Call(call_id, "Agent", {})
        return self.happens(Delegated(self.source, call, agent_id, message, **fields))  # type: ignore[arg-type]

    def does(self, agent: str, message: str = PASS) -> None:
        """A whole delegation in the foreground: started, stopped, returned."""
        call_id = self.delegate(agent)
        assert call_id, self.denied
        self.started(agent, f"agent of {call_id}")
        self.stopped(agent, f"agent of {call_id}", message)
        self.returned(call_id, message, f"agent of {call_id}")

    def runs(self, command: str, exit_code: int | None = 0) -> None:
        """A shell command from its beginning to its end."""
        self.calls += 1
        call = Call(f"call-{self.calls}", "Bash", {"command": command})
        self.happens(ToolStarting(self.source, call, command))
        self.happens(ToolFinished(self.source, call, "", command, exit_code))

    def tests(self, message: str = PASS, exit_code: int = 0) -> None:
        """The tester runs the tests and says how it went."""
        call_id = self.delegate("tester")
        assert call_id, self.denied
        self.started("tester", f"agent of {call_id}")
        self.runs("pytest -q", exit_code)
        self.stopped("tester", f"agent of {call_id}", message)

    def asks(self) -> Outcome:
        return self.happens(AskingUser(self.source, Call("ask", "AskUserQuestion", {})))

    def ends(self, message: str = "Done so far.", **fields: object) -> Outcome:
        """The turn wants to end."""
        return self.happens(TurnEnding(self.source, message, **{"running": 0} | fields))  # type: ignore[arg-type]

    def fails(self, error: str = "rate_limit") -> Outcome:
        return self.happens(TurnFailed(self.source, error))

    def closes(self) -> Outcome:
        return self.happens(SessionEnded(self.source))

    # --- what came of it ---

    def _texts(self, kind: type[Effect]) -> str:
        return "\n".join(effect.text for effect in self.effects if isinstance(effect, kind))

    @property
    def denied(self) -> str:
        return self._texts(Deny)

    @property
    def sent_on(self) -> str:
        return self._texts(KeepGoing)

    @property
    def told(self) -> str:
        return self._texts(TellUser)

    @property
    def injected(self) -> str:
        return self._texts(Inject)

    @property
    def put_before(self) -> str:
        return self._texts(PutBefore)

    @property
    def shown(self) -> str:
        """The steps with their verdicts: ``PLAN:pass DEV``."""
        return " ".join(step.key + (f"={step.verdict}" if step.verdict else "") for step in self.run.steps)

    @property
    def now(self) -> list[str]:
        """The steps of the current group."""
        return [step.key for step in current(self.run)]
