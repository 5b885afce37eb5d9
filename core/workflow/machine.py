"""The state machine of a run: what follows when a step ends, as one table.

=========================  ==============================================================================
verdict of a step          what follows, once its whole group has ended
=========================  ==============================================================================
pass                       the next group
unclear                    the same step once more
bad, tries left            the stage's repairs (``Stage.repairs``) and then the steps that ended badly again
bad, no tries left         a human is asked; or the next group, for a stage that ``moves_on``
=========================  ==============================================================================

Law: pure; a step is never left out, and a pass is never taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .facts import CallReturned, Fact, RepairPlanned, StepFinished, WorkflowEnded
from .fold import fold
from .registry import SPEC, VERIFY, Groups, Registry, Stage, Workflow, mode_of, stage_of
from .state import Run, RunStatus, SessionState, Step, StepStatus
from .verdict import Verdict

BAD = (Verdict.FAIL, Verdict.REJECT, Verdict.ISSUES)
"""From worst to mildest: of several, the first decides which repairs come first."""
WORST_FIRST = (*BAD, Verdict.UNCLEAR, Verdict.PASS)
_PLAIN = Stage("", "")


def begin(workflow: Workflow, stages: Mapping[str, Stage], run_id: str, goal: str = "", feature: str = "") -> Run:
    """A fresh run: every step pending."""
    steps = tuple(
        Step(key, stage_of(key), number, mode_of(workflow, key, stages))
        for number, group in enumerate(workflow.groups)
        for key in group
    )
    return Run(run_id, workflow.name, steps, goal, feature)


def current(run: Run) -> tuple[Step, ...]:
    """The steps of the first group that has not ended; none when all have."""
    first = next((step.group for step in run.steps if step.status is not StepStatus.DONE), None)
    return tuple(step for step in run.steps if step.group == first)


def pending(run: Run) -> tuple[Step, ...]:
    """The steps that can be started now."""
    return tuple(step for step in current(run) if step.status is StepStatus.PENDING)


def missing_before(run: Run, step: Step) -> tuple[Step, ...]:
    """The steps that have to end before ``step`` may start."""
    return tuple(other for other in run.steps if other.group < step.group and other.status is not StepStatus.DONE)


def is_done(run: Run) -> bool:
    """Whether every step has ended, well or after its last try."""
    return not current(run)


def call_returned(
    run: Run, registry: Registry, call_id: str, verdict: Verdict, notes: str, handoff: str = ""
) -> tuple[Fact, ...]:
    """The facts that follow when the call returns; none when nobody knows it or it has returned before."""
    call = next((call for call in run.calls if call.call_id == call_id), None)
    if call is None or call.verdict is not Verdict.NONE:
        return ()
    returned = CallReturned(call_id, verdict, notes)
    calls = [c for c in _after(run, [returned]).calls if c.key == call.key]
    if any(other.verdict is Verdict.NONE for other in calls):
        return (returned,)
    worst = min((other.verdict for other in calls), key=WORST_FIRST.index)
    said = " · ".join(other.notes for other in calls if other.verdict is worst and other.notes)
    return (returned, *step_ended(_after(run, [returned]), registry, call.key, worst, said, handoff))


def step_ended(
    run: Run, registry: Registry, key: str, verdict: Verdict, notes: str, handoff: str = ""
) -> tuple[Fact, ...]:
    """The facts that follow when a step ends with ``verdict``."""
    finished = StepFinished(key, verdict, notes, handoff)
    after = _after(run, [finished])
    step = after.step(key)
    if step is None:
        return ()
    if verdict is Verdict.UNCLEAR and step.tries >= _stage(registry, step).tries:
        return (finished, *_asking(run, key))
    group = [other for other in after.steps if other.group == step.group]
    if any(other.status is not StepStatus.DONE for other in group):
        return (finished,)
    return (finished, *_converged(after, registry, group))


def _converged(run: Run, registry: Registry, group: Sequence[Step]) -> tuple[Fact, ...]:
    """What follows when all steps of a group have ended: a repair for those that ended badly, or nothing."""
    bad = [step for step in group if step.verdict in BAD]
    spent = [step for step in bad if step.tries >= _stage(registry, step).tries]
    for step in spent:
        if not _stage(registry, step).moves_on:
            return _asking(run, step.key)
    again = sorted((step for step in bad if step not in spent), key=lambda step: BAD.index(step.verdict))
    if not again:
        return ()
    keys = tuple(step.key for step in again)
    groups = _merged(_repairs(run, registry, step) for step in again)
    return (RepairPlanned(_repair_steps(run, registry, groups, keys), keys),)


def _asking(run: Run, key: str) -> tuple[Fact, ...]:
    """A human is asked about the step ``key``, unless the run has ended before."""
    return (WorkflowEnded(RunStatus.NEEDS_HUMAN, key),) if run.is_running else ()


def _repairs(run: Run, registry: Registry, step: Step) -> Groups:
    """What comes before the step is tried again; nothing while it only writes down what is wanted.

    A repair does not call for what it is there to repair: two stages that repair each other would never end.
    """
    if step.mode == SPEC:
        return ()
    above = _repaired_by(run, step)
    groups = _stage(registry, step).repairs.get(step.verdict, ())
    return tuple(tuple(stage for stage in group if stage not in above) for group in groups)


def _repaired_by(run: Run, step: Step) -> frozenset[str]:
    """The stages that the step was put in for, and those that these were put in for, and so on."""
    found: set[str] = set()
    todo = list(step.repairs)
    while todo:
        above = run.step(todo.pop())
        if above and above.stage not in found:
            found.add(above.stage)
            todo += above.repairs
    return frozenset(found)


def _merged(repairs: Iterable[Groups]) -> Groups:
    """All groups in order, each stage once."""
    merged: list[tuple[str, ...]] = []
    for groups in repairs:
        for group in groups:
            fresh = tuple(stage for stage in group if all(stage not in other for other in merged))
            if fresh:
                merged.append(fresh)
    return tuple(merged)


def _repair_steps(run: Run, registry: Registry, groups: Groups, keys: tuple[str, ...]) -> tuple[Step, ...]:
    """New steps for ``groups``, with keys and groups that the run does not have yet. They check; none specifies."""
    base = max(step.group for step in run.steps) + 1
    taken = {step.key for step in run.steps}
    steps = []
    for offset, group in enumerate(groups):
        for stage in group:
            number = next(n for n in range(1, len(taken) + 2) if f"{stage}#{n}" not in taken)
            key = f"{stage}#{number}"
            taken.add(key)
            known = registry.stages.get(stage)
            mode = VERIFY if known and known.spec_before else ""
            steps.append(Step(key, stage, base + offset, mode, repairs=keys))
    return tuple(steps)


def _stage(registry: Registry, step: Step) -> Stage:
    return registry.stages.get(step.stage, _PLAIN)


def _after(run: Run, facts: Iterable[Fact]) -> Run:
    return fold(facts, SessionState(run=run)).run or run
