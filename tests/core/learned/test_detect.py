"""Observations of habits in events."""

from __future__ import annotations

from dataclasses import replace

import pytest

from upbeat.core.contract.event import Call, ClientName, Event, EventSource, PromptSubmitted, ToolFinished
from upbeat.core.learned.detect import detect_habits
from upbeat.core.learned.model import HabitObservation, HabitType
from upbeat.core.workflow.facts import CommandRan, Fact, StepFinished, ToolUsed, WorkflowStarted
from upbeat.core.workflow.state import (
    NEW_SESSION,
    Evidence,
    SessionState,
    StepVerdict,
    SubagentCall,
    WorkflowRun,
    WorkflowStep,
)

SOURCE = EventSource(ClientName.CLAUDE_CODE, "/home/dev/shop", "s1")
PROMPT = PromptSubmitted(SOURCE, "fix the crash in cart.py")
RUN = WorkflowRun("r1", "quick", (WorkflowStep("TEST", "TEST", 0), WorkflowStep("DEV", "DEV", 1, attempts=1)))


def shell(command: str) -> ToolFinished:
    return ToolFinished(SOURCE, Call("c1", "Bash", {}), command=command)


def ran(command: str, exit_code: int | None) -> Evidence:
    return Evidence("tests", command, "t", exit_code)


def state(*evidence: Evidence, calls: tuple[SubagentCall, ...] = ()) -> SessionState:
    return SessionState(run=WorkflowRun("r1", "quick", RUN.steps, calls=calls), evidence=evidence)


TESTER = (SubagentCall("c1", "TEST", "tester"), SubagentCall("c2", "DEV", "developer"))

WITHOUT: list[tuple[Event, tuple[Fact, ...], SessionState]] = [
    (PROMPT, (), NEW_SESSION),
    (PROMPT, (ToolUsed(),), NEW_SESSION),
    (shell("ls -la"), (), NEW_SESSION),
    (shell("git log --grep fix"), (), NEW_SESSION),
    (shell("echo grep"), (), NEW_SESSION),
    (shell("pytest | grep failed"), (), NEW_SESSION),
    (shell("pytest"), (CommandRan(ran("pytest", 0)),), NEW_SESSION),
    (shell("pytest"), (CommandRan(ran("pytest", 1)),), state(ran("pytest", 0))),
    (shell("pytest"), (CommandRan(ran("pytest", 0)),), state(ran("pytest", 0))),
    (shell("pytest"), (CommandRan(ran("pytest", None)),), state(ran("pytest", 1))),
    (shell("pytest"), (CommandRan(ran("pytest", 0)),), state(Evidence("lint", "ruff check", "t", 1))),
    (PROMPT, (StepFinished("TEST", StepVerdict.UNCLEAR),), state(calls=TESTER)),
    (PROMPT, (StepFinished("TEST", StepVerdict.PASS),), state()),
    (PROMPT, (StepFinished("QA", StepVerdict.PASS),), state(calls=TESTER)),
    (PROMPT, (StepFinished("TEST", StepVerdict.PASS),), NEW_SESSION),
    (PromptSubmitted(SOURCE, "how is the weather"), (WorkflowStarted(RUN, 0.0),), NEW_SESSION),
]

OBSERVED: list[tuple[Event, tuple[Fact, ...], SessionState, HabitObservation]] = [
    (
        shell("rg -n 'retry' src | head"),
        (),
        NEW_SESSION,
        HabitObservation(HabitType.TOOL_PREFERENCES, "searches with rg", "ask ci_search first", "search"),
    ),
    (
        shell("/usr/bin/grep -rn token=abc ."),
        (),
        NEW_SESSION,
        HabitObservation(HabitType.TOOL_PREFERENCES, "searches with grep", "ask ci_search first", "search"),
    ),
    (
        shell("uv run pytest"),
        (CommandRan(ran("cd /home/ann && API_KEY=x uv run pytest tests/a.py", 0)),),
        state(ran("pytest -q --token=abc", 1)),
        HabitObservation(HabitType.ERROR_RESOLUTIONS, "pytest fails", "run uv run pytest", "tests"),
    ),
    (
        shell("pytest"),
        (CommandRan(ran("pytest", 0)),),
        state(ran("pytest", 1), replace(ran("pytest | tail", None), is_hidden=True)),
        HabitObservation(HabitType.ERROR_RESOLUTIONS, "pytest fails", "change the code and run it again", "tests"),
    ),
    (
        PROMPT,
        (WorkflowStarted(RUN, 0.0),),
        NEW_SESSION,
        HabitObservation(HabitType.WORKFLOW_ROUTING, "intent debug", "workflow quick", "workflow"),
    ),
    (
        PROMPT,
        (StepFinished("TEST", StepVerdict.PASS),),
        state(calls=TESTER),
        HabitObservation(HabitType.AGENT_PERFORMANCE, "tester does TEST", "passes at once", "agents"),
    ),
    (
        PROMPT,
        (StepFinished("DEV", StepVerdict.PASS),),
        state(calls=TESTER),
        HabitObservation(HabitType.AGENT_PERFORMANCE, "developer does DEV", "passes in the end", "agents"),
    ),
    (
        PROMPT,
        (StepFinished("TEST", StepVerdict.FAIL),),
        state(calls=TESTER),
        HabitObservation(HabitType.AGENT_PERFORMANCE, "tester does TEST", "ends badly", "agents"),
    ),
]


@pytest.mark.parametrize(("event", "facts", "before"), WITHOUT)
def test_no_observation(event: Event, facts: tuple[Fact, ...], before: SessionState) -> None:
    """Ordinary events and facts are no observations."""
    assert () == detect_habits(event, facts, before)


@pytest.mark.parametrize(("event", "facts", "before", "expected"), OBSERVED)
def test_observation(event: Event, facts: tuple[Fact, ...], before: SessionState, expected: HabitObservation) -> None:
    """An observation has programs but no paths, values or secrets."""
    assert (expected,) == detect_habits(event, facts, before)
