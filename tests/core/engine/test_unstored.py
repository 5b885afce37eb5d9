"""Tests of upbeat.core.engine.unstored."""

from __future__ import annotations

import pytest
from workflow_play import started

from upbeat.core.contract.effect import ContinueTurn, Decision, Deny, EndTurn, InjectContext, NotifyUser
from upbeat.core.contract.event import (
    Call,
    ClientName,
    Event,
    EventSource,
    PromptOrigin,
    PromptSubmitted,
    SessionStarted,
    SubagentEnding,
    ToolStarting,
    TurnEnding,
)
from upbeat.core.engine.unstored import without_storage
from upbeat.core.workflow.facts import WorkflowStarted
from upbeat.core.workflow.state import NEW_SESSION, SessionState

SOURCE = EventSource(ClientName.CODEX_CLI, "/repo", "session")
RUNNING = started("single").state
BEGAN = (WorkflowStarted(started("single").run, 0.0),)


@pytest.mark.parametrize(
    ("event", "state", "facts", "effects", "expected"),
    [
        (SessionStarted(SOURCE, "startup"), NEW_SESSION, (), (), [NotifyUser]),
        (PromptSubmitted(SOURCE, "hello"), NEW_SESSION, (), (), []),
        (PromptSubmitted(SOURCE, "go on"), RUNNING, (), (), [NotifyUser, InjectContext]),
        (PromptSubmitted(SOURCE, "[workflow:single]"), NEW_SESSION, BEGAN, (), [NotifyUser, InjectContext]),
        (PromptSubmitted(SOURCE, "done", PromptOrigin.TASK_NOTIFICATION), RUNNING, (), (), []),
        (TurnEnding(SOURCE, "Done."), NEW_SESSION, (), (), []),
        (TurnEnding(SOURCE, "Done."), RUNNING, (), (ContinueTurn("next"),), [NotifyUser, ContinueTurn]),
        (TurnEnding(SOURCE, "Done."), NEW_SESSION, (), (ContinueTurn("goal"),), [NotifyUser, ContinueTurn]),
        (TurnEnding(SOURCE, "Done.", was_continued=True), RUNNING, (), (ContinueTurn("next"),), []),
        (TurnEnding(SOURCE, "Done."), RUNNING, (), (EndTurn("quiet"),), [EndTurn, NotifyUser]),
        (SubagentEnding(SOURCE, "a", "b", "c"), RUNNING, (), (ContinueTurn("say"),), [ContinueTurn]),
        (SubagentEnding(SOURCE, "a", "b", "c", was_continued=True), RUNNING, (), (ContinueTurn("say"),), []),
        (ToolStarting(SOURCE, Call("1", "Bash", {})), RUNNING, (), (Deny("no"),), [Deny]),
    ],
)
def test_what_happens_without_storage(
    event: Event,
    state: SessionState,
    facts: tuple[WorkflowStarted, ...],
    effects: tuple[Deny, ...],
    expected: list[type],
) -> None:
    """Who has a workflow is told, the model at the end of a turn once; guards stay, and nothing else continues."""
    decision = without_storage(event, Decision(effects), state, facts, "disk full", "en")

    assert expected == [type(effect) for effect in decision.effects]
    assert [] == [effect.text for effect in decision.effects if effect.text in ("next", "goal")]
    assert all("(disk full)" in effect.text for effect in decision.effects if isinstance(effect, NotifyUser))
