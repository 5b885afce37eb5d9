"""What can happen to a session's state.

Law: a fact is past and is never refused; whether it may happen was decided before (``guard``, ``machine``,
``loop``). What it makes of a state stands in ``fold.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .state import (
    Evidence,
    Loop,
    Run,
    RunStatus,
    Step,
)
from .verdict import Verdict

MAX_EVIDENCE = 20
MAX_PARKED = 20
MAX_SHOWN = 300
MAX_NOTES = 200
MAX_PARKED_CHARS = 3000
"""Of the message of each: less than a record keeps of a text, so that the verdict at its end is not cut off."""


@dataclass(frozen=True, slots=True)
class SessionBegan:
    """The client opened the session in the repository at ``root``."""

    client: str
    root: str
    kind: Literal["session_began"] = "session_began"


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """The client closed the session. Calls that still ran are lost."""

    kind: Literal["session_closed"] = "session_closed"


@dataclass(frozen=True, slots=True)
class Compacted:
    """The client has put a summary, or nothing, in the place of the conversation."""

    kind: Literal["compacted"] = "compacted"


@dataclass(frozen=True, slots=True)
class Shown:
    """The model was shown these excerpts of the code."""

    excerpts: tuple[str, ...]
    kind: Literal["shown"] = "shown"


@dataclass(frozen=True, slots=True)
class Answered:
    """The model has done something since its last prompt, and so has read what went with that."""

    kind: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True)
class Noted:
    """What a policy wants to know at the next event, in the place of what it noted before.

    ``stays``: it holds after a compaction as well.
    """

    policy: str
    notes: tuple[str, ...]
    stays: bool = False
    kind: Literal["noted"] = "noted"


@dataclass(frozen=True, slots=True)
class ContextSpent:
    """Policies and rules injected this many characters; ``is_new_turn``: the turn's count starts again."""

    chars: int
    is_new_turn: bool = False
    kind: Literal["context_spent"] = "context_spent"


@dataclass(frozen=True, slots=True)
class WorkflowStarted:
    """A workflow began, in place of any other; the loop starts anew."""

    run: Run
    at: float
    tokens: int = 0
    kind: Literal["workflow_started"] = "workflow_started"


@dataclass(frozen=True, slots=True)
class WorkflowAdopted:
    """The session goes on with what another one did."""

    run: Run
    loop: Loop
    evidence: tuple[Evidence, ...]
    from_client: str
    from_session: str
    kind: Literal["workflow_adopted"] = "workflow_adopted"


@dataclass(frozen=True, slots=True)
class WorkflowEnded:
    """The run ended in this way."""

    status: RunStatus
    reason: str = ""
    kind: Literal["workflow_ended"] = "workflow_ended"


@dataclass(frozen=True, slots=True)
class WorkflowReopened:
    """Its user wants the run to go on with a new loop; where it had ended, what ended badly gets new tries."""

    at: float
    tokens: int = 0
    kind: Literal["workflow_reopened"] = "workflow_reopened"


@dataclass(frozen=True, slots=True)
class FeatureTaken:
    """The run works on this feature of the specs."""

    feature: str
    kind: Literal["feature_taken"] = "feature_taken"


@dataclass(frozen=True, slots=True)
class HandoverOffered:
    """A session of the client ``to`` may go on with the run; empty takes the offer back."""

    to: str
    kind: Literal["handover_offered"] = "handover_offered"


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A call began to work on a step."""

    key: str
    call_id: str
    agent: str
    is_told: bool = True
    kind: Literal["step_started"] = "step_started"


@dataclass(frozen=True, slots=True)
class CallLinked:
    """It is known which agent a call became."""

    call_id: str
    agent_id: str
    kind: Literal["call_linked"] = "call_linked"


@dataclass(frozen=True, slots=True)
class AgentTold:
    """The agent of a call was told what its step is when it started, because its prompt is hidden from hooks."""

    call_id: str
    kind: Literal["agent_told"] = "agent_told"


@dataclass(frozen=True, slots=True)
class AgentParked:
    """An agent returned, and it is not known from which call."""

    agent_id: str
    agent: str
    message: str
    kind: Literal["agent_parked"] = "agent_parked"


@dataclass(frozen=True, slots=True)
class CallReturned:
    """A call returned with this verdict."""

    call_id: str
    verdict: Verdict
    notes: str = ""
    kind: Literal["call_returned"] = "call_returned"


@dataclass(frozen=True, slots=True)
class CallLost:
    """A call will never return."""

    call_id: str
    kind: Literal["call_lost"] = "call_lost"


@dataclass(frozen=True, slots=True)
class StepFinished:
    """All calls of a step have returned; ``verdict`` is the worst of theirs."""

    key: str
    verdict: Verdict
    notes: str = ""
    handoff: str = ""
    kind: Literal["step_finished"] = "step_finished"


@dataclass(frozen=True, slots=True)
class RepairPlanned:
    """``steps`` come next, and then those of ``again`` once more. Their groups are none that the run has."""

    steps: tuple[Step, ...]
    again: tuple[str, ...]
    kind: Literal["repair_planned"] = "repair_planned"


@dataclass(frozen=True, slots=True)
class CommandRan:
    """A command ran that can bear witness."""

    evidence: Evidence
    kind: Literal["command_ran"] = "command_ran"


@dataclass(frozen=True, slots=True)
class SentOn:
    """A turn wanted to end and was sent on."""

    fingerprint: str
    stale: int
    kind: Literal["sent_on"] = "sent_on"


@dataclass(frozen=True, slots=True)
class Released:
    """A turn wanted to end and was let go, for now."""

    reason: str
    kind: Literal["released"] = "released"


@dataclass(frozen=True, slots=True)
class LoopEnded:
    """The loop sends nothing on any more, until its user restarts it."""

    reason: str
    kind: Literal["loop_ended"] = "loop_ended"


@dataclass(frozen=True, slots=True)
class Overridden:
    """The client ended a turn that had been sent on: the work is not finished."""

    kind: Literal["overridden"] = "overridden"


@dataclass(frozen=True, slots=True)
class Worked:
    """A tool was called: whatever was sent on has done something."""

    kind: Literal["worked"] = "worked"


@dataclass(frozen=True, slots=True)
class TurnErred:
    """A turn ended by an error."""

    kind: Literal["turn_erred"] = "turn_erred"


@dataclass(frozen=True, slots=True)
class AskedUser:
    """The agent asks its user by the client's tool for that; if it does nothing more, its turn may end."""

    kind: Literal["asked_user"] = "asked_user"


@dataclass(frozen=True, slots=True)
class UserTalked:
    """The user said something. ``pauses``: it is not about the workflow, so this turn may end."""

    pauses: bool
    kind: Literal["user_talked"] = "user_talked"


Fact = (
    SessionBegan
    | SessionClosed
    | Compacted
    | Shown
    | Answered
    | Noted
    | ContextSpent
    | WorkflowStarted
    | WorkflowAdopted
    | WorkflowEnded
    | WorkflowReopened
    | HandoverOffered
    | FeatureTaken
    | StepStarted
    | CallLinked
    | AgentTold
    | AgentParked
    | CallReturned
    | CallLost
    | StepFinished
    | RepairPlanned
    | CommandRan
    | SentOn
    | Released
    | LoopEnded
    | Overridden
    | Worked
    | TurnErred
    | AskedUser
    | UserTalked
)
