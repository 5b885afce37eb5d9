"""The prompts that tell a model the state of the workflow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from workflow_play import Play

from upbeat.core.workflow import prompts
from upbeat.core.workflow.registry import Stage
from upbeat.core.workflow.state import (
    NEW_SESSION,
    RunStatus,
    SessionState,
    StepStatus,
    StepVerdict,
    WorkflowRun,
    WorkflowStep,
)

RUN = WorkflowRun(
    "r",
    "standard",
    (
        WorkflowStep("PLAN", "PLAN", 0, status=StepStatus.DONE, verdict=StepVerdict.PASS),
        WorkflowStep("DEV", "DEV", 1, status=StepStatus.ACTIVE),
        WorkflowStep("REVIEW", "REVIEW", 2),
        WorkflowStep("TEST:2", "TEST", 2, verdict=StepVerdict.UNCLEAR),
    ),
)


def test_progress() -> None:
    """Steps have marks for verdicts and work, and parallel steps are in brackets."""
    assert "PLAN ✓ → DEV … → [REVIEW, TEST:2 ?]" == prompts.format_progress(RUN)
    assert "DEV, REVIEW, TEST:2" == prompts.format_unfinished_steps(RUN)


@pytest.mark.parametrize(
    ("code", "language", "text"),
    [
        ("no_progress", "en", "no progress in 3 turns"),
        ("turns", "en", "turn limit reached"),
        ("magic", "en", "magic"),
    ],
)
def test_end_reasons(code: str, language: str, text: str) -> None:
    """A known code is described, and an unknown one is returned unchanged."""
    assert text == prompts.describe_end_reason(code, 3, language)


def test_every_stage_may_fail() -> None:
    """The options are the verdicts of the stage and FAIL, each once."""
    assert ("PASS", "REJECT", "FAIL") == prompts.verdict_options(
        Stage("R", "r", (StepVerdict.PASS, StepVerdict.REJECT))
    )
    assert ("PASS", "FAIL") == prompts.verdict_options(Stage("T", "t", (StepVerdict.PASS, StepVerdict.FAIL)))


def test_the_turn_prompt_needs_an_open_workflow() -> None:
    """Only a run that is running or waits for the user has a turn prompt."""
    inputs = Play().inputs()
    states = [SessionState(run=replace(RUN, status=status)) for status in RunStatus]

    assert "" == prompts.render_turn_prompt(NEW_SESSION, inputs)
    assert [RunStatus.RUNNING, RunStatus.NEEDS_HUMAN] == [
        state.run.status for state in states if state.run and prompts.render_turn_prompt(state, inputs)
    ]


def test_prompts_are_bounded() -> None:
    """However long the goal, the notes, the handoffs and the tasks are, each prompt keeps its limit."""
    long = "word " * 2000
    steps = tuple(replace(step, failure_notes=long, handoff=long, attempts=2) for step in RUN.steps)
    run = replace(RUN, steps=steps, goal=long)
    state, tasks = SessionState(run=run), "".join(f"- [ ] {number} {long}\n" for number in range(30))
    inputs = Play(tasks=tasks).inputs()

    assert prompts.MAX_TURN_PROMPT_CHARS >= len(prompts.render_turn_prompt(state, inputs))
    assert prompts.MAX_RESUME_PROMPT_CHARS >= len(prompts.render_resume_prompt(state, inputs))
    assert prompts.MAX_RESUME_PROMPT_CHARS >= len(prompts.render_continuation_prompt(run, state, inputs))
    assert prompts.MAX_STEP_PROMPT_CHARS >= len(prompts.render_step_prompt(run, steps[-1], "call-1", inputs))


def test_a_step_prompt_ends_with_the_verdict() -> None:
    """The last line asks for the verdict of the call, and a failed attempt is explained before."""
    step = replace(RUN.steps[2], attempts=1, failure_notes="The error is swallowed.")
    lines = prompts.render_step_prompt(RUN, step, "call-1", Play().inputs()).splitlines()

    assert '"call": "call-1"' in lines[-1]
    assert "- REVIEW: The error is swallowed." in lines


def test_open_tasks_are_listed_without_a_workflow() -> None:
    """Without a run, the resume prompt has the open boxes."""
    inputs = Play(tasks="- [x] a\n- [ ] b\n").inputs()

    assert "Open in tasks.md (1/2 done):\n- [ ] b" == prompts.render_resume_prompt(NEW_SESSION, inputs)
