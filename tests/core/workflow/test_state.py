"""The state of one session and its run."""

from __future__ import annotations

from dataclasses import replace

from upbeat.core.workflow.state import (
    NEW_SESSION,
    LoopState,
    PolicyNotes,
    RunStatus,
    SessionState,
    StepStatus,
    StepVerdict,
    WorkflowRun,
    WorkflowStep,
    current_steps,
    pending_steps,
)

DONE = WorkflowStep("PLAN", "PLAN", 0, status=StepStatus.DONE, verdict=StepVerdict.PASS)
ACTIVE = WorkflowStep("DEV", "DEV", 1, status=StepStatus.ACTIVE)
PENDING = WorkflowStep("DOCS", "DOCS", 1)
LATER = WorkflowStep("TEST", "TEST", 2)
RUN = WorkflowRun("r", "standard", (DONE, ACTIVE, PENDING, LATER))


def test_current_steps() -> None:
    """The first unfinished group is current, and its steps that no call works on are pending."""
    assert (ACTIVE, PENDING) == current_steps(RUN)
    assert (PENDING,) == pending_steps(RUN)
    assert () == current_steps(replace(RUN, steps=(DONE,)))


def test_a_step_passes_only_when_done() -> None:
    """A verdict of a step that is not done is no pass, nor is another verdict."""
    steps = (DONE, replace(DONE, status=StepStatus.ACTIVE), replace(DONE, verdict=StepVerdict.UNCLEAR))

    assert [True, False, False] == [step.has_passed for step in steps]


def test_runs_that_can_continue() -> None:
    """A run that is complete or handed over cannot be resumed; only one status is running."""
    runs = [replace(RUN, status=status) for status in RunStatus]

    assert [RunStatus.RUNNING] == [run.status for run in runs if run.is_running]
    assert [RunStatus.COMPLETE, RunStatus.HANDED_OVER] == [run.status for run in runs if not run.can_continue]


def test_who_needs_the_user() -> None:
    """A run needs the user if a step is out of attempts, or its loop or session has ended; not once it is over."""
    waits = replace(RUN, status=RunStatus.NEEDS_HUMAN, reason="TEST")
    states = [
        NEW_SESSION,
        SessionState(run=RUN),
        SessionState(run=RUN, has_ended=True),
        SessionState(run=RUN, loop=LoopState(end_reason="turns"), has_ended=True),
        SessionState(run=waits, loop=LoopState(end_reason="needs_human")),
        *(
            SessionState(run=replace(RUN, status=status), has_ended=True)
            for status in (RunStatus.COMPLETE, RunStatus.STOPPED)
        ),
    ]

    assert ["", "", "closed", "turns", "needs_human", "", ""] == [state.needs_user for state in states]


def test_whose_turn_it_is() -> None:
    """The user's, also while a question is open or after the last turn failed; not once the run is over."""
    loops = [
        LoopState(has_asked_user=True),
        LoopState(waits_for="turn_failed"),
        LoopState(end_reason="turns"),
        LoopState(),
    ]
    over = replace(RUN, status=RunStatus.COMPLETE)

    assert ["question", "turn_failed", "turns", ""] == [SessionState(run=RUN, loop=loop).awaits_user for loop in loops]
    assert {""} == {SessionState(run=over, loop=loop).awaits_user for loop in loops}


def test_steps_that_have_failed() -> None:
    """Steps that have ended without a pass have failed, also the unclear one for which the run waits."""
    failed = replace(DONE, key="TEST", verdict=StepVerdict.FAIL)
    unclear = replace(LATER, key="QA", verdict=StepVerdict.UNCLEAR)
    run = replace(RUN, steps=(DONE, failed, unclear))

    assert ((DONE,), (failed,)) == (run.passed_steps, run.failed_steps)
    assert (failed, unclear) == replace(run, status=RunStatus.NEEDS_HUMAN, reason="QA").failed_steps


def test_when_a_run_began() -> None:
    """The id of a run begins with its time; another id says nothing."""
    assert (1767323045.0, 0.0) == (replace(RUN, id="019b7ca98c88-abcdef").created_at, RUN.created_at)


def test_find_step() -> None:
    """A step is found by its key; an unknown key has none."""
    assert (LATER, None) == (RUN.find_step("TEST"), RUN.find_step("TEST:2"))


def test_a_session_with_a_workflow() -> None:
    """A session has a workflow if it has a run or a loop that has done anything."""
    sessions = (NEW_SESSION, SessionState(run=RUN), SessionState(loop=LoopState(iterations=1)))

    assert [False, True, True] == [session.has_workflow for session in sessions]


def test_notes_of_a_policy() -> None:
    """Each policy has its own notes; without any they are empty."""
    state = SessionState(policy_notes=(PolicyNotes("a", ("x",)), PolicyNotes("b", ("y",))))

    assert (("y",), ()) == (state.notes_of("b"), state.notes_of("c"))
