"""The facts that change the state of a session; ``reducer.py`` applies them.

Invariant: a fact is in the past and is never rejected. Whether it may happen is decided before, in ``decide``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from upbeat.core.workflow.state import Evidence, LoopState, RunStatus, StepVerdict, WorkflowRun, WorkflowStep

MAX_EVIDENCE = 20
MAX_UNMATCHED_RESULTS = 20
MAX_SHOWN_EXCERPTS = 300
MAX_POLICY_NOTES = 200
MAX_UNMATCHED_RESULT_CHARS = 3000
"""Maximum length of each message: less than a record keeps, so that the verdict at its end is not cut off."""


@dataclass(frozen=True, slots=True)
class SessionBegan:
    """The client opened the session in the repository at ``root``."""

    client: str
    root: str
    kind: Literal["session_began"] = "session_began"


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """The client closed the session. Calls that were still running are lost."""

    kind: Literal["session_closed"] = "session_closed"


@dataclass(frozen=True, slots=True)
class ConversationCompacted:
    """The client replaced the conversation with a summary or cleared it."""

    kind: Literal["conversation_compacted"] = "conversation_compacted"


@dataclass(frozen=True, slots=True)
class ExcerptsShown:
    """These excerpts of the code were shown to the model."""

    excerpts: tuple[str, ...]
    kind: Literal["excerpts_shown"] = "excerpts_shown"


@dataclass(frozen=True, slots=True)
class ModelResponded:
    """The model has acted since its last prompt, so it has read the context injected with that prompt."""

    kind: Literal["model_responded"] = "model_responded"


@dataclass(frozen=True, slots=True)
class PolicyNotesSaved:
    """A policy saved notes for the next event, replacing its earlier notes."""

    policy: str
    notes: tuple[str, ...]
    survives_compaction: bool = False
    kind: Literal["policy_notes_saved"] = "policy_notes_saved"


@dataclass(frozen=True, slots=True)
class ContextInjected:
    """Policies and rules injected this many characters; ``is_new_turn`` resets the turn's count."""

    char_count: int
    is_new_turn: bool = False
    kind: Literal["context_injected"] = "context_injected"


@dataclass(frozen=True, slots=True)
class WorkflowStarted:
    """A workflow began and replaced any other; its loop is new."""

    run: WorkflowRun
    started_at: float
    tokens_at_start: int = 0
    kind: Literal["workflow_started"] = "workflow_started"


@dataclass(frozen=True, slots=True)
class WorkflowAdopted:
    """The session continues the run of another session."""

    run: WorkflowRun
    loop: LoopState
    evidence: tuple[Evidence, ...]
    from_client: str
    from_session: str
    kind: Literal["workflow_adopted"] = "workflow_adopted"


@dataclass(frozen=True, slots=True)
class WorkflowEnded:
    """The run ended with this status."""

    status: RunStatus
    reason: str = ""
    kind: Literal["workflow_ended"] = "workflow_ended"


@dataclass(frozen=True, slots=True)
class WorkflowReopened:
    """The user resumed the run with a new loop; in a run that had ended, failed steps get new attempts."""

    reopened_at: float
    tokens_at_start: int = 0
    kind: Literal["workflow_reopened"] = "workflow_reopened"


@dataclass(frozen=True, slots=True)
class FeatureAssigned:
    """The run works on this feature of the specs."""

    feature: str
    kind: Literal["feature_assigned"] = "feature_assigned"


@dataclass(frozen=True, slots=True)
class HandoverOffered:
    """A session of ``to_client`` may continue the run; empty withdraws the offer."""

    to_client: str
    kind: Literal["handover_offered"] = "handover_offered"


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A call began to work on a step."""

    step_key: str
    call_id: str
    agent: str
    has_instructions: bool = True
    kind: Literal["step_started"] = "step_started"


@dataclass(frozen=True, slots=True)
class CallLinked:
    """The subagent of a call is known."""

    call_id: str
    agent_id: str
    kind: Literal["call_linked"] = "call_linked"


@dataclass(frozen=True, slots=True)
class SubagentInstructed:
    """The subagent received its step when it started, because hooks cannot change its prompt."""

    call_id: str
    kind: Literal["subagent_instructed"] = "subagent_instructed"


@dataclass(frozen=True, slots=True)
class UnmatchedResultQueued:
    """A subagent returned, and its call is unknown."""

    agent_id: str
    agent: str
    message: str
    kind: Literal["unmatched_result_queued"] = "unmatched_result_queued"


@dataclass(frozen=True, slots=True)
class CallReturned:
    """A call returned with this verdict."""

    call_id: str
    verdict: StepVerdict
    failure_notes: str = ""
    kind: Literal["call_returned"] = "call_returned"


@dataclass(frozen=True, slots=True)
class CallLost:
    """A call will never return."""

    call_id: str
    kind: Literal["call_lost"] = "call_lost"


@dataclass(frozen=True, slots=True)
class StepFinished:
    """All calls of a step have returned; ``verdict`` is the worst of theirs."""

    step_key: str
    verdict: StepVerdict
    failure_notes: str = ""
    handoff: str = ""
    kind: Literal["step_finished"] = "step_finished"


@dataclass(frozen=True, slots=True)
class RepairPlanned:
    """``repair_steps``, whose groups are new to the run, come next; then the retried steps."""

    repair_steps: tuple[WorkflowStep, ...]
    retried_step_keys: tuple[str, ...]
    kind: Literal["repair_planned"] = "repair_planned"


@dataclass(frozen=True, slots=True)
class CommandRan:
    """A command ran that can be evidence."""

    evidence: Evidence
    kind: Literal["command_ran"] = "command_ran"


@dataclass(frozen=True, slots=True)
class TurnContinued:
    """A turn that was about to end was continued."""

    progress_fingerprint: str
    turns_without_progress: int
    kind: Literal["turn_continued"] = "turn_continued"


@dataclass(frozen=True, slots=True)
class TurnAllowed:
    """A turn was allowed to end, for now."""

    reason: str
    kind: Literal["turn_allowed"] = "turn_allowed"


@dataclass(frozen=True, slots=True)
class LoopEnded:
    """The loop continues no more turns until the user restarts it."""

    reason: str
    kind: Literal["loop_ended"] = "loop_ended"


@dataclass(frozen=True, slots=True)
class ContinuationOverridden:
    """The client ended a continued turn: the work is not finished."""

    kind: Literal["continuation_overridden"] = "continuation_overridden"


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A tool was called, so the agent is working again."""

    kind: Literal["tool_used"] = "tool_used"


@dataclass(frozen=True, slots=True)
class TurnErrored:
    """A turn ended with an error."""

    kind: Literal["turn_errored"] = "turn_errored"


@dataclass(frozen=True, slots=True)
class AskedUser:
    """The agent asks the user with the client's tool; its turn may end unless it does more."""

    kind: Literal["asked_user"] = "asked_user"


@dataclass(frozen=True, slots=True)
class UserMessaged:
    """The user sent a prompt. ``pauses_loop``: it is unrelated to the workflow, so this turn may end."""

    pauses_loop: bool
    kind: Literal["user_messaged"] = "user_messaged"


Fact = (
    SessionBegan
    | SessionClosed
    | ConversationCompacted
    | ExcerptsShown
    | ModelResponded
    | PolicyNotesSaved
    | ContextInjected
    | WorkflowStarted
    | WorkflowAdopted
    | WorkflowEnded
    | WorkflowReopened
    | HandoverOffered
    | FeatureAssigned
    | StepStarted
    | CallLinked
    | SubagentInstructed
    | UnmatchedResultQueued
    | CallReturned
    | CallLost
    | StepFinished
    | RepairPlanned
    | CommandRan
    | TurnContinued
    | TurnAllowed
    | LoopEnded
    | ContinuationOverridden
    | ToolUsed
    | TurnErrored
    | AskedUser
    | UserMessaged
)
