"""Delegations of a split step: one sub-task each, in the order of the phases."""

from __future__ import annotations

import re

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from workflow_play import FAIL, PASS, Play, started, with_own

from upbeat.core.workflow.decision import TickCheckboxes, TickSubtask
from upbeat.core.workflow.state import RunStatus, StepAuthor, StepStatus, StepVerdict, WorkflowStep
from upbeat.core.workflow.subtasks import Subtask, SubtaskStatus, plan_of_step, subtasks_with
from upbeat.core.workflow.tasks import TasksFile, files_overlap

TASKS = """# Tasks

## Dev Phases
### Phase 1: base (sequential)
- [ ] models | files: src/models.py
### Phase 2: core (parallel)
- [ ] handlers | files: src/handlers.py
- [ ] login pages | files: src/auth/
### Phase 3: integration (sequential, depends: 2)
- [ ] integrate both | files: src/routes.py
"""


def begun(tasks: str = TASKS, workflow: str = "single") -> Play:
    """A session whose next step is DEV, with a feature that has phases."""
    play = started(workflow, tasks=tasks)
    play.features = ("shop",)
    return play


def step_of(play: Play) -> WorkflowStep:
    step = play.run.find_step("DEV")
    assert step
    return step


def plan_of(play: Play) -> tuple[Subtask, ...]:
    return plan_of_step(play.run, step_of(play), play.inputs())


def delegate(play: Play, marker: str) -> str:
    return play.delegate("developer", prompt=f"[stage:DEV.{marker}] do it")


def returned(play: Play, call_id: str, message: str = PASS) -> None:
    """Let the subagent of the call return, and check the boxes that follow."""
    play.workspace_actions.clear()
    if not any(call.agent_id == f"agent of {call_id}" for call in play.run.calls):
        play.started("developer", f"agent of {call_id}")
    play.returned(call_id, message, f"agent of {call_id}")
    apply_ticks(play)


def apply_ticks(play: Play) -> None:
    tasks = TasksFile.parse(play.tasks or "")
    for action in play.workspace_actions:
        if isinstance(action, TickSubtask):
            tasks = tasks.tick_subtask(action.title, action.occurrence)
        elif isinstance(action, TickCheckboxes):
            tasks = tasks.tick(action.step_keys)
    play.tasks = tasks.text
    play.workspace_actions.clear()


def test_ready_ones_are_named_together() -> None:
    """The main agent is told all sub-tasks that can start, with their markers, and what the others wait for."""
    play = begun()
    play.delegate("developer", prompt="[stage:DEV.1.1] x")
    returned(play, "call-1")

    assert "[stage:DEV.2.1] handlers\n[stage:DEV.2.2] login pages\n" in play.injected
    assert "3.1 (phase 2)" in play.injected
    assert "DEV (upbeat:developer)" not in play.injected


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ("2.1", "Sub-task 2.1 cannot start yet. It waits for phase 1. Ready: [stage:DEV.1.1]."),
        ("3.1", "It waits for phase 2. Ready: [stage:DEV.1.1]."),
        ("4.7", "There is no sub-task 4.7. Ready: [stage:DEV.1.1]."),
    ],
)
def test_not_ready_is_denied(marker: str, reason: str) -> None:
    """A sub-task whose phase is not ready is denied, with what it waits for and what is ready."""
    play = begun()
    delegate(play, marker)

    assert reason in play.denied
    assert () == play.run.calls


def test_running_and_done_are_denied() -> None:
    """A sub-task is not delegated twice."""
    play = begun()
    call = delegate(play, "1.1")
    delegate(play, "1.1")
    again = play.denied
    returned(play, call)
    delegate(play, "1.1")

    assert "A subagent is working on sub-task 1.1." in again
    assert "Sub-task 1.1 is done. Ready: [stage:DEV.2.1], [stage:DEV.2.2]." in play.denied


def test_calls_without_a_marker() -> None:
    """A call is for the only sub-task that is ready, or for the one whose title it contains; otherwise it is denied."""
    play = begun()
    returned(play, play.delegate("developer", prompt="start"))
    unnamed = (play.delegate("developer", prompt="write it"), play.denied)
    titled = play.delegate("developer", prompt="Build the Login  pages now")

    assert ("", "Begin the prompt with the marker of one. Ready: [stage:DEV.2.1], [stage:DEV.2.2].") == (
        unnamed[0],
        unnamed[1].partition(". ")[2],
    )
    assert "login pages" == next(call.subtask for call in play.run.calls if call.call_id == titled)


def test_the_subagent_is_told_its_part() -> None:
    """The delegated prompt has the sub-task, its files, and the parts of the others."""
    play = begun()
    returned(play, delegate(play, "1.1"))
    delegate(play, "2.2")

    assert "Your sub-task 2.2: login pages" in play.prepended
    assert "Change only: src/auth" in play.prepended
    assert "2.1 handlers" in play.prepended
    assert "login pages" not in play.prepended.partition("Others do these parts")[2].partition("\n")[0]


def test_a_whole_step() -> None:
    """Boxes follow the results, and the step passes with the last sub-task."""
    play = begun()
    returned(play, delegate(play, "1.1"))
    both = [delegate(play, "2.1"), delegate(play, "2.2")]
    for call in both:
        returned(play, call)
    status = step_of(play).status
    returned(play, delegate(play, "3.1"))

    assert StepStatus.PENDING is status
    assert step_of(play).has_passed
    assert "[ ]" not in (play.tasks or "")


def test_a_failed_subtask_alone_is_retried() -> None:
    """After one of two failed, only that one is ready; its subagent reads why it failed."""
    play = begun()
    returned(play, delegate(play, "1.1"))
    first, second = delegate(play, "2.1"), delegate(play, "2.2")
    returned(play, first, FAIL)
    returned(play, second)
    ready = [subtask.id for subtask in subtasks_with(plan_of(play), SubtaskStatus.READY)]
    delegate(play, "2.1")

    assert ["2.1"] == ready
    assert "off by one" in play.prepended
    assert "- [x] login pages" in (play.tasks or "")


def test_a_failed_phase_stops_what_depends_on_it() -> None:
    """A sub-task that has used all its attempts fails the step, with what was not started; nothing else starts."""
    play = begun()
    for _ in range(3):
        returned(play, delegate(play, "1.1"), FAIL)
    step = step_of(play)

    assert (1, StepVerdict.FAIL) == (step.attempts, step.verdict)
    assert "1.1 models: The total is off by one." in step.failure_notes
    assert "not started: 2.1, 2.2, 3.1" in step.failure_notes


def test_attempts_are_bounded() -> None:
    """After three failures of one sub-task the user is asked; told to continue, it is tried anew."""
    play = begun()
    calls = 0
    while play.run.status is RunStatus.RUNNING and calls < 50:
        returned(play, delegate(play, "1.1"), FAIL)
        calls += 1
    asked = play.run.status
    play.prompt("continue")
    returned(play, delegate(play, "1.1"))

    assert (3, RunStatus.NEEDS_HUMAN) == (calls, asked)
    assert "- [x] models" in (play.tasks or "")


def test_each_subagent_reads_its_own_failures() -> None:
    """Why a sub-task failed is told to the one that repeats it, once, and to no other."""
    play = begun()
    returned(play, delegate(play, "1.1"))
    returned(play, delegate(play, "2.1"), FAIL)
    delegate(play, "2.2")
    other = play.prepended
    delegate(play, "2.1")

    assert "Attempt" not in other
    assert "off by one" not in other
    assert (1, 1) == (play.prepended.count("Attempt 2 of 3."), play.prepended.count("off by one"))


def test_a_box_that_an_agent_checks_is_a_claim() -> None:
    """The step passes, and is shown as self-declared: no subagent has passed that sub-task."""
    play = begun()
    play.tasks = TASKS.replace("[ ] models", "[x] models")
    returned(play, delegate(play, "2.1"))
    returned(play, delegate(play, "2.2"))
    returned(play, delegate(play, "3.1"))

    assert (True, StepAuthor.MAIN) == (step_of(play).has_passed, step_of(play).author)


def test_one_pass_ticks_one_box() -> None:
    """Of sub-tasks with the same title, only the one that passed is done."""
    play = begun("## Dev Phases\n### Phase 1: a (parallel)\n- [ ] tests | files: a.py\n- [ ] tests | files: b.py\n")
    returned(play, delegate(play, "1.2"))

    assert "- [ ] tests | files: a.py\n- [x] tests | files: b.py\n" in (play.tasks or "")
    assert StepStatus.PENDING is step_of(play).status


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("### Phase 2: core", "### Core", "tasks.md line 6: this is no phase; write ### Phase N: title"),
        ("- [ ] models", "- models", "tasks.md line 4: phase 1 has no tasks; write each as - [ ] task"),
        ("depends: 2", "depends: 7", "tasks.md line 9: phase 3 depends on 7, which does not exist"),
    ],
)
def test_problems_of_the_plan_are_told(old: str, new: str, problem: str) -> None:
    """The main agent reads what is wrong with the phases, with the line, also while others can start."""
    play = begun(TASKS.replace(old, new))
    play.ends()

    assert problem in play.continuation


@pytest.mark.parametrize("claimed", ["DEV", "DEV.1.1"])
def test_claims_do_not_skip_subtasks(claimed: str) -> None:
    """The main agent cannot end a split step, or a part of it, while sub-tasks are open."""
    play = begun()
    play.ends(f'Done.\n<!-- VERDICT: {{"stage": "{claimed}", "result": "PASS"}} -->')

    assert StepStatus.PENDING is step_of(play).status
    assert "Sub-tasks are still open, so your verdict does not count: DEV (1.1, 2.1, 2.2, 3.1)." in play.continuation


def test_a_broken_plan_is_told() -> None:
    """Phases that wait for each other start nothing, and the main agent reads why."""
    play = begun(TASKS.replace("base (sequential)", "base (sequential, depends: 3)"))
    play.ends()
    told = play.continuation
    delegate(play, "1.1")

    assert "tasks.md line 4: these phases depend on each other and can never start: 1, 2, 3" in told
    assert "It waits for phase 3." in play.denied


def test_repairs_are_not_split() -> None:
    """Without phases, and for a repair, the step is one delegation."""
    plain = begun("- [ ] DEV\n- [ ] more\n")

    assert plain.delegate("developer")
    assert "sub-task" not in plain.prepended


def test_own_stages() -> None:
    """A stage of the user's is split if its file says so."""
    own = with_own(
        '[workflows.ship]\nstages = ["BUILD"]\n[stages.BUILD]\nagent = "developer"\nsplits_into_subtasks = true\n'
    )
    play = started("ship", tasks=TASKS, known=own)
    play.delegate("developer", prompt="[stage:BUILD.2.1] x")

    assert "waits for phase 1" in play.denied


class Phases(RuleBasedStateMachine):
    """A main agent that delegates, loses and answers sub-tasks in any order."""

    def __init__(self) -> None:
        super().__init__()
        lines = ["## Dev Phases"]
        for number, kind in enumerate(("parallel", "sequential", "parallel, depends: 1", "parallel"), start=1):
            lines.append(f"### Phase {number}: p ({kind})")
            lines += [f"- [ ] task {number}{name} | files: f{(number + at) % 4}.py" for at, name in enumerate("abc")]
        self.play = begun("\n".join(lines) + "\n")
        self.running: dict[str, str] = {}

    def is_over(self) -> bool:
        return step_of(self.play).status is StepStatus.DONE or not self.play.run.is_running

    @precondition(lambda self: not self.is_over())
    @rule(phase=st.integers(1, 5), number=st.integers(1, 3))
    def delegates(self, phase: int, number: int) -> None:
        name = f"{phase}.{number}"
        before = {subtask.id: subtask for subtask in plan_of(self.play)}
        call = delegate(self.play, name)
        allowed = name in before and before[name].status is SubtaskStatus.READY
        assert bool(call) == allowed
        if call:
            self.running[call] = name
            self.play.started("developer", f"agent of {call}")

    @precondition(lambda self: self.running)
    @rule(data=st.data(), message=st.sampled_from((PASS, FAIL, "no verdict", PASS)))
    def returns(self, data: st.DataObject, message: str) -> None:
        call = data.draw(st.sampled_from(sorted(self.running)))
        del self.running[call]
        returned(self.play, call, message)

    @precondition(lambda self: not self.is_over())
    @rule()
    def ends(self) -> None:
        self.play.ends(background_task_count=len(self.running))

    @invariant()
    def keeps_the_order(self) -> None:
        """No two that share a file run at once, and none whose phase has to wait."""
        plan = {subtask.id: subtask for subtask in plan_of(self.play)}
        files = [plan[name].files for name in self.running.values()]
        assert not any(files_overlap(one, other) for at, one in enumerate(files) for other in files[at + 1 :])
        tasks = TasksFile.parse(self.play.tasks or "")
        done = {phase.number for phase in tasks.phases if phase.is_done}
        for name in self.running.values():
            phase = next(phase for phase in tasks.phases if phase.number == plan[name].phase)
            assert done.issuperset(phase.depends_on)

    @invariant()
    def passes_only_with_all_boxes(self) -> None:
        """The step has passed only if every sub-task is done."""
        if step_of(self.play).has_passed:
            assert not re.search(r"\[ \]", self.play.tasks or "")


TestPhases = Phases.TestCase


@pytest.mark.parametrize("left", [None, "# Tasks\n- [x] DEV\n"])
def test_a_file_whose_phases_are_gone(left: str | None) -> None:
    """Without the sub-tasks neither the main agent nor a developer can finish the step; with them it goes on."""
    play = begun()
    call = delegate(play, "1.1")
    returned(play, call)
    running = delegate(play, "2.1")
    kept, play.tasks = play.tasks, left
    play.returned(running, PASS, "agent of " + running)

    assert not step_of(play).has_passed
    play.ends('<!-- VERDICT: {"stage": "DEV", "result": "PASS"} -->')
    assert "tasks.md no longer lists the sub-tasks of DEV" in play.continuation
    assert not step_of(play).has_passed
    assert not play.delegate("developer", prompt="[stage:DEV] do all of it")
    assert "tasks.md no longer lists" in play.denied

    play.tasks = kept
    assert "2.2" in {subtask.id for subtask in subtasks_with(plan_of(play), SubtaskStatus.READY)}
