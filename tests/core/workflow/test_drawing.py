"""The steps of a workflow as rows: brackets for parallel groups, a mark and a word for each state."""

from __future__ import annotations

import pytest

from upbeat.core.messages import layout
from upbeat.core.messages.layout import Mark, Screen, to_text
from upbeat.core.workflow.drawing import DrawnStep, draw_run, draw_steps, step_state
from upbeat.core.workflow.state import StepAuthor, StepStatus, StepVerdict, WorkflowRun, WorkflowStep

DONE, ACTIVE = StepStatus.DONE, StepStatus.ACTIVE


def test_groups_are_bracketed() -> None:
    """Steps of one group stand in a bracket; a group of one does not."""
    steps = [DrawnStep(group, layout.QUIET, (name, "")) for name, group in zip("ABCDE", (0, 1, 1, 1, 2), strict=True)]

    assert "  · A\n┌ · B\n│ · C\n└ · D\n  · E" == to_text(draw_steps(steps, Screen()))


@pytest.mark.parametrize(
    ("step", "is_next", "mark", "word"),
    [
        (WorkflowStep("A", "A", 0), False, layout.QUIET, "to do"),
        (WorkflowStep("A", "A", 0), True, layout.CURRENT, "next"),
        (WorkflowStep("A", "A", 0, status=ACTIVE), True, layout.CURRENT, "working"),
        (WorkflowStep("A", "A", 0, attempts=1, verdict=StepVerdict.FAIL), True, layout.ATTENTION, "to be retried"),
        (WorkflowStep("A", "A", 0, status=DONE, verdict=StepVerdict.PASS), False, layout.GOOD, "passed"),
        (WorkflowStep("A", "A", 0, status=DONE, verdict=StepVerdict.REJECT), False, layout.BAD, "rejected"),
        (WorkflowStep("A", "A", 0, status=DONE, verdict=StepVerdict.UNCLEAR), False, layout.ATTENTION, "unclear"),
    ],
)
def test_the_state_of_a_step(step: WorkflowStep, is_next: bool, mark: Mark, word: str) -> None:
    """Every state has a mark and a word."""
    assert (mark, word) == step_state(step, is_next, "en")


def test_a_run() -> None:
    """A run shows tries, who reported a result, what is repaired and why a step failed."""
    steps = (
        WorkflowStep("DEV", "DEV", 0, "", DONE, StepVerdict.PASS, 1, author=StepAuthor.MAIN),
        WorkflowStep("DEV#1", "DEV", 1, repair_of=("TEST",)),
        WorkflowStep("TEST", "TEST", 2, "verify", attempts=2, verdict=StepVerdict.FAIL, failure_notes="off\nby one"),
    )

    assert (
        "  ✓ DEV            passed         1 try    reported by the main agent itself\n"
        "  ▸ DEV#1          next                    repairs TEST\n"
        "  ! TEST (verify)  to be retried  2 tries  off by one"
    ) == to_text(draw_run(WorkflowRun("r", "w", steps), Screen()))
