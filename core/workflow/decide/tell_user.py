"""End a loop that has not succeeded: the user is told, and the turn is continued once, so that the model says it too.

A message of a hook is not shown by every client (not by headless ones), but the model's last words are.

Invariant: one continuation per end. The end of the loop is recorded with it, and a loop that has ended continues no
turn; with ``loop.enabled = "off"`` there is none at all.
"""

from __future__ import annotations

from upbeat.core.contract.effect import ContinueTurn, Effect, NotifyUser
from upbeat.core.messages.catalogue import format_count
from upbeat.core.sanitize.text import sanitize_inline
from upbeat.core.workflow.decision import WorkflowDecision, WorkflowInputs, make_explanation
from upbeat.core.workflow.facts import LoopEnded
from upbeat.core.workflow.prompts import describe_end_reason, format_progress, format_unfinished_steps
from upbeat.core.workflow.state import RunStatus, WorkflowRun

MAX_NOTES_CHARS = 300


def tell_user(run: WorkflowRun, text: str, inputs: WorkflowInputs) -> tuple[Effect, ...]:
    """Return the effects that tell the user ``text``, and let the model repeat it unless the loop is disabled."""
    if not inputs.limits.is_enabled:
        return (NotifyUser(text),)
    notes = (
        f"{step.key}: {sanitize_inline(step.failure_notes, MAX_NOTES_CHARS)}"
        for step in run.steps
        if step.failure_notes and not step.has_passed
    )
    return (NotifyUser(text), ContinueTurn("\n".join([inputs.messages["tell_the_user"], text, *notes])))


def describe_end(run: WorkflowRun, code: str, inputs: WorkflowInputs) -> str:
    """Return the sentence for the user about a run that ended for the reason ``code`` (``SessionState.needs_user``)."""
    if code != RunStatus.NEEDS_HUMAN:
        return inputs.messages["loop_ended"].format(
            workflow=run.workflow,
            reason=describe_end_reason(code, inputs.limits.max_turns_without_progress, inputs.language),
            steps=format_unfinished_steps(run) or format_progress(run),
        )
    step = run.find_step(run.reason)
    attempts = format_count("time", step.attempts if step else 0, inputs.language)
    return inputs.messages["waits_for_user"].format(workflow=run.workflow, step=run.reason, attempts=attempts)


def wait_for_user(run: WorkflowRun, inputs: WorkflowInputs) -> WorkflowDecision:
    """End the loop because a step has used all its attempts."""
    code = RunStatus.NEEDS_HUMAN.value
    why = make_explanation("loop", "waits_for_user", f"{run.reason} has used all its attempts")
    return WorkflowDecision((LoopEnded(code),), tell_user(run, describe_end(run, code, inputs), inputs), (why,))


def end_loop(run: WorkflowRun, code: str, inputs: WorkflowInputs, **used: object) -> WorkflowDecision:
    """End the loop for the reason ``code``; ``used`` are the numbers that were compared with the limits."""
    reason = describe_end_reason(code, inputs.limits.max_turns_without_progress, "en")
    why = make_explanation("loop", "ended", reason, "", **used)
    return WorkflowDecision((LoopEnded(code),), tell_user(run, describe_end(run, code, inputs), inputs), (why,))
