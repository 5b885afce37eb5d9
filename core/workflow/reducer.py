"""Apply facts to the state of a session.

Invariant: ``apply_fact`` is total: a fact that does not fit the state leaves it unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from upbeat.core.workflow import facts
from upbeat.core.workflow.state import (
    LoopState,
    PolicyNotes,
    RunStatus,
    SessionState,
    StepStatus,
    StepVerdict,
    SubagentCall,
    UnmatchedResult,
    WorkflowRun,
    WorkflowStep,
)


def apply_facts(new_facts: Iterable[facts.Fact], state: SessionState) -> SessionState:
    """Return ``state`` after ``new_facts``, in order."""
    return reduce(apply_fact, new_facts, state)


def apply_fact(state: SessionState, fact: facts.Fact) -> SessionState:
    """Return ``state`` after ``fact``."""
    match fact:
        case facts.SessionBegan():
            return replace(state, client=fact.client, root=fact.root, has_ended=False)
        case facts.SessionClosed():
            return replace(state, has_ended=True)
        case facts.ConversationCompacted():
            kept = tuple(notes for notes in state.policy_notes if notes.survives_compaction)
            compacted = replace(state, compactions=state.compactions + 1, policy_notes=kept)
            return replace(compacted, shown_excerpts=(), unread_excerpts=())
        case facts.ExcerptsShown():
            read = (excerpt for excerpt in state.shown_excerpts if excerpt not in state.unread_excerpts)
            shown = tuple(dict.fromkeys((*read, *fact.excerpts)))[-facts.MAX_SHOWN_EXCERPTS :]
            return replace(state, shown_excerpts=shown, unread_excerpts=fact.excerpts)
        case facts.ModelResponded():
            return replace(state, unread_excerpts=())
        case facts.PolicyNotesSaved():
            notes = [notes for notes in state.policy_notes if notes.policy != fact.policy]
            if fact.notes:
                latest = fact.notes[-facts.MAX_POLICY_NOTES :]
                notes.append(PolicyNotes(fact.policy, latest, fact.survives_compaction))
            return replace(state, policy_notes=tuple(notes))
        case facts.ContextInjected():
            this_turn = (0 if fact.is_new_turn else state.injected_chars_this_turn) + fact.char_count
            total = state.injected_chars + fact.char_count
            return replace(state, injected_chars_this_turn=this_turn, injected_chars=total)
        case facts.CommandRan():
            return replace(state, evidence=(*state.evidence, fact.evidence)[-facts.MAX_EVIDENCE :])
        case facts.TurnErrored():  # the model may never have read what the turn showed
            return replace(state, loop=_apply_to_loop(state.loop, fact), shown_excerpts=(), unread_excerpts=())
        case _:
            return _apply_to_workflow(state, fact)


def _apply_to_workflow(state: SessionState, fact: facts.Fact) -> SessionState:
    match fact:
        case facts.WorkflowStarted():
            loop = LoopState(started_at=fact.started_at, tokens_at_start=fact.tokens_at_start)
            return replace(state, run=fact.run, loop=loop, evidence=(), handover_client="")
        case facts.WorkflowAdopted():
            return replace(state, run=fact.run, loop=fact.loop, evidence=fact.evidence, handover_client="")
        case facts.HandoverOffered():
            return replace(state, handover_client=fact.to_client)
        case facts.WorkflowReopened():
            loop = LoopState(started_at=fact.reopened_at, tokens_at_start=fact.tokens_at_start)
            run = _reopen_run(state.run) if state.run and not state.run.is_running else state.run
            return replace(state, run=run, loop=loop)
        case _:
            run = _apply_to_run(state.run, fact) if state.run else None
            return replace(state, run=run, loop=_apply_to_loop(state.loop, fact))


def _apply_to_loop(loop: LoopState, fact: facts.Fact) -> LoopState:
    match fact:
        case facts.TurnContinued():
            return replace(
                loop,
                iterations=loop.iterations + 1,
                progress_fingerprint=fact.progress_fingerprint,
                turns_without_progress=fact.turns_without_progress,
                consecutive_errors=0,
                was_continued=True,
                consecutive_continuations=loop.consecutive_continuations + 1,
            )
        case facts.TurnAllowed():
            left = replace(loop, was_continued=False, consecutive_continuations=0)
            return replace(left, is_paused=False, has_asked_user=False)
        case facts.AskedUser():
            return replace(loop, is_paused=True, has_asked_user=True)
        case facts.LoopEnded():
            # The turn that ends the loop for lack of progress counts as well.
            stale = loop.turns_without_progress + (fact.reason == "no_progress")
            return replace(loop, end_reason=fact.reason, was_continued=False, turns_without_progress=stale)
        case facts.ContinuationOverridden():
            return replace(loop, end_reason="overridden", was_continued=False)
        case facts.ToolUsed():
            is_paused = loop.is_paused and not loop.has_asked_user  # an agent that works has its answer
            left = replace(loop, was_continued=False, consecutive_continuations=0)
            return replace(left, is_paused=is_paused, has_asked_user=False)
        case facts.TurnErrored():
            return replace(loop, consecutive_errors=loop.consecutive_errors + 1, was_continued=False)
        case facts.UserMessaged():
            stale = loop.turns_without_progress if loop.end_reason else 0
            left = replace(loop, was_continued=False, consecutive_continuations=0, turns_without_progress=stale)
            return replace(left, is_paused=fact.pauses_loop, has_asked_user=False)
        case _:
            return loop


def _apply_to_run(run: WorkflowRun, fact: facts.Fact) -> WorkflowRun:
    match fact:
        case facts.WorkflowEnded():
            return replace(run, status=fact.status, reason=fact.reason)
        case facts.FeatureAssigned():
            return replace(run, feature=fact.feature)
        case facts.StepStarted():
            call = SubagentCall(fact.call_id, fact.step_key, fact.agent, has_instructions=fact.has_instructions)
            calls = (*(other for other in run.calls if other.call_id != fact.call_id), call)
            return _with_step(replace(run, calls=calls), fact.step_key, status=StepStatus.ACTIVE)
        case facts.CallLinked():
            return _with_call(run, fact.call_id, agent_id=fact.agent_id)
        case facts.SubagentInstructed():
            return _with_call(run, fact.call_id, has_instructions=True)
        case facts.UnmatchedResultQueued():
            others = (result for result in run.unmatched_results if result.agent_id != fact.agent_id)
            queue = (*others, UnmatchedResult(fact.agent_id, fact.agent, fact.message))
            return replace(run, unmatched_results=queue[-facts.MAX_UNMATCHED_RESULTS :])
        case facts.CallReturned():
            # The call keeps its verdict until its step has finished; the queued results of its agent are used up.
            after = _with_call(run, fact.call_id, verdict=fact.verdict, failure_notes=fact.failure_notes)
            agents = {call.agent_id for call in after.calls if call.call_id == fact.call_id} - {""}
            queue = tuple(result for result in run.unmatched_results if result.agent_id not in agents)
            return replace(after, unmatched_results=queue)
        case facts.CallLost():
            return _remove_lost_call(run, fact.call_id)
        case facts.StepFinished():
            return _finish_step(run, fact)
        case facts.RepairPlanned():
            return _insert_repair_steps(run, fact)
        case _:
            return run


def _remove_lost_call(run: WorkflowRun, call_id: str) -> WorkflowRun:
    """Return the run without the call; a step without calls is pending again."""
    lost = next((call for call in run.calls if call.call_id == call_id), None)
    if lost is None:
        return run
    left = replace(run, calls=tuple(call for call in run.calls if call is not lost))
    if any(call.step_key == lost.step_key for call in left.calls):
        return left
    return _with_step(left, lost.step_key, status=StepStatus.PENDING)


def _finish_step(run: WorkflowRun, fact: facts.StepFinished) -> WorkflowRun:
    step = run.find_step(fact.step_key)
    if step is None:
        return run
    return _with_step(
        replace(run, calls=tuple(call for call in run.calls if call.step_key != fact.step_key)),
        fact.step_key,
        status=StepStatus.PENDING if fact.verdict is StepVerdict.UNCLEAR else StepStatus.DONE,
        verdict=fact.verdict,
        attempts=step.attempts + 1,
        failure_notes="" if fact.verdict is StepVerdict.PASS else fact.failure_notes,
        handoff=fact.handoff or step.handoff,
    )


def _insert_repair_steps(run: WorkflowRun, fact: facts.RepairPlanned) -> WorkflowRun:
    """Insert the repair steps before the group of the first step to retry."""
    retried = fact.retried_step_keys
    steps = [replace(step, status=StepStatus.PENDING) if step.key in retried else step for step in run.steps]
    group = next((step.group for step in steps if step.key in retried), None)
    index = next((index for index, step in enumerate(steps) if step.group == group), len(steps))
    return replace(run, steps=_renumber_groups([*steps[:index], *fact.repair_steps, *steps[index:]]))


def _renumber_groups(steps: Sequence[WorkflowStep]) -> tuple[WorkflowStep, ...]:
    """Number the groups consecutively; adjacent steps of the same group stay together."""
    numbered: list[WorkflowStep] = []
    for index, step in enumerate(steps):
        number = numbered[-1].group + (step.group != steps[index - 1].group) if numbered else 0
        numbered.append(replace(step, group=number))
    return tuple(numbered)


def _reopen_run(run: WorkflowRun) -> WorkflowRun:
    """Return the run as running, its failed steps pending with all their attempts."""
    steps = tuple(
        replace(step, status=StepStatus.PENDING, attempts=0)
        if step.status is StepStatus.DONE and not step.has_passed
        else step
        for step in run.steps
    )
    return replace(run, status=RunStatus.RUNNING, reason="", steps=steps)


def _with_call(run: WorkflowRun, call_id: str, **changes: Any) -> WorkflowRun:
    calls = (replace(call, **changes) if call.call_id == call_id else call for call in run.calls)
    return replace(run, calls=tuple(calls))


def _with_step(run: WorkflowRun, step_key: str, **changes: Any) -> WorkflowRun:
    steps = (replace(step, **changes) if step.key == step_key else step for step in run.steps)
    return replace(run, steps=tuple(steps))
