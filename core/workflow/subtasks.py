"""Split a step into the sub-tasks of development phases: which can start now, and what the others wait for.

Invariant: a sub-task is ready only if every phase that its own depends on is done, and no sub-task that is running or
named before it changes the same files. What is done is said by the boxes of ``tasks.md``, and by results whose boxes
could not be checked yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

from upbeat.core.lazy_dataclass import replace
from upbeat.core.workflow.decision import WorkflowInputs
from upbeat.core.workflow.state import StepVerdict, SubtaskResult, WorkflowRun, WorkflowStep
from upbeat.core.workflow.tasks import TasksFile, files_overlap, open_dependencies

_MAX_TITLE_CHARS = 200


class SubtaskStatus(StrEnum):
    """Where a sub-task stands."""

    DONE = "done"
    RUNNING = "running"
    READY = "ready"
    WAITING = "waiting"
    FAILED = "failed"
    """All its attempts have failed."""


@dataclass(frozen=True, slots=True)
class Subtask:
    """One sub-task. ``id`` is ``PHASE.NUMBER``, counted from 1; ``waits_for`` has ids, or phases as ``phase 2``."""

    id: str
    phase: int
    title: str
    occurrence: int = 1
    """Which of the sub-tasks with this title it is, in all phases."""
    files: tuple[str, ...] = ()
    status: SubtaskStatus = SubtaskStatus.WAITING
    waits_for: tuple[str, ...] = ()
    result: SubtaskResult | None = None

    @property
    def key(self) -> str:
        """What records call it: phases may be renumbered while it runs."""
        return self.title[:_MAX_TITLE_CHARS] + (f" #{self.occurrence}" if self.occurrence > 1 else "")


def plan_of_step(run: WorkflowRun, step: WorkflowStep, inputs: WorkflowInputs) -> tuple[Subtask, ...]:
    """Return the sub-tasks of ``step``; none if its stage is not split."""
    stage = inputs.registry.find_stage(step.stage)
    if not stage.splits_into_subtasks:
        return ()
    match inputs.plans.get(step.key):
        case (known_run, known_step, tasks, tuple(plan)) if (
            known_run is run and known_step is step and tasks is inputs.tasks
        ):
            return plan
    plan = plan_subtasks(inputs.tasks, run, step, stage.max_attempts)
    inputs.plans[step.key] = (run, step, inputs.tasks, plan)
    return plan


def has_lost_plan(run: WorkflowRun, step: WorkflowStep, inputs: WorkflowInputs) -> bool:
    """Return whether ``step`` was worked on by sub-tasks that ``tasks.md`` does not list any more."""
    keys = [call.step_key for call in run.calls if call.subtask] + [result.step_key for result in run.subtasks]
    return step.key in keys and not step.repair_of and not plan_of_step(run, step, inputs)


def plan_subtasks(
    tasks: TasksFile | None, run: WorkflowRun, step: WorkflowStep, max_attempts: int
) -> tuple[Subtask, ...]:
    """Return the sub-tasks of ``step`` in the order of the file; none without phases, and none for a repair."""
    if tasks is None or step.repair_of:
        return ()
    results = {result.key: result for result in run.subtasks if result.step_key == step.key}
    for subtask in _read_subtasks(tasks, results):
        if subtask.result and subtask.result.verdict is StepVerdict.PASS:  # its box may not be checked yet
            tasks = tasks.tick_subtask(subtask.title, subtask.occurrence)
    running = {call.subtask for call in run.calls if call.step_key == step.key and call.verdict is StepVerdict.NONE}
    plan: list[Subtask] = []
    for subtask in _read_subtasks(tasks, results):
        status = _own_status(subtask, running, max_attempts)
        waits_for = _blockers(subtask, tasks, plan) if status is SubtaskStatus.READY else ()
        plan.append(replace(subtask, status=SubtaskStatus.WAITING if waits_for else status, waits_for=waits_for))
    return _without_overlaps(plan)


def _read_subtasks(tasks: TasksFile, results: Mapping[str, SubtaskResult]) -> Iterator[Subtask]:
    """Yield the sub-tasks, done ones as such. Phases with the same number are numbered on."""
    numbers: Counter[int] = Counter()
    titles: Counter[str] = Counter()
    for phase in tasks.phases:
        for box, *nested in phase.subtasks:
            numbers[phase.number] += 1
            titles[box.text] += 1
            files = tuple(dict.fromkeys(file for member in (box, *nested) for file in member.files))
            subtask = Subtask(
                f"{phase.number}.{numbers[phase.number]}",
                phase.number,
                box.text,
                titles[box.text],
                files,
                SubtaskStatus.DONE if box.is_done else SubtaskStatus.WAITING,
            )
            yield replace(subtask, result=results.get(subtask.key))


def _own_status(subtask: Subtask, running: Set[str], max_attempts: int) -> SubtaskStatus:
    if subtask.status is SubtaskStatus.DONE:
        return SubtaskStatus.DONE
    if subtask.key in running:
        return SubtaskStatus.RUNNING
    is_failed = subtask.result is not None and subtask.result.attempts >= max_attempts
    return SubtaskStatus.FAILED if is_failed else SubtaskStatus.READY


def _blockers(subtask: Subtask, tasks: TasksFile, earlier: Sequence[Subtask]) -> tuple[str, ...]:
    """Return what ``subtask`` waits for: phases, and in a sequential phase the sub-task before it."""
    phases = [phase for phase in tasks.phases if phase.number == subtask.phase]
    waits = (number for phase in phases for number in open_dependencies(phase, tasks.phases))
    if blockers := tuple(dict.fromkeys(f"phase {number}" for number in waits)):
        return blockers
    if all(phase.is_parallel for phase in phases):
        return ()
    before = [other for other in earlier if other.phase == subtask.phase and other.status is not SubtaskStatus.DONE]
    return tuple(other.id for other in before[-1:])


def _without_overlaps(plan: Sequence[Subtask]) -> tuple[Subtask, ...]:
    """Return the plan with each ready sub-task waiting that changes the same files as one that runs or is ready."""
    taken = list(subtasks_with(plan, SubtaskStatus.RUNNING))
    kept: list[Subtask] = []
    for subtask in plan:
        shared = tuple(other.id for other in taken if files_overlap(other.files, subtask.files))
        if subtask.status is not SubtaskStatus.READY:
            kept.append(subtask)
        elif shared:
            kept.append(replace(subtask, status=SubtaskStatus.WAITING, waits_for=shared))
        else:
            kept.append(subtask)
            taken.append(subtask)
    return tuple(kept)


def subtasks_with(plan: Iterable[Subtask], *statuses: SubtaskStatus) -> tuple[Subtask, ...]:
    """Return the sub-tasks with one of ``statuses``."""
    return tuple(subtask for subtask in plan if subtask.status in statuses)
