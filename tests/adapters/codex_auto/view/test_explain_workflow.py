"""The workflow as a user sees it: how far it is, what is at work, and why it stands still."""

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


def test_it_tells_what_is_at_work_and_what_comes_next() -> None:
    """One line each, and the boxes of the feature."""
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
def test_every_way_to_stand_still_is_told(texts: Texts) -> None:
    """No end is without its sentence, and no blank is left."""
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
        (apply_facts([WorkflowEnded(RunStatus.COMPLETE)], started("single").state), ""),
        (replace(NEW_SESSION, run=replace(started("single").run, steps=())), ""),
    ],
    ids=["none", "running", "over", "done"],
)
def test_the_line_below_the_prompt_has_the_steps(state: SessionState, shown: str) -> None:
    """While a workflow runs; otherwise a dash."""
    assert shown == stage_label(state)


def test_workflows_are_listed_in_both_languages() -> None:
    """With the sentence of their own language."""
    english, chinese = dict(workflow_descriptions(registry(), "en")), dict(workflow_descriptions(registry(), "zh"))

    assert english.keys() == chinese.keys() == registry().workflows.keys()
    assert english["single"] != chinese["single"]
