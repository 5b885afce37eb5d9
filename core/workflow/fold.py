"""What the facts make of a session's state.

Law: ``evolve`` is total: a fact that does not fit the state leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from .facts import (
    MAX_EVIDENCE,
    MAX_NOTES,
    MAX_PARKED,
    MAX_SHOWN,
    AgentParked,
    AgentTold,
    Answered,
    AskedUser,
    CallLinked,
    CallLost,
    CallReturned,
    CommandRan,
    Compacted,
    ContextSpent,
    Fact,
    FeatureTaken,
    HandoverOffered,
    LoopEnded,
    Noted,
    Overridden,
    Released,
    RepairPlanned,
    SentOn,
    SessionBegan,
    SessionClosed,
    Shown,
    StepFinished,
    StepStarted,
    TurnErred,
    UserTalked,
    Worked,
    WorkflowAdopted,
    WorkflowEnded,
    WorkflowReopened,
    WorkflowStarted,
)
from .state import Assignment, Loop, Page, Parked, Run, RunStatus, SessionState, Step, StepStatus
from .verdict import Verdict


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
            kept = tuple(one for one in state.notebook if one.stays)
            return replace(state, compactions=state.compactions + 1, shown=(), unread=(), notebook=kept)
        case Shown():
            read = (excerpt for excerpt in state.shown if excerpt not in state.unread)
            shown = tuple(dict.fromkeys((*read, *fact.excerpts)))[-MAX_SHOWN:]
            return replace(state, shown=shown, unread=fact.excerpts)
        case Answered():
            return replace(state, unread=())
        case Noted():
            others = (one for one in state.notebook if one.policy != fact.policy)
            page = (Page(fact.policy, fact.notes[-MAX_NOTES:], fact.stays),) if fact.notes else ()
            return replace(state, notebook=(*others, *page))
        case ContextSpent():
            turn = 0 if fact.is_new_turn else state.spent_turn
            return replace(state, spent_turn=turn + fact.chars, spent=state.spent + fact.chars)
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
