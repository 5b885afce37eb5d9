"""The handler of each event, and the inputs that it needs."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from workflow_play import Play

from upbeat.core.contract import event as events
from upbeat.core.workflow import decision
from upbeat.core.workflow.decide import table
from upbeat.core.workflow.decision import NO_DECISION
from upbeat.core.workflow.state import NEW_SESSION, SessionState

HERE = events.EventSource(events.ClientName.CLAUDE_CODE, "/repo", "s")
CALL = events.Call("c", "Bash", {})


def running() -> SessionState:
    """A session in which a workflow runs."""
    play = Play()
    play.begin()
    play.prompt("[workflow:standard] add retries")
    return play.state


def test_every_handled_event_is_an_event() -> None:
    """The table has only events of the contract."""
    assert set(table.EVENT_HANDLERS) <= set(get_args(events.Event))
    assert set(decision.EVENTS_OF_WORKFLOWS) <= set(table.EVENT_HANDLERS)


def test_an_event_without_a_handler_decides_nothing() -> None:
    """An event that the workflow does not handle has no decision."""
    assert events.UnknownEvent not in table.EVENT_HANDLERS
    assert NO_DECISION == table.decide(events.UnknownEvent(HERE, "Tea"), running(), Play().inputs())


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            events.SessionStarted(HERE, "startup"),
            {table.RequiredInput.TASKS, table.RequiredInput.PEER_SESSIONS, table.RequiredInput.FEATURES},
        ),
        (
            events.PromptSubmitted(HERE, "hi"),
            {
                *(table.RequiredInput.TOKENS, table.RequiredInput.PEER_SESSIONS),
                *(table.RequiredInput.FEATURES, table.RequiredInput.TASKS),
            },
        ),
        (
            events.ToolFinished(HERE, CALL, "", "pytest -q"),
            {table.RequiredInput.TREE_DIGEST, table.RequiredInput.EXIT_CODE, table.RequiredInput.TEST_RUN},
        ),
        (
            events.ToolFinished(HERE, CALL, "", "./run_tests.sh", 0),
            {table.RequiredInput.TREE_DIGEST, table.RequiredInput.TEST_RUN},
        ),
        (events.ToolFinished(HERE, CALL, "", "ls"), set()),
        (
            events.PromptSubmitted(HERE, "[workflow:quick] hi"),
            {
                *(table.RequiredInput.TOKENS, table.RequiredInput.PEER_SESSIONS, table.RequiredInput.TASKS),
                *(table.RequiredInput.FEATURES, table.RequiredInput.BASE_COMMIT),
            },
        ),
        (
            events.SubagentReturned(HERE, CALL, ""),
            {
                *(table.RequiredInput.TREE_DIGEST, table.RequiredInput.AGENT_ID),
                *(table.RequiredInput.CHANGED_FILES, table.RequiredInput.TASKS),
            },
        ),
        (
            events.SubagentRequested(HERE, CALL, "upbeat:developer", ""),
            {table.RequiredInput.TASKS, table.RequiredInput.FEATURES},
        ),
        (events.ToolStarting(HERE, CALL, "pytest -q"), set()),
    ],
)
def test_required_inputs(event: Any, expected: set[table.RequiredInput]) -> None:
    """A running workflow needs only the inputs that the handler of the event reads."""
    assert expected == table.required_inputs(event, running())


@pytest.mark.parametrize(
    "event",
    [
        events.ToolFinished(HERE, CALL, "", "pytest -q"),
        events.SubagentReturned(HERE, CALL, ""),
        events.TurnEnding(HERE, "Done.", False),
    ],
    ids=lambda event: type(event).__name__,
)
def test_nothing_is_needed_without_a_workflow(event: Any) -> None:
    """A session without a workflow needs no inputs for these events, and nothing is decided."""
    assert frozenset() == table.required_inputs(event, NEW_SESSION)
    assert NO_DECISION == table.decide(event, NEW_SESSION, Play().inputs())


def test_events_without_inputs() -> None:
    """An event for which the state is not loaded is none of those that need inputs."""
    needing = {events.SessionStarted, events.PromptSubmitted, events.WorkflowCommanded, events.TurnEnding}

    assert set() == needing & set(decision.EVENTS_WITHOUT_INPUTS)
