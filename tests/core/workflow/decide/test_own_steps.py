"""What the main agent may say of itself."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given
from workflow_play import FAIL, Play, registry, started, with_own

from upbeat.core.contract.client import UNKNOWN_CLIENT
from upbeat.core.workflow.decision import LoopLimits
from upbeat.core.workflow.registry import SPEC_MODE
from upbeat.core.workflow.state import RunStatus, StepAuthor, StepStatus

ENDLESS = LoopLimits(max_turns=10**6, max_turns_without_progress=10**6)
NEEDING_AGENTS = sorted(
    workflow.name
    for workflow in registry().workflows.values()
    if any(registry().stages[key.partition(":")[0]].needs_agent for key in workflow.step_keys)
)
SECURE = ("PLAN", "ARCH", "TEST", "DEV", "REVIEW", "TEST:2", "SECURITY", "RETRO", "DOCS")


def claim(*steps: str, result: str = "PASS") -> str:
    """A message that claims each of ``steps``."""
    return "\n".join(f'<!-- VERDICT: {{"stage": "{step}", "result": "{result}"}} -->' for step in steps)


def test_one_message_counts_for_one_step() -> None:
    """Nine markers in one message pass the first step; the answer says which one counted and which never will."""
    play = started("secure")
    play.ends(claim(*SECURE))

    assert "PLAN=pass ARCH TEST DEV REVIEW TEST:2 SECURITY RETRO DOCS" == play.shown
    assert "Only your verdict on PLAN counts: one step per turn. Ignored: ARCH, TEST, DEV, DOCS." in play.continuation
    assert "REVIEW, TEST:2, SECURITY, RETRO: only a subagent's verdict counts, not your own." in play.continuation


def test_a_step_that_needs_an_agent_cannot_be_claimed() -> None:
    """A review by the main agent is no review, and is no attempt at one."""
    play = started("review-only")
    play.ends(claim("REVIEW"))

    assert ("REVIEW", 0, RunStatus.RUNNING) == (play.shown, play.run.steps[0].attempts, play.run.status)
    assert "REVIEW: only a subagent's verdict counts" in play.continuation
    play.ends(claim("REVIEW", result="REJECT"))
    assert "REVIEW" == play.shown


def test_a_specification_may_be_claimed() -> None:
    """TEST before the code is no second look at anything."""
    play = started("tdd")
    play.ends(claim("TEST"))
    play.ends(claim("DEV"))
    play.runs("pytest")
    play.ends(claim("TEST"))

    assert "TEST=pass DEV=pass TEST:2" == play.shown


def test_without_subagents_every_step_may_be_claimed() -> None:
    """A client that has none can still finish, one step a turn; the end says what was only claimed."""
    play = started("quick", traits=UNKNOWN_CLIENT)
    play.ends(claim("DEV", "REVIEW", "TEST", "RETRO"))
    first = play.shown
    play.runs("pytest")
    play.ends(claim("REVIEW"))
    play.ends(claim("TEST"))
    play.ends(claim("RETRO"))

    assert "DEV=pass REVIEW TEST RETRO" == first
    assert RunStatus.COMPLETE is play.run.status
    assert "Self-declared: DEV, REVIEW, TEST, RETRO." in play.notified


def test_the_end_names_only_what_was_claimed() -> None:
    """Steps that agents have done are not self-declared."""
    play = started("debug")
    play.ends(claim("DEBUG"))
    play.does("developer")
    play.tests()
    play.ends()

    assert "Self-declared: DEBUG." in play.notified
    assert [StepAuthor.MAIN, StepAuthor.AGENT, StepAuthor.AGENT] == [step.author for step in play.run.steps]


def test_a_claimed_pass_needs_evidence() -> None:
    """A marker that names a current step is its verdict; a pass of the tests counts once they ran."""
    play = started("tdd", traits=UNKNOWN_CLIENT)
    play.ends(claim("TEST"))
    play.ends(claim("DEV"))
    play.ends(claim("TEST:2"))
    unproven = play.shown
    play.runs("pytest")
    play.ends(claim("TEST:2"))

    assert "TEST=pass DEV=pass TEST:2=unclear" == unproven
    assert RunStatus.COMPLETE is play.run.status


def test_a_verdict_may_name_the_stage() -> None:
    """A marker with the stage's name counts for its only current step, such as a repair."""
    play = started("debug")
    play.does("debugger")
    play.does("developer")
    play.tests(FAIL, exit_code=1)
    play.ends("It was the lock.\n" + claim("DEBUG"))

    assert "DEBUG=pass DEV=pass DEBUG#1=pass DEV#1 TEST=fail" == play.shown


def test_a_verdict_for_an_unknown_step_is_answered() -> None:
    """The agent learns that the workflow has no such step, and which steps are current."""
    play = started("debug")
    play.ends(claim("QA"))

    assert "There is no step QA in this workflow" in play.continuation
    assert "The current steps: DEBUG." in play.continuation


def test_steps_that_cannot_be_claimed() -> None:
    """A marker does not count for a later step, nor for one that a subagent is working on."""
    play = started("debug")
    play.ends(claim("DEV"))
    early = play.continuation
    play.delegate("debugger")
    play.started("debugger", "r")
    play.ends(claim("DEBUG"), background_task_count=1)

    assert "Your verdict on DEV does not count yet." in early
    assert "DEBUG DEV TEST" == play.shown


def test_a_stage_of_the_users_may_need_an_agent() -> None:
    """It is a property of the stage, in any workflow file."""
    own = with_own('[workflows.ship]\nstages = ["AUDIT"]\n[stages.AUDIT]\nagent = "qa"\nneeds_agent = true\n')
    play = started("ship", known=own)
    play.ends(claim("AUDIT"))

    assert "AUDIT" == play.shown


@given(
    workflow=st.sampled_from(NEEDING_AGENTS),
    messages=st.lists(
        st.lists(st.sampled_from([*SECURE, "QA", "E2E", "DB-REVIEW", "DEBUG", "DEV#1", "PM", "DESIGN"]), max_size=12),
        max_size=12,
    ),
    result=st.sampled_from(["PASS", "PASS", "FAIL", "OK"]),
    talks=st.booleans(),
)
def test_no_messages_complete_a_workflow_that_needs_agents(
    workflow: str, messages: list[list[str]], result: str, talks: bool
) -> None:
    """Whatever is claimed, in whichever order, and whatever runs: without agents no such step ends, and no run."""
    play = started(workflow, limits=ENDLESS)
    for steps in messages:
        before = sum(step.status is StepStatus.DONE for step in play.run.steps)
        play.runs("pytest -q")
        play.ends(claim(*steps, result=result))
        assert sum(step.status is StepStatus.DONE for step in play.run.steps) <= before + 1
        if talks:
            play.prompt("continue")
    assert play.run.status is not RunStatus.COMPLETE
    for step in play.run.steps:
        is_second_look = play.known.stages[step.stage].needs_agent and step.mode != SPEC_MODE
        assert not (is_second_look and step.status is StepStatus.DONE)


def test_claims_without_a_run() -> None:
    """Without a workflow, a marker is only text."""
    play = Play()
    play.ends(claim("DEV"))

    assert () == play.last.facts
