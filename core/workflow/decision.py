"""The inputs and the result of a workflow decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from upbeat.core.contract import event as events
from upbeat.core.contract.client import UNKNOWN_CLIENT, ClientTraits
from upbeat.core.contract.effect import Effect, Explanation
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.messages.catalogue import Messages, load_messages
from upbeat.core.workflow.evidence.judgement import NO_RUN, ObservedRun
from upbeat.core.workflow.facts import Fact
from upbeat.core.workflow.registry import SPEC_MODE, Registry

if TYPE_CHECKING:
    from upbeat.core.workflow.state import PeerSession, WorkflowStep
    from upbeat.core.workflow.tasks import TasksFile


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """The limits of the loop."""

    is_enabled: bool = True
    max_turns: int = 30
    """Continued turns since the loop began."""
    max_consecutive_errors: int = 3
    max_turns_without_progress: int = 3
    max_minutes: int = 240
    max_tokens: int = 5_000_000


@dataclass(frozen=True, slots=True)
class WorkflowInputs:
    """What is known when an event is decided. Inputs that were not gathered have their defaults.

    ``now`` is in seconds since the epoch, ``tokens`` is the session's total, ``exit_code`` belongs to the command that
    just ran, and ``agent_id`` to the call that just returned.
    """

    now: float
    registry: Registry
    limits: LoopLimits = field(default_factory=LoopLimits)
    language: str = "en"
    root: str = ""
    run_id: str = ""
    tree_digest: str = ""
    tasks: TasksFile | None = None
    tokens: int | None = None
    exit_code: int | None = None
    agent_id: str = ""
    peer_sessions: tuple[PeerSession, ...] = ()
    features_in_progress: tuple[str, ...] = ()
    """Names of the features in progress."""
    features_in_backlog: tuple[str, ...] = ()
    """Names of the features in the backlog."""
    is_unrelated_question: bool = False
    """The prompt is a question that is not about work on the repository."""
    requires_evidence: bool = True
    client: ClientTraits = UNKNOWN_CLIENT

    base_commit: str = ""
    """The commit that is checked out, in hexadecimal."""
    changed_files: tuple[str, ...] | None = None
    """The files changed since the run began, relative to the repository; None if unknown."""
    handoff_folder: str = ""
    """Where whole handoffs are stored (absolute); empty if they are not."""
    observed: ObservedRun = NO_RUN
    """What the command that just ran is worth as evidence."""
    can_inject: bool = True
    """Context reaches the model at this event; not so for a program that reports events after they happened."""
    plans: dict[str, tuple[object, ...]] = field(default_factory=dict, compare=False, repr=False)
    """The latest plan of sub-tasks of each step, with what it was made from: written by ``subtasks.plan_of_step``."""

    def needs_agent(self, step: WorkflowStep) -> bool:
        """Return whether only a subagent can end ``step``."""
        is_second_look = self.registry.find_stage(step.stage).needs_agent and step.mode != SPEC_MODE
        return is_second_look and self.client.has_subagents

    @property
    def messages(self) -> Messages:
        """The workflow's messages in the language of the user."""
        return load_messages("workflow", self.language)


@dataclass(frozen=True, slots=True)
class TickCheckboxes:
    """Check the boxes of these steps in the feature's ``tasks.md``."""

    feature: str
    step_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TickSubtask:
    """Check the Nth box with this title in the feature's ``tasks.md``, and the boxes below it."""

    feature: str
    title: str
    occurrence: int = 1


@dataclass(frozen=True, slots=True)
class ArchiveFeature:
    """Move the completed feature to the archive."""

    feature: str


@dataclass(frozen=True, slots=True)
class StartFeature:
    """Move the feature from the backlog to those in progress."""

    feature: str


@dataclass(frozen=True, slots=True)
class StoreHandoff:
    """Store the whole report of a subagent on a step; ``is_more``: after those of other calls of the step."""

    run_id: str
    step_key: str
    text: str
    is_more: bool = False


WorkspaceAction = TickCheckboxes | TickSubtask | ArchiveFeature | StartFeature | StoreHandoff


@dataclass(frozen=True, slots=True)
class WorkflowDecision:
    """The new facts, the effects on the event, why they were decided, and changes to the workspace."""

    facts: tuple[Fact, ...] = ()
    effects: tuple[Effect, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    workspace_actions: tuple[WorkspaceAction, ...] = ()

    def __add__(self, other: WorkflowDecision) -> WorkflowDecision:
        return WorkflowDecision(
            self.facts + other.facts,
            self.effects + other.effects,
            self.explanations + other.explanations,
            self.workspace_actions + other.workspace_actions,
        )


NO_DECISION = WorkflowDecision()


def make_explanation(
    component: str, decision: str, reason: str = "", config_location: str = "", **inputs: object
) -> Explanation:
    """Return a decision-trace entry without its empty inputs."""
    shown = {name: value for name, value in inputs.items() if value not in (None, "", ())}
    return Explanation(component, decision, reason, shown, config_location)


EVENTS_WITHOUT_INPUTS = (
    *(events.ToolStarting, events.UserQuestionRequested),
    *(events.CompactionStarting, events.TurnFailed, events.TurnInterrupted, events.SessionEnded, events.UnknownEvent),
    events.AnswerLost,
)
"""Events for which ``required_inputs`` is empty in every state, so the state need not be loaded first."""

EVENTS_OF_WORKFLOWS = (
    *(
        events.ToolStarting,
        events.ToolFinished,
        events.UserQuestionRequested,
        events.TurnEnding,
        events.TurnInterrupted,
        events.AnswerLost,
    ),
    *(events.SubagentRequested, events.SubagentReturned, events.SubagentStarted, events.SubagentEnding),
)
"""Events for which ``decide`` returns ``NO_DECISION`` in a session without a workflow (see ``SessionState``)."""
