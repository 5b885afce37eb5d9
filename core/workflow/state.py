"""The state of one session: a fold over the facts in its records, and nothing else.

Law: frozen values only; ``evolve`` in ``facts.py`` is the only thing that makes a new state out of an old one.
Everything here is stored as JSON, so a field is only ever added, with a default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from .verdict import Verdict


class StepStatus(StrEnum):
    """Where a step is."""

    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"


class RunStatus(StrEnum):
    """Where a run of a workflow is."""

    RUNNING = "running"
    COMPLETE = "complete"
    """Every step has ended, well or after the last try of one that moves on: ``reason`` names these."""
    NEEDS_HUMAN = "needs_human"
    """A step was tried as often as it may be."""
    STOPPED = "stopped"
    """By its user."""
    HANDED_OVER = "handed_over"
    """To another session, which goes on with it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of a run. Steps of the same ``group`` run at the same time; groups follow each other.

    ``key`` is unique in the run: ``TEST:2`` is the second TEST, ``DEV#1`` the first DEV that was put in to repair
    something. ``tries`` counts how often it ended; ``notes`` is what was said when it last ended badly.
    """

    key: str
    stage: str
    group: int
    mode: str = ""
    status: StepStatus = StepStatus.PENDING
    verdict: Verdict = Verdict.NONE
    tries: int = 0
    notes: str = ""
    handoff: str = ""
    """What the step handed to those after it when it last ended well."""
    repairs: tuple[str, ...] = ()
    """Keys of the steps that this one was put in for."""

    @property
    def is_good(self) -> bool:
        return self.status is StepStatus.DONE and self.verdict is Verdict.PASS


@dataclass(frozen=True, slots=True)
class Assignment:
    """One call that works on a step. ``agent_id`` is empty until the client has told it."""

    call_id: str
    key: str
    agent: str
    agent_id: str = ""
    is_told: bool = True
    """The agent has been told what its step is; where the client hides its prompt that comes when it starts."""
    verdict: Verdict = Verdict.NONE
    """Set once it has returned, while others of its step still work."""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Parked:
    """An agent that has returned before anybody told which call it was."""

    agent_id: str
    agent: str
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a workflow."""

    id: str
    workflow: str
    steps: tuple[Step, ...]
    goal: str = ""
    feature: str = ""
    """The name of its folder in the specs; empty without."""
    others: tuple[str, ...] = ()
    """The features that were in progress before it began: a new one is its own."""
    status: RunStatus = RunStatus.RUNNING
    reason: str = ""
    calls: tuple[Assignment, ...] = ()
    parked: tuple[Parked, ...] = ()

    @property
    def is_running(self) -> bool:
        return self.status is RunStatus.RUNNING

    @property
    def can_go_on(self) -> bool:
        """Whether it runs, or may run again: its agents are still listened to."""
        return self.status not in (RunStatus.COMPLETE, RunStatus.HANDED_OVER)

    def step(self, key: str) -> Step | None:
        """The step with this key."""
        return next((step for step in self.steps if step.key == key), None)


@dataclass(frozen=True, slots=True)
class Loop:
    """How far the loop has gone. Times are seconds since the epoch, tokens the session's total."""

    iterations: int = 0
    errors: int = 0
    stale: int = 0
    """Turns in a row that ended without progress."""
    fingerprint: str = ""
    started_at: float = 0.0
    tokens_at_start: int = 0
    sent_on: bool = False
    """The last turn was sent on, and nothing has happened since."""
    in_a_row: int = 0
    """Times it was sent on without a tool call in between."""
    ended: str = ""
    """Why it sends nothing on any more; empty while it does."""
    is_paused: bool = False
    """The user has asked something else: this turn may end."""
    has_asked: bool = False
    """The agent has asked its user by the client's tool for that, and has done nothing since."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A command that was really run. ``exit_code`` is None until it is known; ``tree`` is what it ran on."""

    kind: str
    command: str
    tree: str
    exit_code: int | None = None
    call_id: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Page:
    """What one policy has noted for itself. ``stays``: a compaction does not end it."""

    policy: str
    notes: tuple[str, ...]
    stays: bool = False


@dataclass(frozen=True, slots=True)
class SessionState:
    """All that is known of one session."""

    client: str = ""
    root: str = ""
    run: Run | None = None
    loop: Loop = field(default_factory=Loop)
    evidence: tuple[Evidence, ...] = ()
    handover: str = ""
    """The client that is to go on with the run."""
    compactions: int = 0
    shown: tuple[str, ...] = ()
    """The excerpts of the code that its model was shown and has not forgotten, the latest last."""
    unread: tuple[str, ...] = ()
    """Those of them that went with a prompt which the model has not begun to answer yet."""
    has_ended: bool = False
    notebook: tuple[Page, ...] = ()
    spent_turn: int = 0
    """Characters that policies and rules have injected since the last prompt."""
    spent: int = 0
    """The same since the session began."""

    def notes(self, policy: str) -> tuple[str, ...]:
        """What ``policy`` has noted; nothing at first."""
        return next((page.notes for page in self.notebook if page.policy == policy), ())


NEW = SessionState()
