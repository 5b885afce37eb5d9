"""The status line shows the workflow, and never fails."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.journal.codec import encode_state
from upbeat.core.workflow.state import (
    NEW_SESSION,
    LoopState,
    RunStatus,
    SessionState,
    StepStatus,
    StepVerdict,
    WorkflowRun,
    WorkflowStep,
)
from upbeat.core.workflow.statusline import format_status_line

DONE = {"status": StepStatus.DONE, "verdict": StepVerdict.PASS}
STEPS = (
    WorkflowStep("TEST", "TEST", 0, **DONE),
    WorkflowStep("DEV", "DEV", 1, **DONE),
    WorkflowStep("REVIEW", "REVIEW", 2),
    WorkflowStep("TEST:2", "TEST", 2),
    WorkflowStep("DOCS", "DOCS", 3),
)
RUN = WorkflowRun("r", "standard", STEPS)


def shown(state: SessionState, *rest: Any) -> str:
    """The line for ``state`` as the journal stores it."""
    return format_status_line(json.loads(encode_state(state)), *rest)


def at(key: str, **changes: Any) -> WorkflowRun:
    """The run with one step changed."""
    return replace(RUN, steps=tuple(replace(step, **changes) if step.key == key else step for step in STEPS))


def working(run: WorkflowRun = RUN, **loop: Any) -> SessionState:
    """A session with ``run``, whose loop has these fields."""
    return SessionState(run=run, loop=LoopState(**loop))


BEGIN = "upbeat · standard 2/5 ·"


@pytest.mark.parametrize(
    ("state", "used", "expected"),
    [
        (NEW_SESSION, None, "upbeat"),
        (NEW_SESSION, 41.6, "upbeat · context 42%"),
        (working(), None, f"{BEGIN} ○ REVIEW, TEST:2"),
        (working(at("REVIEW", status=StepStatus.ACTIVE), iterations=4), 3, f"{BEGIN} ● REVIEW · loop 4 · context 3%"),
        (working(at("DEV", verdict=StepVerdict.FAIL)), None, "upbeat · standard 1/5 · ○ REVIEW, TEST:2"),
        (working(iterations=4, is_paused=True), None, f"{BEGIN} ○ REVIEW, TEST:2 · paused"),
        (working(iterations=4, end_reason="no_progress"), None, f"{BEGIN} ○ REVIEW, TEST:2 · needs you (loop ended)"),
        (working(replace(RUN, status=RunStatus.COMPLETE)), None, f"{BEGIN} complete"),
        (
            working(replace(RUN, status=RunStatus.NEEDS_HUMAN, reason="REVIEW"), end_reason="needs_human"),
            5,
            f"{BEGIN} needs you: REVIEW · context 5%",
        ),
        (SessionState(run=WorkflowRun("r", "odd", ())), None, "upbeat"),
    ],
)
def test_line(state: SessionState, used: float | None, expected: str) -> None:
    """The line has the workflow, its progress, the current steps, the loop and the context usage, if known."""
    assert expected == shown(state, used)


def test_the_line_when_nothing_can_be_stored() -> None:
    """The line says that the state cannot be stored, because then the workflow does not go on."""
    stored = json.loads(encode_state(working()))

    assert f"{BEGIN} ○ REVIEW, TEST:2 · cannot store · context 7%" == format_status_line(stored, 7, can_store=False)


def test_the_line_in_chinese() -> None:
    """The line is in the language of the user."""
    assert f"{BEGIN} ○ REVIEW, TEST:2 · 循环 4 · 上下文 7%" == shown(working(iterations=4), 7, "zh")


@pytest.mark.parametrize("status", RunStatus)
def test_every_status_has_words(status: RunStatus) -> None:
    """Each status of a run has words in both languages."""
    both = {shown(SessionState(run=replace(RUN, status=status)), None, language) for language in ("en", "zh")}

    assert (1 if status is RunStatus.RUNNING else 2) == len(both)
    assert status is RunStatus.RUNNING or not any(status.value in text for text in both if "_" in status.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["run", "steps", "status", "loop"]), inner)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["run", "loop"]), JSON))
def test_any_stored_state(state: dict[str, Any]) -> None:
    """Malformed values are omitted."""
    assert format_status_line(state).startswith("upbeat")
    assert "\n" not in format_status_line({})


@pytest.mark.parametrize("loop", [LoopState(waits_for="turn_failed"), LoopState(has_asked_user=True, is_paused=True)])
def test_whose_turn_it_is(loop: LoopState) -> None:
    """A question to the user and a failed turn leave the next turn to the user."""
    assert shown(SessionState(run=RUN, loop=loop)).endswith("needs you")
