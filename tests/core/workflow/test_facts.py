"""The facts of a session, and how they change its state."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from journal_values import FACTS, STATES

from upbeat.core.journal.codec import MAX_TEXT_CHARS
from upbeat.core.workflow import facts
from upbeat.core.workflow.facts import apply_fact, apply_facts
from upbeat.core.workflow.state import (
    NEW_SESSION,
    Evidence,
    LoopState,
    PolicyNotes,
    RunStatus,
    SessionState,
    StepStatus,
    StepVerdict,
    WorkflowRun,
    WorkflowStep,
)

RUN = WorkflowRun("r", "standard", (WorkflowStep("DEV", "DEV", 0), WorkflowStep("TEST", "TEST", 1)))
STARTED = apply_fact(NEW_SESSION, facts.WorkflowStarted(RUN, 5.0, 7))


def run_after(*new: facts.Fact, state: SessionState = STARTED) -> WorkflowRun:
    """The run after ``new``."""
    run = apply_facts(new, state).run
    assert run is not None
    return run


def test_a_workflow_starts_with_a_new_loop() -> None:
    """A new workflow has a new loop and neither evidence nor an offer of an earlier one; so has an adopted run."""
    evidence = (Evidence("tests", "pytest", "t"),)
    used = SessionState(loop=LoopState(iterations=3), evidence=evidence, handover_client="codex-cli")

    assert STARTED == apply_fact(used, facts.WorkflowStarted(RUN, 5.0, 7))
    assert LoopState(started_at=5.0, tokens_at_start=7) == STARTED.loop
    adopted = apply_fact(used, facts.WorkflowAdopted(RUN, STARTED.loop, (), "claude-code", "s"))
    assert STARTED == adopted


def test_facts_that_do_not_fit_change_nothing() -> None:
    """A fact about an unknown call or step, or without a run, leaves the state unchanged."""
    misfits = [facts.CallLost("?"), facts.CallLinked("?", "a"), facts.StepFinished("?", StepVerdict.PASS)]

    assert STARTED == apply_facts(misfits, STARTED)
    assert NEW_SESSION == apply_facts(misfits, NEW_SESSION)


def test_a_step_ends() -> None:
    """A step that passes is done and loses its calls; an unclear one is pending again, and its attempt counts."""
    start = facts.StepStarted("DEV", "c", "developer")
    passed = run_after(start, facts.StepFinished("DEV", StepVerdict.PASS, "ignored", "handoff"))
    unclear = run_after(start, facts.StepFinished("DEV", StepVerdict.UNCLEAR, "why?"))

    assert StepStatus.ACTIVE is run_after(start).steps[0].status
    assert (
        replace(RUN.steps[0], status=StepStatus.DONE, verdict=StepVerdict.PASS, attempts=1, handoff="handoff"),
        (),
    ) == (passed.steps[0], passed.calls)
    assert (StepStatus.PENDING, 1, "why?") == (
        unclear.steps[0].status,
        unclear.steps[0].attempts,
        unclear.steps[0].failure_notes,
    )


def test_a_lost_call_releases_its_step() -> None:
    """A step is pending again when its last call is lost."""
    both = [facts.StepStarted("DEV", "c1", "developer"), facts.StepStarted("DEV", "c2", "developer")]

    assert StepStatus.ACTIVE is run_after(*both, facts.CallLost("c1")).steps[0].status
    assert RUN == run_after(*both, facts.CallLost("c1"), facts.CallLost("c2"))


def test_repair_steps_come_before_the_retried_step() -> None:
    """Repair steps are inserted before the group of the retried step, and groups are numbered anew."""
    repair = WorkflowStep("DEV#1", "DEV", 9, repair_of=("TEST",))
    run = run_after(facts.RepairPlanned((repair,), ("TEST",)))

    assert [("DEV", 0), ("DEV#1", 1), ("TEST", 2)] == [(step.key, step.group) for step in run.steps]


def test_a_reopened_run_retries_failed_steps() -> None:
    """Steps that failed are pending with all attempts; those that passed stay done."""
    failed = run_after(
        facts.StepFinished("DEV", StepVerdict.PASS),
        facts.StepFinished("TEST", StepVerdict.FAIL, "off by one"),
        facts.WorkflowEnded(RunStatus.NEEDS_HUMAN, "TEST"),
    )
    run = run_after(facts.WorkflowReopened(9.0), state=SessionState(run=failed))

    assert (RunStatus.RUNNING, "") == (run.status, run.reason)
    assert [(StepStatus.DONE, 1), (StepStatus.PENDING, 0)] == [(step.status, step.attempts) for step in run.steps]


def test_a_compaction_forgets_what_the_model_has_seen() -> None:
    """Excerpts and notes are forgotten, except the notes that survive a compaction."""
    kept, lost = PolicyNotes("a", ("x",), survives_compaction=True), PolicyNotes("b", ("y",))
    state = SessionState(policy_notes=(kept, lost), shown_excerpts=("e",), unread_excerpts=("e",))

    assert SessionState(policy_notes=(kept,), compactions=1) == apply_fact(state, facts.ConversationCompacted())


def test_excerpts_that_were_not_read_are_forgotten() -> None:
    """Excerpts of a prompt that the model never answered do not count as shown."""
    shown = apply_fact(NEW_SESSION, facts.ExcerptsShown(("a",)))

    assert ("b",) == apply_fact(shown, facts.ExcerptsShown(("b",))).shown_excerpts
    assert ("a", "b") == apply_facts([facts.ModelResponded(), facts.ExcerptsShown(("b",))], shown).shown_excerpts


def test_the_subject_is_that_of_the_last_block() -> None:
    """A block replaces the subject if it leads with one; a new conversation has none."""
    shown = apply_facts([facts.ExcerptsShown(("a",), ("x.py", "f")), facts.ExcerptsShown(("b",))], NEW_SESSION)

    assert ("x.py", "f") == shown.subject
    assert ("g",) == apply_fact(shown, facts.ExcerptsShown((), ("g",))).subject
    assert () == apply_fact(shown, facts.ConversationCompacted()).subject


def test_lists_are_bounded() -> None:
    """Only the latest evidence is kept."""
    ran = [facts.CommandRan(Evidence("tests", str(number), "t")) for number in range(facts.MAX_EVIDENCE + 1)]

    assert [str(number) for number in range(1, facts.MAX_EVIDENCE + 1)] == [
        evidence.command for evidence in apply_facts(ran, NEW_SESSION).evidence
    ]


def test_hidden_runs_displace_no_proof() -> None:
    """Of runs with a hidden exit code, only the latest of each kind is kept."""
    good = Evidence("tests", "pytest", "t", 0)
    runs = [good, *(Evidence("tests", f"pytest | tail -{number}", "t", is_hidden=True) for number in range(30))]
    state = apply_facts([facts.CommandRan(run) for run in runs], NEW_SESSION)

    assert (good, runs[-1]) == state.evidence


def test_a_queued_result_fits_into_a_record() -> None:
    """A result of maximum length is stored whole, with the verdict at its end."""
    assert facts.MAX_UNMATCHED_RESULT_CHARS <= MAX_TEXT_CHARS


@given(FACTS, STATES)
def test_no_fact_is_rejected(any_facts: tuple[facts.Fact, ...], state: SessionState) -> None:
    """Any fact applies to any state."""
    assert all(isinstance(apply_fact(state, fact), SessionState) for fact in any_facts)
