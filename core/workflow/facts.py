"""What can happen to a session's state, and what each happening makes of it.

Law: a fact is past and is never refused; whether it may happen was decided before (``guard``, ``machine``,
``loop``). ``evolve`` is total: a fact that does not fit the state leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

from .state import (
    Assignment,
    Evidence,
    Loop,
    Parked,
    Run,
    RunStatus,
    SessionState,
    Step,
    StepStatus,
)
from .verdict import Verdict

MAX_EVIDENCE = 20
MAX_PARKED = 20
MAX_SHOWN = 300
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


def fold(facts: Iterable[Fact], state: SessionState) -> SessionState:
    """``state`` after ``facts``, in order."""
    return reduce(evolve, facts, state)


def evolve(state: SessionState, fact: Fact) -> SessionState:
    """``state`` after ``fact``."""
    match fact:
        case SessionBegan():
            return replace(state, client=fact.client, root=fact.root, has_ended=False)
        case SessionClosed():
            return replace(state, has_ended=True)
        case Compacted():
            return replace(state, compactions=state.compactions + 1, shown=(), unread=())
        case Shown():
            read = (excerpt for excerpt in state.shown if excerpt not in state.unread)
            shown = tuple(dict.fromkeys((*read, *fact.excerpts)))[-MAX_SHOWN:]
            return replace(state, shown=shown, unread=fact.excerpts)
        case Answered():
            return replace(state, unread=())
        case WorkflowStarted():
            loop = Loop(started_at=fact.at, tokens_at_start=fact.tokens)
            return replace(state, run=fact.run, loop=loop, evidence=(), handover="")
        case WorkflowAdopted():
            return replace(state, run=fact.run, loop=fact.loop, evidence=fact.evidence, handover="")
        case HandoverOffered():
            return replace(state, handover=fact.to)
        case CommandRan():
            return replace(state, evidence=(*state.evidence, fact.evidence)[-MAX_EVIDENCE:])
        case TurnErred():  # what went with it may never have been read
            return replace(state, loop=_evolve_loop(state.loop, fact), shown=(), unread=())
        case SentOn() | Released() | LoopEnded() | Overridden() | Worked() | AskedUser() | UserTalked():
            return replace(state, loop=_evolve_loop(state.loop, fact))
        case WorkflowReopened():
            loop = Loop(started_at=fact.at, tokens_at_start=fact.tokens)
            run = _reopened(state.run) if state.run and not state.run.is_running else state.run
            return replace(state, run=run, loop=loop)
        case _:
            return replace(state, run=_evolve_run(state.run, fact)) if state.run else state


LoopFact = SentOn | Released | LoopEnded | Overridden | Worked | TurnErred | AskedUser | UserTalked


def _evolve_loop(loop: Loop, fact: LoopFact) -> Loop:
    match fact:
        case SentOn():
            return replace(
                loop,
                iterations=loop.iterations + 1,
                fingerprint=fact.fingerprint,
                stale=fact.stale,
                errors=0,
                sent_on=True,
                in_a_row=loop.in_a_row + 1,
            )
        case Released():
            return replace(loop, sent_on=False, in_a_row=0, is_paused=False, has_asked=False)
        case AskedUser():
            return replace(loop, is_paused=True, has_asked=True)
        case LoopEnded():
            last = fact.reason == "stale"  # the turn that ends the loop by standing still counts as well
            return replace(loop, ended=fact.reason, sent_on=False, stale=loop.stale + last)
        case Overridden():
            return replace(loop, ended="overridden", sent_on=False)
        case Worked():
            is_paused = loop.is_paused and not loop.has_asked  # an agent that works has its answer
            return replace(loop, sent_on=False, in_a_row=0, is_paused=is_paused, has_asked=False)
        case TurnErred():
            return replace(loop, errors=loop.errors + 1, sent_on=False)
        case UserTalked():
            stale = loop.stale if loop.ended else 0
            return replace(loop, is_paused=fact.pauses, has_asked=False, sent_on=False, in_a_row=0, stale=stale)


RunFact = (
    WorkflowEnded
    | FeatureTaken
    | StepStarted
    | CallLinked
    | AgentTold
    | AgentParked
    | CallReturned
    | CallLost
    | StepFinished
    | RepairPlanned
)


def _evolve_run(run: Run, fact: RunFact) -> Run:
    match fact:
        case WorkflowEnded():
            return replace(run, status=fact.status, reason=fact.reason)
        case FeatureTaken():
            return replace(run, feature=fact.feature)
        case StepStarted():
            calls = (*(call for call in run.calls if call.call_id != fact.call_id), _assignment(fact))
            return _with_step(replace(run, calls=calls), fact.key, status=StepStatus.ACTIVE)
        case CallLinked():
            return _with_call(run, fact.call_id, agent_id=fact.agent_id)
        case AgentTold():
            return _with_call(run, fact.call_id, is_told=True)
        case AgentParked():
            others = (one for one in run.parked if one.agent_id != fact.agent_id)
            parked = (*others, Parked(fact.agent_id, fact.agent, fact.message))
            return replace(run, parked=parked[-MAX_PARKED:])
        case CallReturned():
            return _returned(run, fact)
        case CallLost():
            return _lost(run, fact.call_id)
        case StepFinished():
            return _finished(run, fact)
        case RepairPlanned():
            return _repaired(run, fact)


def _assignment(fact: StepStarted) -> Assignment:
    return Assignment(fact.call_id, fact.key, fact.agent, is_told=fact.is_told)


def _returned(run: Run, fact: CallReturned) -> Run:
    """The call keeps its verdict until its step is finished; what was parked for its agent is used up."""
    after = _with_call(run, fact.call_id, verdict=fact.verdict, notes=fact.notes)
    agents = {call.agent_id for call in after.calls if call.call_id == fact.call_id} - {""}
    return replace(after, parked=tuple(one for one in run.parked if one.agent_id not in agents))


def _lost(run: Run, call_id: str) -> Run:
    """The call is forgotten; a step that nobody works on any more is pending again."""
    lost = next((call for call in run.calls if call.call_id == call_id), None)
    if lost is None:
        return run
    left = replace(run, calls=tuple(call for call in run.calls if call is not lost))
    if any(call.key == lost.key for call in left.calls):
        return left
    return _with_step(left, lost.key, status=StepStatus.PENDING)


def _finished(run: Run, fact: StepFinished) -> Run:
    step = run.step(fact.key)
    if step is None:
        return run
    is_over = fact.verdict is not Verdict.UNCLEAR
    left = replace(run, calls=tuple(call for call in run.calls if call.key != fact.key))
    return _with_step(
        left,
        fact.key,
        status=StepStatus.DONE if is_over else StepStatus.PENDING,
        verdict=fact.verdict,
        tries=step.tries + 1,
        notes="" if fact.verdict is Verdict.PASS else fact.notes,
        handoff=fact.handoff or step.handoff,
    )


def _repaired(run: Run, fact: RepairPlanned) -> Run:
    """The new steps stand before the group that has the first of those that are tried again."""
    steps = [replace(step, status=StepStatus.PENDING) if step.key in fact.again else step for step in run.steps]
    groups = [step.group for step in steps]
    first = next((step.group for step in steps if step.key in fact.again), None)
    at = len(steps) if first is None else groups.index(first)
    return replace(run, steps=_numbered([*steps[:at], *fact.steps, *steps[at:]]))


def _numbered(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The groups counted anew: neighbours of equal group stay together."""
    numbered: list[Step] = []
    for index, step in enumerate(steps):
        number = numbered[-1].group + (step.group != steps[index - 1].group) if numbered else 0
        numbered.append(replace(step, group=number))
    return tuple(numbered)


def _reopened(run: Run) -> Run:
    """Running again: what ended badly is pending, with all its tries."""
    steps = tuple(
        step
        if step.is_good or step.status is not StepStatus.DONE
        else replace(step, status=StepStatus.PENDING, tries=0)
        for step in run.steps
    )
    return replace(run, status=RunStatus.RUNNING, reason="", steps=steps)


def _with_call(run: Run, call_id: str, **changes: Any) -> Run:
    return replace(run, calls=tuple(replace(one, **changes) if one.call_id == call_id else one for one in run.calls))


def _with_step(run: Run, key: str, **changes: Any) -> Run:
    steps = tuple(replace(step, **changes) if step.key == key else step for step in run.steps)
    return replace(run, steps=steps)
