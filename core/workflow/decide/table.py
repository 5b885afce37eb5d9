"""Dispatch an event to the workflow's handler for it, and say which inputs that handler needs."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from upbeat.core.contract import event as events
from upbeat.core.workflow.decide import loop, session, subagents
from upbeat.core.workflow.decide.command import parse_workflow_command
from upbeat.core.workflow.decide.next_step import tell_next_step
from upbeat.core.workflow.decision import NO_DECISION, WorkflowDecision, WorkflowInputs
from upbeat.core.workflow.facts import apply_facts
from upbeat.core.workflow.state import SessionState
from upbeat.core.workflow.verdict.evidence import can_be_evidence

EventHandler = Callable[[Any, SessionState, WorkflowInputs], WorkflowDecision]

EVENT_HANDLERS: dict[type, EventHandler] = {
    events.SessionStarted: session.on_session_started,
    events.SessionEnded: session.on_session_ended,
    events.PromptSubmitted: session.on_prompt_submitted,
    events.ToolStarting: session.on_tool_starting,
    events.ToolFinished: session.on_tool_finished,
    events.UserQuestionRequested: session.on_asking_user,
    events.SubagentRequested: subagents.on_subagent_requested,
    events.SubagentReturned: subagents.on_subagent_returned,
    events.SubagentStarted: subagents.on_agent_started,
    events.SubagentEnding: subagents.on_agent_stopped,
    events.TurnEnding: loop.on_turn_ending,
    events.TurnFailed: session.on_turn_failed,
    events.TurnInterrupted: session.on_turn_interrupted,
    events.WorkflowCommanded: session.on_workflow_commanded,
}


def decide(event: events.Event, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Return the workflow's decision on ``event``."""
    handler = EVENT_HANDLERS.get(type(event))
    decision = handler(event, state, inputs) if handler else NO_DECISION
    return decision + tell_next_step(event, apply_facts(decision.facts, state), inputs)


class RequiredInput(StrEnum):
    """An input that is expensive to gather, so it is gathered only for events that need it."""

    TREE_DIGEST = "tree_digest"
    TASKS = "tasks"
    TOKENS = "tokens"
    EXIT_CODE = "exit_code"
    AGENT_ID = "agent_id"
    PEER_SESSIONS = "peer_sessions"
    FEATURES = "features"
    BASE_COMMIT = "base_commit"
    CHANGED_FILES = "changed_files"
    """Only if a step that is at work needs them."""


EVENTS_WITHOUT_INPUTS = (
    *(events.ToolStarting, events.UserQuestionRequested, events.SubagentRequested, events.SubagentStarted),
    *(events.CompactionStarting, events.TurnFailed, events.TurnInterrupted, events.SessionEnded, events.UnknownEvent),
)
"""Events for which ``required_inputs`` is empty in every state, so the state need not be loaded first."""

EVENTS_OF_WORKFLOWS = (
    *(
        events.ToolStarting,
        events.ToolFinished,
        events.UserQuestionRequested,
        events.TurnEnding,
        events.TurnInterrupted,
    ),
    *(events.SubagentRequested, events.SubagentReturned, events.SubagentStarted, events.SubagentEnding),
)
"""Events for which ``decide`` returns ``NO_DECISION`` in a session without a workflow (see ``SessionState``)."""


_OF_OTHER_EVENTS = (RequiredInput.BASE_COMMIT, RequiredInput.CHANGED_FILES)


def required_inputs(event: events.Event, state: SessionState) -> frozenset[RequiredInput]:
    """Return the inputs that ``decide`` needs for this event in this state."""
    is_running = state.run is not None and state.run.is_running
    can_continue = state.run is not None and state.run.can_continue
    needed: set[RequiredInput] = set()
    match event:
        case events.SessionStarted():
            needed = {RequiredInput.TASKS, RequiredInput.PEER_SESSIONS}
        case events.PromptSubmitted() | events.WorkflowCommanded():
            needed = {RequiredInput.TOKENS, RequiredInput.PEER_SESSIONS, RequiredInput.FEATURES}
            if isinstance(event, events.WorkflowCommanded) or parse_workflow_command(event.prompt):
                needed.add(RequiredInput.BASE_COMMIT)
        case events.ToolFinished() if is_running and can_be_evidence(event.command):
            needed = {RequiredInput.TREE_DIGEST} | ({RequiredInput.EXIT_CODE} if event.exit_code is None else set())
        case events.SubagentReturned() if can_continue:
            needed = {RequiredInput.TREE_DIGEST, RequiredInput.CHANGED_FILES}
            needed |= set() if event.agent_id else {RequiredInput.AGENT_ID}
        case events.SubagentEnding() if can_continue:
            needed = {RequiredInput.TREE_DIGEST, RequiredInput.CHANGED_FILES}
        case events.TurnEnding() if is_running:
            needed = set(RequiredInput) - {RequiredInput.EXIT_CODE, RequiredInput.AGENT_ID, *_OF_OTHER_EVENTS}
        case _:
            pass
    return frozenset(needed)
