"""Send a desktop notification when a turn ends and nothing is left to do."""

from __future__ import annotations

from upbeat.core.contract.event import PromptOrigin, PromptSubmitted, TurnEnding
from upbeat.core.policies import enforce_todo_completion, pursue_goal
from upbeat.core.policy.continuation import is_continuation_off
from upbeat.core.policy.definition import NO_RESULT, Handler, Notify, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.task_list import open_tasks
from upbeat.core.workflow.decide.loop import ends_in_question

MIN_TURN_SECONDS = 30.0
"""After a shorter turn the user is still there."""

_TITLE = "upbeat"


def _on_prompt_submitted(_event: PromptSubmitted, context: PolicyContext) -> PolicyResult:
    return PolicyResult(notes=(f"{context.now:.0f}",))


def _on_turn_ending(event: TurnEnding, context: PolicyContext) -> PolicyResult:
    started_at = context.notes[0]
    if event.background_task_count or not started_at.isdecimal():
        return NO_RESULT
    if context.now - float(started_at) < MIN_TURN_SECONDS:
        return NO_RESULT
    asks = ends_in_question(event.message)
    if not asks and _will_continue(context):
        return NO_RESULT
    place = context.root.rstrip("/").rpartition("/")[2] or "/"
    text = context.text("asks" if asks else "done", place=place)
    return PolicyResult(reason="the turn ended", side_effects=(Notify(_TITLE, text),))


def _will_continue(context: PolicyContext) -> bool:
    """Return whether a workflow, a goal or open todo items may continue the turn."""
    state = context.state
    if is_continuation_off(state):
        return False
    if state.run is not None and state.run.is_running and not state.loop.end_reason:
        return True
    return bool(pursue_goal.active_goal_reason(state) or open_tasks(state.notes_of(enforce_todo_completion.NAME)))


POLICY = Policy(
    name="notify-when-done",
    handlers={
        PromptSubmitted: Handler(_on_prompt_submitted, origins=(PromptOrigin.USER,)),
        TurnEnding: Handler(_on_turn_ending, is_for_main_agent=True, needs_notes=True),
    },
    is_enabled_by_default=False,
    survives_compaction=True,
    rank=90,
)
