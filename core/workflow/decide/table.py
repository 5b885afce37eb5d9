"""Dispatch an event to the workflow's handler for it, and say which inputs that handler needs."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from upbeat.core.contract import event as events
from upbeat.core.workflow.decide import loop, session, subagents
from upbeat.core.workflow.decide.command import parse_workflow_command
from upbeat.core.workflow.decide.features import find_new_feature
from upbeat.core.workflow.decide.next_step import tell_next_step
from upbeat.core.workflow.decide.starting_calls import on_tool_starting
from upbeat.core.workflow.decision import NO_DECISION, WorkflowDecision, WorkflowInputs
from upbeat.core.workflow.facts import FeatureAssigned, apply_facts
from upbeat.core.workflow.state import SessionState
from upbeat.core.workflow.verdict.evidence import may_be_check

EventHandler = Callable[[Any, SessionState, WorkflowInputs], WorkflowDecision]

EVENT_HANDLERS: dict[type, EventHandler] = {
    events.SessionStarted: session.on_session_started,
    events.SessionEnded: session.on_session_ended,
    events.PromptSubmitted: session.on_prompt_submitted,
    events.ToolStarting: lambda event, state, inputs: on_tool_starting(event, state, inputs.handoff_folder),
    events.ToolFinished: session.on_tool_finished,
    events.UserQuestionRequested: session.on_asking_user,
    events.SubagentRequested: subagents.on_subagent_requested,
    events.SubagentReturned: subagents.on_subagent_returned,
    events.SubagentStarted: subagents.on_agent_started,
    events.SubagentEnding: subagents.on_agent_stopped,
    events.TurnEnding: loop.on_turn_ending,
    events.TurnFailed: session.on_turn_failed,
    events.TurnInterrupted: session.on_turn_interrupted,
    events.AnswerLost: session.on_answer_lost,
    events.WorkflowCommanded: session.on_workflow_commanded,
}


def decide(event: events.Event, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Return the workflow's decision on ``event``."""
    handler = EVENT_HANDLERS.get(type(event))
    begun = _assign_feature(event, state, inputs)
    state = apply_facts(begun.facts, state)
    decision = begun + handler(event, state, inputs) if handler else NO_DECISION
    return decision + tell_next_step(event, apply_facts(decision.facts, state), inputs)


def _assign_feature(event: events.Event, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Return the run's feature as soon as a delegation shows it; the end of a turn does the same."""
    if state.run is None or not isinstance(event, events.SubagentRequested):
        return NO_DECISION
    feature = find_new_feature(state.run, inputs.features_in_progress)
    return WorkflowDecision((FeatureAssigned(feature),)) if feature else NO_DECISION


class RequiredInput(StrEnum):
    """An input that is expensive to gather, so it is gathered only for events that need it."""

    TREE_DIGEST = "tree_digest"
    TASKS = "tasks"
    TOKENS = "tokens"
    EXIT_CODE = "exit_code"
    TEST_RUN = "test_run"
    AGENT_ID = "agent_id"
    PEER_SESSIONS = "peer_sessions"
    FEATURES = "features"
    BASE_COMMIT = "base_commit"
    CHANGED_FILES = "changed_files"
    """Only if a step that is at work needs them."""


_OF_OTHER_EVENTS = (RequiredInput.BASE_COMMIT, RequiredInput.CHANGED_FILES)


def required_inputs(event: events.Event, state: SessionState) -> frozenset[RequiredInput]:
    """Return the inputs that ``decide`` needs for this event in this state."""
    is_running = state.run is not None and state.run.is_running
    can_continue = state.run is not None and state.run.can_continue
    needed: set[RequiredInput] = set()
    match event:
        case events.SessionStarted():
            needed = {RequiredInput.TASKS, RequiredInput.PEER_SESSIONS, RequiredInput.FEATURES}
        case events.PromptSubmitted() | events.WorkflowCommanded():
            needed = {RequiredInput.TOKENS, RequiredInput.PEER_SESSIONS, RequiredInput.FEATURES, RequiredInput.TASKS}
            if isinstance(event, events.WorkflowCommanded) or parse_workflow_command(event.prompt):
                needed.add(RequiredInput.BASE_COMMIT)
        case events.ToolFinished() if is_running and may_be_check(event.command):
            needed = {RequiredInput.TREE_DIGEST, RequiredInput.TEST_RUN}
            needed |= {RequiredInput.EXIT_CODE} if event.exit_code is None else set()
            needed |= {RequiredInput.TASKS} if state.run and state.run.has_untold_result else set()
        case events.ToolFinished() if state.run and state.run.has_untold_result:
            needed = {RequiredInput.TASKS}
        case events.SubagentRequested() if is_running:
            needed = {RequiredInput.TASKS, RequiredInput.FEATURES}
        case events.SubagentStarted() if is_running:
            needed = {RequiredInput.TASKS}
        case events.SubagentReturned() if can_continue:
            needed = {RequiredInput.TREE_DIGEST, RequiredInput.CHANGED_FILES, RequiredInput.TASKS}
            needed |= set() if event.agent_id else {RequiredInput.AGENT_ID}
        case events.SubagentEnding() if can_continue:
            needed = {RequiredInput.TREE_DIGEST, RequiredInput.CHANGED_FILES, RequiredInput.TASKS}
        case events.TurnEnding() if is_running:
            needed = set(RequiredInput) - {RequiredInput.EXIT_CODE, RequiredInput.AGENT_ID, *_OF_OTHER_EVENTS}
        case _:
            pass
    return frozenset(needed)
