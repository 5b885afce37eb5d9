"""The state machine of a run: what follows when a step ends.

==========================  =============================================================================
verdict of a step           what follows once its whole group has finished
==========================  =============================================================================
pass                        the next group
unclear                     the same step again
negative, attempts left     the stage's repairs (``Stage.repairs``), then the failed steps again
negative, none left         the user is asked; or the next group, if the stage ``continues_on_failure``
==========================  =============================================================================

Invariant: these functions are pure; no step is ever skipped, and no pass is ever revoked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from upbeat.core.workflow.facts import CallReturned, Fact, RepairPlanned, StepFinished, WorkflowEnded, apply_facts
from upbeat.core.workflow.handoff import join_handoffs
from upbeat.core.workflow.registry import (
    SPEC_MODE,
    VERIFY_MODE,
    Registry,
    Stage,
    StageGroups,
    Workflow,
    mode_of_step,
    stage_of_step_key,
)
from upbeat.core.workflow.state import (
    RunStatus,
    SessionState,
    StepAuthor,
    StepStatus,
    StepVerdict,
    WorkflowRun,
    WorkflowStep,
    current_steps,
)
from upbeat.core.workflow.verdict.classify import BAD_VERDICTS

WORST_FIRST = (*BAD_VERDICTS, StepVerdict.UNCLEAR, StepVerdict.PASS)


def create_run(
    workflow: Workflow, stages: Mapping[str, Stage], run_id: str, goal: str = "", feature: str = ""
) -> WorkflowRun:
    """Return a new run with every step pending."""
    steps = tuple(
        WorkflowStep(key, stage_of_step_key(key), number, mode_of_step(workflow, key, stages))
        for number, group in enumerate(workflow.groups)
        for key in group
    )
    return WorkflowRun(run_id, workflow.name, steps, goal, feature)


def unfinished_before(run: WorkflowRun, step: WorkflowStep) -> tuple[WorkflowStep, ...]:
    """Return the steps that must finish before ``step`` may start."""
    return tuple(other for other in run.steps if other.group < step.group and other.status is not StepStatus.DONE)


def is_finished(run: WorkflowRun) -> bool:
    """Return whether every step has passed or used all its attempts."""
    return not current_steps(run)


def finish_call(run: WorkflowRun, registry: Registry, returned: CallReturned) -> tuple[Fact, ...]:
    """Return the facts that follow when a call returns; none if it is unknown or has returned before."""
    call = next((call for call in run.calls if call.call_id == returned.call_id), None)
    if call is None or call.verdict is not StepVerdict.NONE:
        return ()
    after = _apply(run, [returned])
    calls = [other for other in after.calls if other.step_key == call.step_key]
    if any(other.verdict is StepVerdict.NONE for other in calls):
        return (returned,)
    worst = min((other.verdict for other in calls), key=WORST_FIRST.index)
    notes = " · ".join(other.failure_notes for other in calls if other.verdict is worst and other.failure_notes)
    handoff, length = join_handoffs([other.handoff for other in calls]), sum(other.handoff_chars for other in calls)
    finished = StepFinished(call.step_key, worst, notes, handoff, StepAuthor.AGENT, length)
    return (returned, *finish_step(after, registry, finished))


def finish_step(run: WorkflowRun, registry: Registry, finished: StepFinished) -> tuple[Fact, ...]:
    """Return the facts that follow when a step ends: ``finished``, and what it leads to."""
    step_key, verdict = finished.step_key, finished.verdict
    after = _apply(run, [finished])
    step = after.find_step(step_key)
    if step is None:
        return ()
    if verdict is StepVerdict.UNCLEAR and step.attempts >= registry.find_stage(step.stage).max_attempts:
        return (finished, *_require_human(run, step_key))
    group = [other for other in after.steps if other.group == step.group]
    if any(other.status is not StepStatus.DONE for other in group):
        return (finished,)
    return (finished, *_finish_group(after, registry, group))


def give_up_step(run: WorkflowRun, registry: Registry, finished: StepFinished) -> tuple[Fact, ...]:
    """Return the facts that follow when a step fails whose parts have used all their attempts.

    The user is asked, or the workflow continues, as after the last attempt at the step.
    """
    step = run.find_step(finished.step_key)
    if step is None or registry.find_stage(step.stage).continues_on_failure:
        return (finished,)
    return (finished, *_require_human(run, finished.step_key))


def _finish_group(run: WorkflowRun, registry: Registry, group: Sequence[WorkflowStep]) -> tuple[Fact, ...]:
    """Return what follows when all steps of a group have finished: a repair of the failed ones, or nothing."""
    failed = [step for step in group if step.verdict in BAD_VERDICTS]
    exhausted = [step for step in failed if step.attempts >= registry.find_stage(step.stage).max_attempts]
    for step in exhausted:
        if not registry.find_stage(step.stage).continues_on_failure:
            return _require_human(run, step.key)
    retried = [step for verdict in BAD_VERDICTS for step in failed if step.verdict is verdict and step not in exhausted]
    if not retried:
        return ()
    keys = tuple(step.key for step in retried)
    groups = _merge_groups(_repair_groups(run, registry, step) for step in retried)
    return (RepairPlanned(_repair_steps(run, registry, groups, keys), keys),)


def _require_human(run: WorkflowRun, step_key: str) -> tuple[Fact, ...]:
    """Ask the user about the step, unless the run has already ended."""
    return (WorkflowEnded(RunStatus.NEEDS_HUMAN, step_key),) if run.is_running else ()


def _repair_groups(run: WorkflowRun, registry: Registry, step: WorkflowStep) -> StageGroups:
    """Return the stages that run before the step is retried; none in mode spec.

    The stages that the step itself repairs, directly or not, are left out: two stages that repair each other would
    never end.
    """
    if step.mode == SPEC_MODE:
        return ()
    repaired: set[str] = set()
    pending = list(step.repair_of)
    while pending:
        cause = run.find_step(pending.pop())
        if cause and cause.stage not in repaired:
            repaired.add(cause.stage)
            pending += cause.repair_of
    groups = registry.find_stage(step.stage).repairs.get(step.verdict, ())
    return tuple(tuple(stage for stage in group if stage not in repaired) for group in groups)


def _merge_groups(repairs: Iterable[StageGroups]) -> StageGroups:
    """Return all groups in order, with each stage once."""
    merged: list[tuple[str, ...]] = []
    for groups in repairs:
        for group in groups:
            fresh = tuple(stage for stage in group if all(stage not in other for other in merged))
            if fresh:
                merged.append(fresh)
    return tuple(merged)


def _repair_steps(
    run: WorkflowRun, registry: Registry, groups: StageGroups, keys: tuple[str, ...]
) -> tuple[WorkflowStep, ...]:
    """Return steps for ``groups`` with keys and group numbers that are new to the run; their mode is never spec."""
    base = max(step.group for step in run.steps) + 1
    taken = {step.key for step in run.steps}
    steps = []
    for offset, group in enumerate(groups):
        for stage in group:
            number = next(index for index in count(1) if f"{stage}#{index}" not in taken)
            key = f"{stage}#{number}"
            taken.add(key)
            mode = VERIFY_MODE if registry.find_stage(stage).spec_before else ""
            steps.append(WorkflowStep(key, stage, base + offset, mode, repair_of=keys))
    return tuple(steps)


def _apply(run: WorkflowRun, facts: Iterable[Fact]) -> WorkflowRun:
    return apply_facts(facts, SessionState(run=run)).run or run
