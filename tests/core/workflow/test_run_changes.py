"""Changes of a run."""

from __future__ import annotations

from dataclasses import replace

from upbeat.core.workflow.run_changes import (
    MAX_ENDED_AGENTS,
    finish_subtask,
    insert_repair_steps,
    remember_ended,
    remove_call,
    reopen_run,
    with_call,
    with_step,
)
from upbeat.core.workflow.state import (
    AgentReading,
    RunStatus,
    StepStatus,
    StepVerdict,
    SubagentCall,
    SubtaskResult,
    UnmatchedResult,
    WorkflowRun,
    WorkflowStep,
)

DEV = WorkflowStep("DEV", "DEV", 0, status=StepStatus.DONE, verdict=StepVerdict.PASS)
TEST = WorkflowStep("TEST", "TEST", 1, status=StepStatus.DONE, verdict=StepVerdict.FAIL, attempts=3)
RUN = WorkflowRun("r", "quick", (DEV, TEST), status=RunStatus.NEEDS_HUMAN, calls=(SubagentCall("c", "DEV", "a"),))


def test_repairs_come_before_the_retried_step() -> None:
    """The groups are numbered anew, and the retried step is pending again."""
    changed = insert_repair_steps(RUN, [WorkflowStep("DEV#1", "DEV", 7)], ["TEST"])

    assert [("DEV", 0), ("DEV#1", 1), ("TEST", 2)] == [(step.key, step.group) for step in changed.steps]
    assert StepStatus.PENDING is changed.steps[2].status


def test_a_reopened_run_forgets_its_failures() -> None:
    """Failed steps get all their attempts back; what has passed stays."""
    changed = reopen_run(RUN)

    assert (RunStatus.RUNNING, DEV) == (changed.status, changed.steps[0])
    assert (StepStatus.PENDING, 0) == (changed.steps[1].status, changed.steps[1].attempts)


def test_one_call_and_one_step() -> None:
    """Only the named one changes; an unknown one changes nothing."""
    assert "x" == with_call(RUN, "c", agent_id="x").calls[0].agent_id
    assert (DEV, 0) == (
        with_step(RUN, "TEST", attempts=0).steps[0],
        with_step(RUN, "TEST", attempts=0).steps[1].attempts,
    )
    assert RUN == with_step(with_call(RUN, "?", agent_id="x"), "?", attempts=9)


ACTIVE = WorkflowStep("DEV", "DEV", 0, status=StepStatus.ACTIVE)
CALLS = (SubagentCall("c1", "DEV", "d", "a1", subtask="1:one"), SubagentCall("c2", "DEV", "d", "a2", subtask="1:two"))
SPLIT = WorkflowRun("r", "standard", (ACTIVE,), calls=CALLS, unmatched_results=(UnmatchedResult("a1", "d", "x"),))


def test_the_last_call_leaves_the_step_pending() -> None:
    """A step is pending again when its last call is gone; an unknown call changes nothing."""
    one = remove_call(SPLIT, "c1")
    none = remove_call(one, "c2")

    assert [StepStatus.ACTIVE, StepStatus.PENDING] == [run.steps[0].status for run in (one, none)]
    assert SPLIT is remove_call(SPLIT, "c3") is finish_subtask(SPLIT, "c3", StepVerdict.PASS, "", "")


def test_results_of_subtasks() -> None:
    """Failed attempts are counted, a pass keeps the count, and each sub-task has one result."""
    run = finish_subtask(SPLIT, "c1", StepVerdict.FAIL, "off by one", "")
    run = finish_subtask(run, "c2", StepVerdict.PASS, "", "done")

    assert (
        SubtaskResult("DEV", "1:one", StepVerdict.FAIL, 1, "off by one"),
        SubtaskResult("DEV", "1:two", StepVerdict.PASS, handoff="done"),
    ) == run.subtasks
    assert ((), (), True) == (run.calls, run.unmatched_results, run.has_untold_result)


def test_agents_whose_results_counted_are_remembered() -> None:
    """What they have read is not needed any more; the names are bounded."""
    reading = (AgentReading("a", ("x.py",)), AgentReading("b", ("y.py",)))
    changed = remember_ended(replace(RUN, readings=reading), ["a", ""])
    many = remember_ended(RUN, map(str, range(2 * MAX_ENDED_AGENTS)))

    assert (("a",), reading[1:]) == (changed.ended_agents, changed.readings)
    assert MAX_ENDED_AGENTS == len(many.ended_agents)
