"""Which sub-tasks of a split step can start, and what the others wait for."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_json_groups

from upbeat.core.workflow.state import (
    StepVerdict,
    SubagentCall,
    SubtaskResult,
    WorkflowRun,
    WorkflowStep,
)
from upbeat.core.workflow.subtasks import plan_subtasks
from upbeat.core.workflow.tasks import TasksFile

CASES = read_json_groups(Path(__file__).with_name("subtask_cases.jsonl"))
STEP = WorkflowStep("DEV", "DEV", 0)
TASKS = """## Dev Phases
### Phase 1: base (sequential)
- [x] models | files: src/models.py
- [ ] routes | files: src/routes.py
### Phase 2: core (parallel)
- [ ] handlers | files: src/handlers.py
- [ ] auth | files: src/auth/
"""


def shown(text: str, run: WorkflowRun, step: WorkflowStep = STEP) -> list[str]:
    """The plan, one line a sub-task: ``1.2 waiting phase 1``."""
    plan = plan_subtasks(TasksFile.parse(text), run, step, 3)
    return [" ".join((subtask.id, subtask.status, *subtask.waits_for)) for subtask in plan]


@pytest.mark.parametrize(("lines", "expected"), CASES["plan"])
def test_plan(lines: list[str], expected: list[str]) -> None:
    """A phase waits for those it depends on, a sequential sub-task for the one before, and shared files for another."""
    assert expected == shown("\n".join(["## Dev Phases", *lines]), WorkflowRun("r", "standard", (STEP,)))


def test_running_and_failed() -> None:
    """A sub-task with a call is running, and one with three failed attempts is failed."""
    calls = (SubagentCall("c", "DEV", "upbeat:developer", subtask="routes"),)
    failed = SubtaskResult("DEV", "auth", StepVerdict.FAIL, attempts=3)
    others = SubtaskResult("TEST", "handlers", StepVerdict.FAIL, attempts=3)
    run = WorkflowRun("r", "standard", (STEP,), calls=calls, subtasks=(failed, others))

    assert ["1.1 done", "1.2 running", "2.1 waiting phase 1", "2.2 failed"] == shown(TASKS, run)


def test_no_plan() -> None:
    """Without a file, without phases and for a repair there are no sub-tasks."""
    run = WorkflowRun("r", "standard", (STEP,))
    repair = WorkflowStep("DEV#1", "DEV", 1, repair_of=("REVIEW",))

    assert [] == shown("- [ ] a\n", run) == shown(TASKS, run, repair)
    assert () == plan_subtasks(None, run, STEP, 3)
