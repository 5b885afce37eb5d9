"""Tell the main agent what comes next as soon as a subagent has ended a step, so that this costs no turn.

What a client shows at the end of a subagent reaches only that subagent. The next event that reaches the main agent
tells it: the return of its delegating call, the result of another tool (such as one that waits for subagents), or the
prompt by which the client reports a background task.
"""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import Event, PromptOrigin, PromptSubmitted, SubagentReturned, ToolFinished
from upbeat.core.workflow.decision import NO_DECISION, WorkflowDecision, WorkflowInputs, make_explanation
from upbeat.core.workflow.facts import NextStepTold
from upbeat.core.workflow.prompts import can_delegate, format_step_keys, render_next_step_prompt
from upbeat.core.workflow.state import SessionState, current_steps


def tell_next_step(event: Event, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Inject the steps to delegate next if a subagent has ended a step and ``event`` reaches the main agent."""
    run, loop = state.run, state.loop
    if run is None or not run.has_untold_result or not run.is_running or loop.end_reason or loop.is_paused:
        return NO_DECISION
    if not can_delegate(run, inputs) or not inputs.can_inject or not _reaches_main_agent(event):
        return NO_DECISION
    why = make_explanation("workflow", "inject", "a subagent has returned", steps=format_step_keys(current_steps(run)))
    return WorkflowDecision((NextStepTold(),), (InjectContext(render_next_step_prompt(run, inputs)),), (why,))


def _reaches_main_agent(event: Event) -> bool:
    if event.source.agent_id:
        return False
    is_notification = isinstance(event, PromptSubmitted) and event.origin is PromptOrigin.TASK_NOTIFICATION
    return is_notification or isinstance(event, SubagentReturned | ToolFinished)
