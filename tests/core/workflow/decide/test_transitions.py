"""What follows when a step ends."""

from __future__ import annotations

from upbeat.core.workflow.decide.transitions import create_run, finish_call, finish_step, is_finished, unfinished_before
from upbeat.core.workflow.facts import (
    CallReturned,
    Fact,
    RepairPlanned,
    StepFinished,
    StepStarted,
    WorkflowEnded,
    apply_facts,
)
from upbeat.core.workflow.registry import Registry, Stage, Workflow
from upbeat.core.workflow.state import RunStatus, SessionState, StepAuthor, StepVerdict, WorkflowRun, WorkflowStep

STAGES = {
    "DEV": Stage("DEV", "developer"),
    "TEST": Stage("TEST", "tester", (StepVerdict.PASS,), {StepVerdict.FAIL: (("DEV",),)}, 2, spec_before="DEV"),
    "RETRO": Stage("RETRO", "retro", max_attempts=1, continues_on_failure=True),
}
WORKFLOW = Workflow("tdd", (("TEST",), ("DEV",), ("TEST:2", "RETRO")))
REGISTRY = Registry({"tdd": WORKFLOW}, STAGES, {})
RUN = create_run(WORKFLOW, STAGES, "r", "goal", "feature")


def after(run: WorkflowRun, *facts: Fact) -> WorkflowRun:
    """The run after ``facts``."""
    changed = apply_facts(facts, SessionState(run=run)).run
    assert changed is not None
    return changed


def passed(run: WorkflowRun, *keys: str) -> WorkflowRun:
    """The run after these steps have passed."""
    return after(run, *(StepFinished(key, StepVerdict.PASS) for key in keys))


def test_a_new_run() -> None:
    """Every step of the workflow is pending, in the mode of its place."""
    assert (
        WorkflowRun(
            "r",
            "tdd",
            (
                WorkflowStep("TEST", "TEST", 0, "spec"),
                WorkflowStep("DEV", "DEV", 1),
                WorkflowStep("TEST:2", "TEST", 2, "verify"),
                WorkflowStep("RETRO", "RETRO", 2),
            ),
            "goal",
            "feature",
        )
        == RUN
    )


def test_groups_are_in_order() -> None:
    """A step waits for the earlier groups, not for its own; a run is finished when every step is."""
    assert ["TEST", "DEV"] == [step.key for step in unfinished_before(RUN, RUN.steps[3])]
    assert not is_finished(passed(RUN, "TEST", "DEV", "TEST:2"))
    assert is_finished(passed(RUN, "TEST", "DEV", "TEST:2", "RETRO"))


def test_the_worst_verdict_of_the_calls_counts() -> None:
    """A step ends when its last call returns, with the worst verdict and all handoffs; a call returns once."""
    run = after(RUN, StepStarted("TEST", "c1", "tester"), StepStarted("TEST", "c2", "tester"))
    unclear = CallReturned("c1", StepVerdict.UNCLEAR, "why?", "one", 900)
    second = CallReturned("c2", StepVerdict.PASS, "", "two", 3)
    both = StepFinished("TEST", StepVerdict.UNCLEAR, "why?", "one\n\ntwo", StepAuthor.AGENT, 903)

    assert (unclear,) == finish_call(run, REGISTRY, unclear)
    assert (second, both) == finish_call(after(run, unclear), REGISTRY, second)
    assert () == finish_call(after(run, unclear), REGISTRY, CallReturned("c1", StepVerdict.PASS))
    assert () == finish_call(run, REGISTRY, CallReturned("unknown", StepVerdict.PASS))


def test_a_failed_step_is_repaired_and_retried() -> None:
    """When the whole group has finished, the repairs of the failed step are planned."""
    run = passed(RUN, "TEST", "DEV")
    failed = StepFinished("TEST:2", StepVerdict.FAIL, "off by one")
    repair = WorkflowStep("DEV#1", "DEV", 3, repair_of=("TEST:2",))

    assert (failed,) == finish_step(run, REGISTRY, failed)
    assert (failed, RepairPlanned((repair,), ("TEST:2",))) == finish_step(passed(run, "RETRO"), REGISTRY, failed)


def test_a_specification_that_fails_is_retried_without_repairs() -> None:
    """In mode spec, no stage runs before the retry."""
    failed = StepFinished("TEST", StepVerdict.FAIL)

    assert (failed, RepairPlanned((), ("TEST",))) == finish_step(RUN, REGISTRY, failed)


def test_the_last_attempt() -> None:
    """After the last attempt the user is asked, unless the stage continues on failure."""
    failed, retro = StepFinished("TEST", StepVerdict.FAIL), StepFinished("RETRO", StepVerdict.FAIL)
    ready = passed(RUN, "TEST", "DEV", "TEST:2")

    assert WorkflowEnded(RunStatus.NEEDS_HUMAN, "TEST") == finish_step(after(RUN, failed), REGISTRY, failed)[-1]
    assert (retro,) == finish_step(ready, REGISTRY, retro)
