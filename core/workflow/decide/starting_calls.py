"""Decide on a call that is about to run. Imported by every guard of a session with a workflow, so it imports little."""

from __future__ import annotations

from upbeat.core.contract.effect import ApproveCall
from upbeat.core.contract.event import ToolKind, ToolStarting
from upbeat.core.workflow.decision import NO_DECISION, WorkflowDecision, make_explanation
from upbeat.core.workflow.facts import ToolUsed
from upbeat.core.workflow.handoff import handoff_path
from upbeat.core.workflow.state import SessionState


def on_tool_starting(event: ToolStarting, state: SessionState, handoff_folder: str) -> WorkflowDecision:
    """Note that the agent is working again after a continuation or a question; let it read whole handoffs."""
    loop = state.loop
    is_news = loop.was_continued or loop.consecutive_continuations or loop.has_asked_user or loop.waits_for
    decision = WorkflowDecision((ToolUsed(),)) if is_news else NO_DECISION
    return decision + _approve_handoff(event, state, handoff_folder)


def _approve_handoff(event: ToolStarting, state: SessionState, handoff_folder: str) -> WorkflowDecision:
    """Approve that a handoff of the run is read: its file is outside of the folders that a client reads unasked."""
    run, call = state.run, event.call
    if run is None or not handoff_folder or call.kind is not ToolKind.READ or not call.paths:
        return NO_DECISION
    files = {handoff_path(handoff_folder, run.id, step.key) for step in run.steps if step.handoff_chars}
    if not files.issuperset(call.paths):
        return NO_DECISION
    why = make_explanation("workflow", "approve", "it is a handoff of the run", paths=call.paths)
    return WorkflowDecision(effects=(ApproveCall("a handoff of the workflow"),), explanations=(why,))
