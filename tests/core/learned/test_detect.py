"""Observations of habits in events."""

from __future__ import annotations

from dataclasses import replace

import pytest

from upbeat.core.contract.event import (
    Call,
    ClientName,
    Event,
    EventSource,
    PromptSubmitted,
    SubagentReturned,
    ToolFinished,
    ToolKind,
)
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


def failing(tool: str, kind: ToolKind, error: str) -> ToolFinished:
    return ToolFinished(SOURCE, Call("c1", tool, {"file_path": "/home/dev/key"}, kind), error, has_failed=True)


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
    (failing("Edit", ToolKind.EDIT, "Something went wrong."), (), NEW_SESSION),
    (replace(failing("Edit", ToolKind.EDIT, "not found"), was_interrupted=True), (), NEW_SESSION),
    (replace(failing("Read", ToolKind.READ, "not found"), has_failed=False), (), NEW_SESSION),
    (SubagentReturned(SOURCE, Call("c1", "Agent", {}), message="not found"), (), NEW_SESSION),
    (PROMPT, (StepFinished("TEST", StepVerdict.UNCLEAR),), state(calls=TESTER)),
    (PROMPT, (StepFinished("TEST", StepVerdict.PASS),), state()),
    (PROMPT, (StepFinished("QA", StepVerdict.PASS),), state(calls=TESTER)),
    (PROMPT, (StepFinished("TEST", StepVerdict.PASS),), NEW_SESSION),
    (PromptSubmitted(SOURCE, "how is the weather"), (WorkflowStarted(RUN, 0.0),), NEW_SESSION),
]

SEARCHING = HabitObservation(HabitType.TOOL_PREFERENCES, "", "ask ci_search first", "search")
TOOLS = HabitObservation(HabitType.ERROR_RESOLUTIONS, "", "", "tools")
REPAIRING = HabitObservation(HabitType.ERROR_RESOLUTIONS, "pytest fails", "", "tests")
DELEGATING = HabitObservation(HabitType.AGENT_PERFORMANCE, "", "", "agents")
ROUTING = HabitObservation(HabitType.WORKFLOW_ROUTING, "intent debug", "workflow quick", "workflow")


def passing(step: str, verdict: StepVerdict, trigger: str, action: str) -> tuple[object, ...]:
    """Return a case of a step that a subagent finished."""
    observation = replace(DELEGATING, trigger=trigger, action=action)
    return PROMPT, (StepFinished(step, verdict),), state(calls=TESTER), observation


OBSERVED = [
    (shell("rg -n 'retry' src | head"), (), NEW_SESSION, replace(SEARCHING, trigger="searches with rg")),
    (shell("/usr/bin/grep -rn token=abc ."), (), NEW_SESSION, replace(SEARCHING, trigger="searches with grep")),
    (
        shell("uv run pytest"),
        (CommandRan(ran("cd /home/ann && API_KEY=x uv run pytest tests/a.py", 0)),),
        state(ran("pytest -q --token=abc", 1)),
        replace(REPAIRING, action="run uv run pytest"),
    ),
    (
        shell("pytest"),
        (CommandRan(ran("pytest", 0)),),
        state(ran("pytest", 1), replace(ran("pytest | tail", None), is_hidden=True)),
        replace(REPAIRING, action="change the code and run it again"),
    ),
    (
        shell("npm test"),
        (CommandRan(ran("cd web && npm test", 0)),),
        state(ran("npm test", 1)),
        replace(REPAIRING, trigger="npm test fails", action="change the code and run it again"),
    ),
    (PROMPT, (WorkflowStarted(RUN, 0.0),), NEW_SESSION, ROUTING),
    (
        failing("Edit", ToolKind.EDIT, "File has been modified since read: /home/dev/key"),
        (),
        NEW_SESSION,
        replace(TOOLS, trigger="Edit fails: changed", action="the file changed since it was last read"),
    ),
    (
        failing("mcp__db__query", ToolKind.OTHER, "MCP error -32001: Request timed out: /home/dev/key"),
        (),
        NEW_SESSION,
        replace(
            TOOLS,
            trigger="mcp__db__query fails: timeout",
            action="it took too long. Ask for less at a time, then repeat it once.",
        ),
    ),
    (
        SubagentReturned(SOURCE, Call("c1", "Agent", {}), has_failed=True, error="thread limit reached"),
        (),
        NEW_SESSION,
        replace(
            TOOLS,
            trigger="Agent fails: limit",
            action="too many agents are open. Wait for one, close finished ones, or continue with one of them; "
            "until then the same call fails again.",
        ),
    ),
    passing("TEST", StepVerdict.PASS, "tester does TEST", "passes at once"),
    passing("DEV", StepVerdict.PASS, "developer does DEV", "passes in the end"),
    passing("TEST", StepVerdict.FAIL, "tester does TEST", "ends badly"),
]


@pytest.mark.parametrize(("event", "facts", "before"), WITHOUT)
def test_no_observation(event: Event, facts: tuple[Fact, ...], before: SessionState) -> None:
    """Ordinary events and facts are no observations."""
    assert () == detect_habits(event, facts, before)


@pytest.mark.parametrize(("event", "facts", "before", "expected"), OBSERVED)
def test_observation(event: Event, facts: tuple[Fact, ...], before: SessionState, expected: HabitObservation) -> None:
    """An observation has programs but no paths, values or secrets."""
    assert (expected,) == detect_habits(event, facts, before)
