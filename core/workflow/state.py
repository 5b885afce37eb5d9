"""The state of one session, derived from the facts in its records.

Invariant: values are frozen, and only ``facts.py`` derives a new state from an old one. The state is stored as JSON,
so a new field needs a default.
"""

from __future__ import annotations

from enum import StrEnum

from upbeat.core.lazy_dataclass import dataclass, field

PAUSED = "paused"
"""Why a loop ended that the user paused: it goes on when they say so."""


class StepVerdict(StrEnum):
    """How a stage ended. ``unclear`` is never a pass."""

    NONE = ""
    PASS = "pass"  # noqa: S105 -- a verdict
    FAIL = "fail"
    REJECT = "reject"
    ISSUES = "issues"
    UNCLEAR = "unclear"


class StepAuthor(StrEnum):
    """Who reported the last result of a step."""

    UNKNOWN = ""
    """It was recorded before authors were."""
    AGENT = "agent"
    """A subagent."""
    MAIN = "main"
    """The main agent itself: the result is self-declared."""


class StepStatus(StrEnum):
    """The progress of a step."""

    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"


class RunStatus(StrEnum):
    """The progress of a run."""

    RUNNING = "running"
    COMPLETE = "complete"
    """Every step has finished. ``reason`` names those that have not passed but may fail."""
    NEEDS_HUMAN = "needs_human"
    """A step used all its attempts."""
    STOPPED = "stopped"
    """Stopped by the user."""
    HANDED_OVER = "handed_over"
    """Another session continues it."""


@dataclass(frozen=True, slots=True)
class WorkflowStep:
    """One stage of a run. Steps of the same ``group`` run in parallel, and groups in order.

    ``key`` is unique in the run: ``TEST:2`` is the second TEST, ``DEV#1`` the first DEV inserted as a repair.
    ``attempts`` counts how often the step ended; ``failure_notes`` explains its last failure.
    """

    key: str
    stage: str
    group: int
    mode: str = ""
    status: StepStatus = StepStatus.PENDING
    verdict: StepVerdict = StepVerdict.NONE
    attempts: int = 0
    failure_notes: str = ""
    handoff: str = ""
    """The handoff of its last result."""
    handoff_chars: int = 0
    """The length of that handoff before it was cut; 0 if it is not in a file."""
    repair_of: tuple[str, ...] = ()
    """Keys of the steps that this one repairs."""
    author: StepAuthor = StepAuthor.UNKNOWN

    @property
    def has_passed(self) -> bool:
        return self.status is StepStatus.DONE and self.verdict is StepVerdict.PASS


@dataclass(frozen=True, slots=True)
class SubagentCall:
    """One tool call that works on a step. ``agent_id`` is empty until the client reports it."""

    call_id: str
    step_key: str
    agent: str
    agent_id: str = ""
    has_instructions: bool = True
    """The subagent knows its step. If the client hides the prompt, it learns the step when it starts."""
    verdict: StepVerdict = StepVerdict.NONE
    """Set once it has returned, while other calls of its step are running."""
    failure_notes: str = ""
    handoff: str = ""
    handoff_chars: int = 0
    started_at: float = 0.0
    """Seconds since the epoch; 0 if unknown."""
    subtask: str = ""
    """The key of its sub-task, if its step is split."""


@dataclass(frozen=True, slots=True)
class SubtaskResult:
    """How a sub-task of a split step ended last. ``attempts`` counts the failed ones since its step began."""

    step_key: str
    key: str
    verdict: StepVerdict
    attempts: int = 0
    failure_notes: str = ""
    handoff: str = ""


@dataclass(frozen=True, slots=True)
class UnmatchedResult:
    """The result of a subagent that returned before its call was known."""

    agent_id: str
    agent: str
    message: str


@dataclass(frozen=True, slots=True)
class AgentReading:
    """The files that a subagent has read, relative to the repository, the latest last."""

    agent_id: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """One run of a workflow."""

    id: str
    workflow: str
    steps: tuple[WorkflowStep, ...]
    goal: str = ""
    feature: str = ""
    """The name of its feature folder; empty without one."""
    preexisting_features: tuple[str, ...] = ()
    """The features in progress before it began; a feature that appears later is its own."""
    status: RunStatus = RunStatus.RUNNING
    reason: str = ""
    calls: tuple[SubagentCall, ...] = ()
    unmatched_results: tuple[UnmatchedResult, ...] = ()
    base_commit: str = ""
    """The commit at its start, in hexadecimal; empty without one."""
    readings: tuple[AgentReading, ...] = ()
    """What the subagents at work have read, for reviews."""
    ended_agents: tuple[str, ...] = ()
    """The subagents whose results have counted, the latest last: one that is resumed works for no other call."""
    subtasks: tuple[SubtaskResult, ...] = ()
    """The results of sub-tasks, in the order in which they first ended."""
    has_untold_result: bool = False
    """A subagent ended a step, and the main agent has not learned since what comes next."""

    @property
    def is_running(self) -> bool:
        return self.status is RunStatus.RUNNING

    @property
    def is_open(self) -> bool:
        """Return whether it is running or waits for the user."""
        return self.status in (RunStatus.RUNNING, RunStatus.NEEDS_HUMAN)

    @property
    def can_continue(self) -> bool:
        """Return whether it is running or may be resumed, so that results of its subagents still count."""
        return self.status not in (RunStatus.COMPLETE, RunStatus.HANDED_OVER)

    @property
    def passed_steps(self) -> tuple[WorkflowStep, ...]:
        return tuple(step for step in self.steps if step.has_passed)

    @property
    def failed_steps(self) -> tuple[WorkflowStep, ...]:
        """Return the steps that have ended without a pass and are not tried again by themselves."""
        waits = self.reason if self.status is RunStatus.NEEDS_HUMAN else ""
        return tuple(
            step
            for step in self.steps
            if not step.has_passed and (step.status is StepStatus.DONE or (waits and step.key == waits))
        )

    @property
    def created_at(self) -> float:
        """Return when it began, in seconds since the epoch, as its id says; 0 if it does not."""
        digits = self.id.partition("-")[0]
        return int(digits, 16) / 1000 if len(digits) == 12 and set(digits) <= set("0123456789abcdef") else 0.0

    def paths_read_by(self, agent_id: str) -> tuple[str, ...]:
        """Return the files that a subagent has read."""
        return next((reading.paths for reading in self.readings if reading.agent_id == agent_id), ())

    def find_step(self, step_key: str) -> WorkflowStep | None:
        """Return the step with this key."""
        return next((step for step in self.steps if step.key == step_key), None)


@dataclass(frozen=True, slots=True)
class LoopState:
    """The progress of the loop. Times are in seconds since the epoch, tokens are the session's total."""

    iterations: int = 0
    consecutive_errors: int = 0
    turns_without_progress: int = 0
    """Consecutive turns without progress."""
    progress_fingerprint: str = ""
    started_at: float = 0.0
    tokens_at_start: int = 0
    was_continued: bool = False
    """The last turn was continued, and nothing has happened since."""
    consecutive_continuations: int = 0
    """Continuations without a tool call in between."""
    end_reason: str = ""
    """Why the loop ended; empty while it is active."""
    is_paused: bool = False
    """The user asked something unrelated, so this turn may end."""
    has_asked_user: bool = False
    """The agent asked the user with the client's tool and has done nothing since."""
    waits_for: str = ""
    """Why the latest turn ended with steps open, if only the user's next prompt goes on."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A command that really ran on the files with this digest.

    ``exit_code`` is None if unknown; ``is_hidden``: the command proves nothing, because its line hides the exit code or
    for the reason ``refusal`` (a key of the messages), of which ``refusal_detail`` is the subject.
    """

    kind: str
    command: str
    tree_digest: str
    exit_code: int | None = None
    call_id: str = ""
    observed_at: float = 0.0
    is_hidden: bool = False
    refusal: str = ""
    refusal_detail: str = ""
    scope: str = ""
    """The arguments that select some of the tests; empty if all ran."""
    place: str = ""
    """``container`` if it ran in one."""
    mark: str = ""
    """The signature of ``upbeat exec``, which is accepted once."""


@dataclass(frozen=True, slots=True)
class PolicyNotes:
    """The notes that one policy saved for itself."""

    policy: str
    notes: tuple[str, ...]
    survives_compaction: bool = False


_NEW_LOOP = LoopState()


DRIVER = "driver"
"""The sender of a session that a program of upbeat drives."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything known about one session."""

    client: str = ""
    root: str = ""
    run: WorkflowRun | None = None
    loop: LoopState = field(default_factory=LoopState)
    evidence: tuple[Evidence, ...] = ()
    handover_client: str = ""
    """The client that is offered to continue the run."""
    compactions: int = 0
    shown_excerpts: tuple[str, ...] = ()
    """The code excerpts in the model's context, the latest last."""
    unread_excerpts: tuple[str, ...] = ()
    """Those shown with a prompt that the model has not begun to answer."""
    subject: tuple[str, ...] = ()
    """The names that the last block led with: what a follow-up is about."""
    has_ended: bool = False
    sender: str = ""
    """The process whose events count as the client's, or ``DRIVER``; empty if none has shown itself."""
    policy_notes: tuple[PolicyNotes, ...] = ()
    injected_chars_this_turn: int = 0
    """Characters that policies and rules injected since the last prompt."""
    injected_chars: int = 0
    """Characters that they injected since the session began."""

    @property
    def has_workflow(self) -> bool:
        """Whether the session has a run, or a loop that has done anything."""
        return self.run is not None or self.loop != _NEW_LOOP

    @property
    def needs_user(self) -> str:
        """Return why only the user can resume the run, as a code; empty while it works or once it is over."""
        if self.run is None or not self.run.is_open:
            return ""
        if not self.run.is_running:
            return self.run.status.value
        return self.loop.end_reason or ("closed" if self.has_ended else "")

    @property
    def awaits_user(self) -> str:
        """Return also why only the user's next prompt goes on with a run that is not over; empty while it works."""
        if self.needs_user or self.run is None or not self.run.is_open:
            return self.needs_user
        return "question" if self.loop.has_asked_user else self.loop.waits_for

    def notes_of(self, policy: str) -> tuple[str, ...]:
        """Return the notes of ``policy``."""
        return next((saved.notes for saved in self.policy_notes if saved.policy == policy), ())


NEW_SESSION = SessionState()


@dataclass(frozen=True, slots=True)
class PeerSession:
    """Another session in the same repository. ``updated_at`` is seconds since the epoch."""

    session_id: str
    state: SessionState
    updated_at: float


def self_declared_steps(run: WorkflowRun) -> tuple[WorkflowStep, ...]:
    """Return the finished steps whose results the main agent reported itself."""
    return tuple(step for step in run.steps if step.status is StepStatus.DONE and step.author is StepAuthor.MAIN)


def current_steps(run: WorkflowRun) -> tuple[WorkflowStep, ...]:
    """Return the steps of the first unfinished group; none if all have finished."""
    first = next((step.group for step in run.steps if step.status is not StepStatus.DONE), None)
    return tuple(step for step in run.steps if step.group == first)


def pending_steps(run: WorkflowRun) -> tuple[WorkflowStep, ...]:
    """Return the steps that can start now."""
    return tuple(step for step in current_steps(run) if step.status is StepStatus.PENDING)
