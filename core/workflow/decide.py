"""One event, one state, one scene: what the workflow has to say. The table below is all there is to know."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from ..contract import event as events
from . import delegation, loop, session
from .outcome import NOTHING, Outcome, Scene
from .state import SessionState
from .witness import is_witness

Rule = Callable[[Any, SessionState, Scene], Outcome]

RULES: dict[type, Rule] = {
    events.SessionStarted: session.session_started,
    events.SessionEnded: session.session_ended,
    events.PromptSubmitted: session.prompt_submitted,
    events.ToolStarting: session.tool_starting,
    events.ToolFinished: session.tool_finished,
    events.AskingUser: session.asking_user,
    events.Delegating: delegation.delegating,
    events.Delegated: delegation.delegated,
    events.AgentStarted: delegation.agent_started,
    events.AgentStopped: delegation.agent_stopped,
    events.TurnEnding: loop.turn_ending,
    events.TurnFailed: session.turn_failed,
    events.TurnInterrupted: session.turn_interrupted,
    events.Commanded: session.commanded,
}


def decide(event: events.Event, state: SessionState, scene: Scene) -> Outcome:
    """What the workflow says to ``event``."""
    rule = RULES.get(type(event))
    return rule(event, state, scene) if rule else NOTHING


class Need(StrEnum):
    """What has to be looked up before an event can be decided on, because it costs."""

    TREE = "tree"
    TASKS = "tasks"
    TOKENS = "tokens"
    EXIT_CODE = "exit code"
    AGENT = "agent"
    NEIGHBOURS = "neighbours"
    FEATURES = "features"


NEEDS_NOTHING = (
    events.ToolStarting,
    events.AskingUser,
    events.Delegating,
    events.AgentStarted,
    events.Compacting,
    events.TurnFailed,
    events.TurnInterrupted,
    events.SessionEnded,
    events.UnknownEvent,
)
"""Events for which ``needs`` is empty whatever the state is: nobody has to read it beforehand."""


def needs(event: events.Event, state: SessionState) -> frozenset[Need]:
    """What ``decide`` wants to know for this event; what the state rules out is not looked up."""
    runs = state.run is not None and state.run.is_running
    listens = state.run is not None and state.run.can_go_on
    match event:
        case events.SessionStarted():
            return frozenset({Need.TASKS, Need.NEIGHBOURS})
        case events.PromptSubmitted() | events.Commanded():
            return frozenset({Need.TOKENS, Need.NEIGHBOURS, Need.FEATURES})
        case events.ToolFinished() if runs and is_witness(event.command):
            unknown = {Need.EXIT_CODE} if event.exit_code is None else set()
            return frozenset({Need.TREE} | unknown)
        case events.Delegated() if listens:
            unknown = set() if event.agent_id else {Need.AGENT}
            return frozenset({Need.TREE} | unknown)
        case events.AgentStopped() if listens:
            return frozenset({Need.TREE})
        case events.TurnEnding() if runs:
            return frozenset({Need.TREE, Need.TASKS, Need.TOKENS, Need.NEIGHBOURS, Need.FEATURES})
        case _:
            return frozenset()
