"""Split a step into the sub-tasks of development phases: which can start now, and what the others wait for.

Invariant: a sub-task is ready only if every phase that its own depends on is done, and no sub-task that is running or
named before it changes the same files. What is done is said by the boxes of ``tasks.md``, and by results whose boxes
could not be checked yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from upbeat.core.workflow.state import StepVerdict, SubtaskResult, WorkflowRun, WorkflowStep
from upbeat.core.workflow.tasks import Phase, TasksFile, files_overlap

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
    files: tuple[str, ...] = ()
    status: SubtaskStatus = SubtaskStatus.WAITING
    waits_for: tuple[str, ...] = ()
    result: SubtaskResult | None = None

    @property
    def key(self) -> str:
        """What records call it: the file may be renumbered."""
        return subtask_key(self.phase, self.title)


def subtask_key(phase: int, title: str) -> str:
    """Return what records call a sub-task."""
    return f"{phase}:{title[:_MAX_TITLE_CHARS]}"


def plan_subtasks(
    tasks: TasksFile | None, run: WorkflowRun, step: WorkflowStep, max_attempts: int
) -> tuple[Subtask, ...]:
    """Return the sub-tasks of ``step`` in the order of the file; none without phases, and none for a repair."""
    if tasks is None or step.repair_of:
        return ()
    results = {result.key: result for result in run.subtasks if result.step_key == step.key}
    tasks = _with_passed(tasks, results)
    running = {call.subtask for call in run.calls if call.step_key == step.key and call.verdict is StepVerdict.NONE}
    plan: list[Subtask] = []
    closed = {phase.number for phase in tasks.phases if phase.is_done}
    closed -= {phase.number for phase in tasks.phases if not phase.is_done}
    for phase in tasks.phases:
        blockers = tuple(f"phase {number}" for number in phase.depends_on if number not in closed)
        for subtask in _read_phase(phase, results):
            status = _known_status(subtask, running, max_attempts)
            plan.append(_with_status(subtask, status, blockers, phase, plan))
    return _without_overlaps(plan)


def _with_passed(tasks: TasksFile, results: dict[str, SubtaskResult]) -> TasksFile:
    passed = {key for key, result in results.items() if result.verdict is StepVerdict.PASS}
    for phase in tasks.phases:
        for group in phase.subtasks:
            if subtask_key(phase.number, group[0].text) in passed:
                tasks = tasks.tick_subtask(phase.number, group[0].text)
    return tasks


def _read_phase(phase: Phase, results: dict[str, SubtaskResult]) -> Iterator[Subtask]:
    for number, (box, *nested) in enumerate(phase.subtasks, start=1):
        files = tuple(dict.fromkeys(file for member in (box, *nested) for file in member.files))
        status = SubtaskStatus.DONE if box.is_done else SubtaskStatus.WAITING
        result = results.get(subtask_key(phase.number, box.text))
        yield Subtask(f"{phase.number}.{number}", phase.number, box.text, files, status, result=result)


def _known_status(subtask: Subtask, running: set[str], max_attempts: int) -> SubtaskStatus:
    if subtask.status is SubtaskStatus.DONE:
        return SubtaskStatus.DONE
    if subtask.key in running:
        return SubtaskStatus.RUNNING
    is_failed = subtask.result is not None and subtask.result.attempts >= max_attempts
    return SubtaskStatus.FAILED if is_failed else SubtaskStatus.READY


def _with_status(
    subtask: Subtask, status: SubtaskStatus, blockers: tuple[str, ...], phase: Phase, earlier: Iterable[Subtask]
) -> Subtask:
    """Return the sub-task with its status. The sub-tasks of a sequential phase wait for those before them."""
    if status is SubtaskStatus.READY and not blockers and not phase.is_parallel:
        blockers = tuple(
            other.id for other in earlier if other.phase == phase.number and other.status is not SubtaskStatus.DONE
        )[-1:]
    if status is SubtaskStatus.READY and blockers:
        status = SubtaskStatus.WAITING
    waits_for = blockers if status is SubtaskStatus.WAITING else ()
    return Subtask(subtask.id, subtask.phase, subtask.title, subtask.files, status, waits_for, subtask.result)


def _without_overlaps(plan: list[Subtask]) -> tuple[Subtask, ...]:
    """Return the plan with each ready sub-task waiting that changes the same files as one that runs or is ready."""
    taken = [subtask for subtask in plan if subtask.status is SubtaskStatus.RUNNING]
    kept: list[Subtask] = []
    for subtask in plan:
        if subtask.status is SubtaskStatus.READY:
            shared = tuple(other.id for other in taken if files_overlap(other.files, subtask.files))
            if shared:
                subtask = Subtask(
                    subtask.id,
                    subtask.phase,
                    subtask.title,
                    subtask.files,
                    SubtaskStatus.WAITING,
                    shared,
                    subtask.result,
                )
            else:
                taken.append(subtask)
        kept.append(subtask)
    return tuple(kept)


def subtasks_with(plan: Iterable[Subtask], *statuses: SubtaskStatus) -> tuple[Subtask, ...]:
    """Return the sub-tasks with one of ``statuses``."""
    return tuple(subtask for subtask in plan if subtask.status in statuses)
