"""Changes of a run from which facts are folded: repairs, resumed runs, single calls, steps and sub-tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from upbeat.core.lazy_dataclass import replace
from upbeat.core.workflow.state import (
    RunStatus,
    StepStatus,
    StepVerdict,
    SubtaskResult,
    WorkflowRun,
    WorkflowStep,
)

MAX_ENDED_AGENTS = 100


def insert_repair_steps(run: WorkflowRun, repair: Sequence[WorkflowStep], retried: Sequence[str]) -> WorkflowRun:
    """Return the run with ``repair`` before the group of the first step of ``retried``, which are pending again."""
    steps = [replace(step, status=StepStatus.PENDING) if step.key in retried else step for step in run.steps]
    group = next((step.group for step in steps if step.key in retried), None)
    index = next((index for index, step in enumerate(steps) if step.group == group), len(steps))
    return replace(run, steps=_renumber_groups([*steps[:index], *repair, *steps[index:]]))


def _renumber_groups(steps: Sequence[WorkflowStep]) -> tuple[WorkflowStep, ...]:
    """Number the groups consecutively; adjacent steps of the same group stay together."""
    numbered: list[WorkflowStep] = []
    for index, step in enumerate(steps):
        number = numbered[-1].group + (step.group != steps[index - 1].group) if numbered else 0
        numbered.append(replace(step, group=number))
    return tuple(numbered)


def reopen_run(run: WorkflowRun) -> WorkflowRun:
    """Return the run as running, its failed steps pending with all their attempts."""
    steps = tuple(
        replace(step, status=StepStatus.PENDING, attempts=0)
        if step.status is StepStatus.DONE and not step.has_passed
        else step
        for step in run.steps
    )
    return replace(run, status=RunStatus.RUNNING, reason="", steps=steps)


def with_call(run: WorkflowRun, call_id: str, **changes: Any) -> WorkflowRun:
    """Return the run with ``changes`` of one call."""
    calls = (replace(call, **changes) if call.call_id == call_id else call for call in run.calls)
    return replace(run, calls=tuple(calls))


def with_step(run: WorkflowRun, step_key: str, **changes: Any) -> WorkflowRun:
    """Return the run with ``changes`` of one step."""
    steps = (replace(step, **changes) if step.key == step_key else step for step in run.steps)
    return replace(run, steps=tuple(steps))


def remove_call(run: WorkflowRun, call_id: str) -> WorkflowRun:
    """Return the run without the call; a step without calls is pending again."""
    removed = next((call for call in run.calls if call.call_id == call_id), None)
    if removed is None:
        return run
    left = replace(run, calls=tuple(call for call in run.calls if call is not removed))
    if any(call.step_key == removed.step_key for call in left.calls):
        return left
    return with_step(left, removed.step_key, status=StepStatus.PENDING)


def remember_ended(run: WorkflowRun, agent_ids: Iterable[str]) -> WorkflowRun:
    """Return the run with the subagents among those whose results have counted, without what they have read."""
    ended = [agent_id for agent_id in agent_ids if agent_id]
    readings = tuple(reading for reading in run.readings if reading.agent_id not in ended)
    return replace(run, ended_agents=(*run.ended_agents, *ended)[-MAX_ENDED_AGENTS:], readings=readings)


def finish_subtask(
    run: WorkflowRun, call_id: str, verdict: StepVerdict, failure_notes: str, handoff: str
) -> WorkflowRun:
    """Return the run without the call, and with the result of its sub-task in place of an earlier one."""
    call = next((call for call in run.calls if call.call_id == call_id), None)
    if call is None:
        return run
    results = {(result.step_key, result.key): result for result in run.subtasks}
    identity = (call.step_key, call.subtask)
    earlier = results.get(identity)
    is_passed = verdict is StepVerdict.PASS
    results[identity] = SubtaskResult(
        *identity,
        verdict,
        attempts=(earlier.attempts if earlier else 0) + (not is_passed),
        failure_notes="" if is_passed else failure_notes,
        handoff=handoff,
    )
    queue = tuple(result for result in run.unmatched_results if not call.agent_id or result.agent_id != call.agent_id)
    left = remember_ended(remove_call(run, call_id), [call.agent_id])
    return replace(left, subtasks=tuple(results.values()), unmatched_results=queue, has_untold_result=True)
