"""What an event shows that is worth remembering, and what does not."""

from __future__ import annotations

import pytest

from upbeat.core.contract.event import Call, ClientName, Event, PromptSubmitted, Source, ToolFinished
from upbeat.core.observations import ObservationType, Sighting
from upbeat.core.sightings import observations_of
from upbeat.core.workflow.facts import CommandRan, Fact, StepFinished, Worked, WorkflowStarted
from upbeat.core.workflow.state import NEW, Assignment, Evidence, Run, SessionState, Step
from upbeat.core.workflow.verdict import Verdict

SOURCE = Source(ClientName.CLAUDE_CODE, "/home/dev/shop", "s1")
PROMPT = PromptSubmitted(SOURCE, "fix the crash in cart.py")
RUN = Run("r1", "quick", (Step("TEST", "TEST", 0), Step("DEV", "DEV", 1, tries=1)))


def shell(command: str) -> ToolFinished:
    return ToolFinished(SOURCE, Call("c1", "Bash", {}), command=command)


def ran(command: str, exit_code: int | None) -> Evidence:
    return Evidence("tests", command, "t", exit_code)


def state(*evidence: Evidence, calls: tuple[Assignment, ...] = ()) -> SessionState:
    return SessionState(run=Run("r1", "quick", RUN.steps, calls=calls), evidence=evidence)


TESTER = (Assignment("c1", "TEST", "tester"), Assignment("c2", "DEV", "developer"))

NOTHING: list[tuple[Event, tuple[Fact, ...], SessionState]] = [
    (PROMPT, (), NEW),
    (PROMPT, (Worked(),), NEW),
    (shell("ls -la"), (), NEW),
    (shell("git log --grep fix"), (), NEW),
    (shell("echo grep"), (), NEW),
    (shell("pytest | grep failed"), (), NEW),
    (shell("pytest"), (CommandRan(ran("pytest", 0)),), NEW),
    (shell("pytest"), (CommandRan(ran("pytest", 1)),), state(ran("pytest", 0))),
    (shell("pytest"), (CommandRan(ran("pytest", 0)),), state(ran("pytest", 0))),
    (shell("pytest"), (CommandRan(ran("pytest", None)),), state(ran("pytest", 1))),
    (shell("pytest"), (CommandRan(ran("pytest", 0)),), state(Evidence("lint", "ruff check", "t", 1))),
    (PROMPT, (StepFinished("TEST", Verdict.UNCLEAR),), state(calls=TESTER)),
    (PROMPT, (StepFinished("TEST", Verdict.PASS),), state()),
    (PROMPT, (StepFinished("QA", Verdict.PASS),), state(calls=TESTER)),
    (PROMPT, (StepFinished("TEST", Verdict.PASS),), NEW),
    (PromptSubmitted(SOURCE, "how is the weather"), (WorkflowStarted(RUN, 0.0),), NEW),
]

SOMETHING: list[tuple[Event, tuple[Fact, ...], SessionState, Sighting]] = [
    (
        shell("rg -n 'retry' src | head"),
        (),
        NEW,
        Sighting(ObservationType.TOOL_PREFERENCES, "searches with rg", "ask ci_search first", "search"),
    ),
    (
        shell("/usr/bin/grep -rn token=abc ."),
        (),
        NEW,
        Sighting(ObservationType.TOOL_PREFERENCES, "searches with grep", "ask ci_search first", "search"),
    ),
    (
        shell("uv run pytest"),
        (CommandRan(ran("cd /home/ann && API_KEY=x uv run pytest tests/a.py", 0)),),
        state(ran("pytest -q --token=abc", 1)),
        Sighting(ObservationType.ERROR_RESOLUTIONS, "pytest fails", "run uv run pytest", "tests"),
    ),
    (
        shell("pytest"),
        (CommandRan(ran("pytest", 0)),),
        state(ran("pytest", 1)),
        Sighting(ObservationType.ERROR_RESOLUTIONS, "pytest fails", "change the code and run it again", "tests"),
    ),
    (
        PROMPT,
        (WorkflowStarted(RUN, 0.0),),
        NEW,
        Sighting(ObservationType.WORKFLOW_ROUTING, "intent debug", "workflow quick", "workflow"),
    ),
    (
        PROMPT,
        (StepFinished("TEST", Verdict.PASS),),
        state(calls=TESTER),
        Sighting(ObservationType.AGENT_PERFORMANCE, "tester does TEST", "passes at once", "agents"),
    ),
    (
        PROMPT,
        (StepFinished("DEV", Verdict.PASS),),
        state(calls=TESTER),
        Sighting(ObservationType.AGENT_PERFORMANCE, "developer does DEV", "passes in the end", "agents"),
    ),
    (
        PROMPT,
        (StepFinished("TEST", Verdict.FAIL),),
        state(calls=TESTER),
        Sighting(ObservationType.AGENT_PERFORMANCE, "tester does TEST", "ends badly", "agents"),
    ),
]


@pytest.mark.parametrize(("event", "facts", "before"), NOTHING)
def test_says_nothing(event: Event, facts: tuple[Fact, ...], before: SessionState) -> None:
    """What teaches nothing is not a sighting."""
    assert () == observations_of(event, facts, before)


@pytest.mark.parametrize(("event", "facts", "before", "sighting"), SOMETHING)
def test_sees(event: Event, facts: tuple[Fact, ...], before: SessionState, sighting: Sighting) -> None:
    """What teaches something is one sighting, with programs and no paths, values or secrets in it."""
    assert (sighting,) == observations_of(event, facts, before)
