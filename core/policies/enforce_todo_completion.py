"""Continue a turn while the agent's todo list has open items."""

from __future__ import annotations

import hashlib

from upbeat.core.contract.effect import ContinueTurn, NotifyUser
from upbeat.core.contract.event import Event, SessionStarted, ToolFinished, TurnEnding
from upbeat.core.lazy_dataclass import replace
from upbeat.core.policies import pursue_goal
from upbeat.core.policy.continuation import (
    TRACKED_EVENTS,
    ContinuationState,
    blocking_reason,
    load_continuation,
    record_allowed_turn,
    record_continuation,
    store_continuation,
    track_event,
)
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.task_list import open_tasks, update_task_list
from upbeat.core.sanitize.frame import SafeText

NAME = "enforce-todo-completion"
MAX_TURNS_WITHOUT_PROGRESS = 3
"""Continuations in a row without a change of the list."""
MAX_CONTINUATIONS = 8
"""Continuations between two prompts of the user; Claude Code itself allows as many."""
MAX_SHOWN = 5


def _track_event(event: Event, context: PolicyContext) -> PolicyResult:
    """Update the notes for any event but the end of a turn, while there is a list."""
    if isinstance(event, SessionStarted) and event.trigger == "clear":
        return PolicyResult(notes=())
    notes = update_task_list(context.notes, event)
    if not notes:
        return NO_RESULT
    before = load_continuation(notes)
    after = track_event(before, event, context.now)
    if after != before:
        notes = store_continuation(notes, after)
    return NO_RESULT if notes == context.notes else PolicyResult(notes=notes)


def _on_turn_ending(event: TurnEnding, context: PolicyContext) -> PolicyResult:
    continuation, tasks = load_continuation(context.notes), open_tasks(context.notes)
    if not tasks:
        return NO_RESULT
    if reason := blocking_reason(event, context, continuation) or pursue_goal.active_goal_reason(context.state):
        return PolicyResult(
            reason=f"not continued: {reason}",
            notes=store_continuation(context.notes, record_allowed_turn(continuation)),
        )
    digest = hashlib.sha256("\n".join(store_continuation(context.notes, ContinuationState())).encode()).hexdigest()[:16]
    stale = continuation.turns_without_progress + 1 if continuation.progress_digest == digest else 0
    if limit := _reached_limit(continuation, stale, context):
        return _stop_continuing(limit, tasks, continuation, context)
    text = context.text("text", count=len(tasks), tasks=_quote_tasks(tasks, context.language))
    after = record_continuation(continuation, context.now, digest, stale)
    return PolicyResult((ContinueTurn(text),), f"{len(tasks)} open items", store_continuation(context.notes, after))


def _reached_limit(continuation: ContinuationState, turns_without_progress: int, context: PolicyContext) -> str:
    """Return which limit ends the continuation, or an empty string."""
    limit = min(MAX_TURNS_WITHOUT_PROGRESS, context.loop_limits.max_turns_without_progress)
    if turns_without_progress >= limit:
        return context.text("no_progress_reason", count=limit)
    if continuation.continuations_since_prompt >= min(MAX_CONTINUATIONS, context.loop_limits.max_turns):
        return context.text("count_reason", count=continuation.continuations_since_prompt)
    return ""


def _stop_continuing(
    reason: str, tasks: tuple[str, ...], continuation: ContinuationState, context: PolicyContext
) -> PolicyResult:
    text = context.text("stopped", reason=reason, count=len(tasks), tasks=_quote_tasks(tasks, context.language))
    return PolicyResult(
        (NotifyUser(text),),
        f"ended: {reason}",
        store_continuation(context.notes, replace(continuation, is_stopped=True)),
    )


def _quote_tasks(tasks: tuple[str, ...], language: str) -> SafeText:
    quoted = [f"「{task}」" if language == "zh" else f'"{task}"' for task in tasks[:MAX_SHOWN]]
    return SafeText(("、" if language == "zh" else ", ").join(quoted) + (" …" if len(tasks) > MAX_SHOWN else ""))


POLICY = Policy(
    name=NAME,
    handlers={
        **dict.fromkeys(TRACKED_EVENTS, Handler(_track_event, needs_notes=True)),
        ToolFinished: Handler(_track_event),
        TurnEnding: Handler(_on_turn_ending, is_for_main_agent=True, needs_notes=True),
    },
    effects=(ContinueTurn, NotifyUser),
    survives_compaction=True,
    rank=30,
)
