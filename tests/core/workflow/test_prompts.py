"""The prompts that tell a model the state of the workflow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from workflow_play import PASS, REJECT, Play

from upbeat.core.contract.client import UNKNOWN_CLIENT
from upbeat.core.workflow import prompts
from upbeat.core.workflow.decision import StoreHandoff
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


LONG = "## Findings\n" + "\n".join(f"- finding {number} of the agent" for number in range(60))


def with_handoffs(**fields: object) -> Play:
    """A play of standard up to its review, every report longer than what is kept of it."""
    play = Play(handoff_folder="/state/handoffs", **fields)  # type: ignore[arg-type]
    play.prompt("[workflow:standard] add retries")
    for agent in ("planner", "architect", "tester", "developer"):
        play.does(agent, f"{agent} was here.\n{LONG}")
    return play


def test_a_step_prompt_has_the_goal_the_progress_and_every_handoff() -> None:
    """The last group's come first and longest; where one is cut, the file with the whole is named."""
    play = with_handoffs()
    play.delegate("code-reviewer")
    lines = play.prepended.splitlines()

    assert ["Goal: add retries", "Progress: 4/8 steps done."] == lines[1:3]
    assert f"Whole handoffs: /state/handoffs/{play.run.id}" in lines
    heads = [line for line in lines if line.startswith("From ")]
    steps = ("DEV", "PLAN", "ARCH", "TEST")
    assert [f"From {step} (cut, whole in {step}.md):" for step in steps] == heads
    assert lines[-2].startswith("End with a handoff:")


def test_every_report_is_stored() -> None:
    """The file has the whole message; reports of parallel calls of one step follow each other."""
    play = with_handoffs()
    stored = [action for action in play.workspace_actions if isinstance(action, StoreHandoff)]

    assert ["PLAN", "ARCH", "TEST", "DEV"] == [action.step_key for action in stored]
    assert all("finding 59" in action.text for action in stored)
    assert not any(action.is_more for action in stored)

    parallel = Play(handoff_folder="/state/handoffs")
    parallel.prompt("[workflow:single] add retries")
    calls = [parallel.delegate("developer") for _ in range(2)]
    for call in calls:
        parallel.returned(call, f"{call} is done.")
    assert [False, True] == [a.is_more for a in parallel.workspace_actions if isinstance(a, StoreHandoff)]


def test_the_handoffs_are_found_after_a_compaction() -> None:
    """The prompt that restores the state names their folder; without files there is none."""
    play = with_handoffs()
    play.begin("compact")

    assert f"Whole handoffs: /state/handoffs/{play.run.id}" in play.injected
    assert "Whole handoffs" not in prompts.render_resume_prompt(SessionState(run=RUN), Play().inputs())


def test_a_short_handoff_needs_no_file() -> None:
    """What is shown whole is not named."""
    play = Play(handoff_folder="/state/handoffs")
    play.prompt("[workflow:quick] add retries")
    play.does("developer", "It is written.")
    play.delegate("tester")

    assert "From DEV:\n> It is written." in play.prepended
    assert "Whole handoffs" not in play.prepended


def test_a_client_with_subagents_is_not_taught_to_report_itself() -> None:
    """The first prompt says how to delegate; the second continuation how to report a step that needs no agent."""
    play = Play()
    play.prompt("[workflow:quick] add retries")
    first = play.injected
    play.ends()
    told = play.continuation
    play.ends()
    again = play.continuation

    assert "Delegate with your subagent tool." in first
    assert [False, False, True] == ["VERDICT" in text for text in (first, told, again)]
    assert '"stage": "DEV"' in again


def test_a_stage_that_needs_an_agent_is_never_taught() -> None:
    """However long nothing happens, the main agent does not read how to claim a review."""
    play = Play()
    play.prompt("[workflow:review-only] look at it")
    texts = [play.injected]
    for _ in range(3):
        play.ends()
        texts.append(play.continuation)

    assert not any("VERDICT" in text for text in texts)


def test_a_client_without_subagents_learns_how_to_report() -> None:
    """There, the main agent does every step itself."""
    play = Play(traits=UNKNOWN_CLIENT)
    play.prompt("[workflow:review-only] look at it")

    assert '"stage": "REVIEW"' in play.injected
    assert "Delegate with" not in play.injected


def test_a_repair_gets_the_report_on_what_failed() -> None:
    """The reviewer's findings are in the prompt of the repair, and in that of the next review."""
    play = with_handoffs()
    play.does("code-reviewer", f"{LONG}\n{REJECT}")
    play.tests(f"All 12 pass.\n{PASS}")
    play.delegate("developer")
    repair = play.prepended
    play.returned("call-99", None)
    for call in play.run.calls:
        play.returned(call.call_id, "Repaired.", "d")
    play.delegate("code-reviewer")

    assert "From REVIEW (cut, whole in REVIEW.md):\n> ## Findings" in repair
    assert "From REVIEW (cut, whole in REVIEW.md):" in play.prepended
    assert "From DEV#1:\n> Repaired." in play.prepended
