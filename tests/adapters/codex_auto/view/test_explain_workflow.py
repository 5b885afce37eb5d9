"""The workflow for the user: its progress, its running steps, and why it is paused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.codex.conversation import CHINESE, ENGLISH
from workflow_play import Play, registry

from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view.explain import describe_workflow, stage_label, workflow_descriptions
from upbeat.core.workflow.facts import LoopEnded, WorkflowEnded, apply_facts
from upbeat.core.workflow.state import NEW_SESSION, RunStatus, SessionState
from upbeat.core.workflow.tasks import TasksFile


def started(workflow: str) -> Play:
    play = Play()
    play.prompt(f"/upbeat:{workflow} add  retries")
    return play


def lines(state: SessionState, texts: Texts = ENGLISH, tasks: TasksFile | None = None) -> list[str]:
    return list(describe_workflow(state, tasks, texts, "zh" if texts is CHINESE else "en"))


def test_running_and_next_steps_are_shown() -> None:
    """The goal, the running and the next steps and the tasks take a line each."""
    play = started("quick")
    play.does("developer")
    play.delegate("tester")
    tasks = TasksFile.parse("- [x] one\n- [ ] two\n")

    assert [
        "quick: DEV ✓ → [REVIEW, TEST …] → RETRO",
        "goal       add retries",
        "running    TEST",
        "next       REVIEW",
        "tasks      1 of 2 done",
        ENGLISH["workflow_usage"],
    ] == lines(play.state, tasks=tasks)


@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_every_end_has_a_sentence(texts: Texts) -> None:
    """Each end and pause has a sentence without an unfilled placeholder."""
    state = started("single").state
    ended = [
        apply_facts([WorkflowEnded(status, "DEV")], state) for status in RunStatus if status is not RunStatus.RUNNING
    ]
    printed = [line for one in (*ended, apply_facts([LoopEnded("no_progress")], state)) for line in lines(one, texts)]

    assert len(ended) + 1 == len([line for line in printed if line.startswith(texts["workflow_ended"].split("{")[0])])
    assert "{" not in "".join(printed)


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (NEW_SESSION, ""),
        (started("secure").state, "PLAN"),
        (apply_facts([LoopEnded("turns")], started("secure").state), "PLAN (needs you)"),
        (apply_facts([WorkflowEnded(RunStatus.NEEDS_HUMAN, "TEST")], started("tdd").state), "TEST (needs you)"),
        (apply_facts([WorkflowEnded(RunStatus.COMPLETE)], started("single").state), ""),
        (replace(NEW_SESSION, run=replace(started("single").run, steps=())), ""),
    ],
    ids=["none", "running", "capped", "failed", "over", "done"],
)
def test_the_status_line_has_the_steps(state: SessionState, shown: str) -> None:
    """Steps are shown only while a workflow runs or waits for the user."""
    assert shown == stage_label(state, ENGLISH)


def test_workflows_are_listed_in_both_languages() -> None:
    """Each workflow is described in the language of the user."""
    english, chinese = dict(workflow_descriptions(registry(), "en")), dict(workflow_descriptions(registry(), "zh"))

    assert english.keys() == chinese.keys() == registry().workflows.keys()
    assert english["single"] != chinese["single"]
