"""How far a policy has continued turns, kept in its notes, and what blocks the next continuation.

Invariant: the rules of workflow loops apply to every policy. Questions, interruptions and the kill switch win; a
workflow continues alone; every continuation is counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from upbeat.core.contract.event import (
    CompactionStarting,
    Event,
    PromptOrigin,
    PromptSubmitted,
    SessionStarted,
    SubagentRequested,
    ToolStarting,
    TurnEnding,
    TurnFailed,
    TurnInterrupted,
    UserQuestionRequested,
)
from upbeat.core.lazy_dataclass import dataclass, fields, replace
from upbeat.core.policy.definition import PolicyContext
from upbeat.core.workflow.state import SessionState

SUSPENDING_POLICY = "suspend-continuation"
"""The policy whose notes suspend every continuation."""
AFTER_COMPACTION_SECONDS = 60.0
"""No continuation so soon after a compaction."""
COOLDOWN_SECONDS = 5.0
"""A turn that ends so soon after a continuation without a tool call has nothing left to do."""

_NOTE = "continuation "
_MAX_SCANNED_CHARS = 400
"""The ends of a prompt that are checked for a question; a long prompt would take 20 ms."""


@dataclass(frozen=True, slots=True)
class ContinuationState:
    """``continuations`` in total, ``continuations_since_prompt`` since the last prompt of the user.

    ``last_continued_at`` and ``compacted_at`` are in seconds since the epoch.
    """

    continuations: int = 0
    continuations_since_prompt: int = 0
    turns_without_progress: int = 0
    consecutive_failures: int = 0
    last_continued_at: float = 0.0
    compacted_at: float = 0.0
    progress_digest: str = ""
    """The state of the work at the last continuation."""
    is_paused: bool = False
    """The user asked something unrelated or interrupted: this turn may end."""
    is_awaiting_answer: bool = False
    """The agent asked the user through the client's tool and has done nothing since."""
    has_used_tools: bool = False
    """A tool was called since the last continuation."""
    is_stopped: bool = False
    """No continuation until the next prompt of the user."""


TRACKED_EVENTS = (
    PromptSubmitted,
    UserQuestionRequested,
    ToolStarting,
    SubagentRequested,
    TurnInterrupted,
    TurnFailed,
    CompactionStarting,
    SessionStarted,
)
"""The events that ``track_event`` handles."""


def is_continuation_off(state: SessionState) -> bool:
    """Return whether the user has suspended every continuation."""
    return bool(state.notes_of(SUSPENDING_POLICY))


def load_continuation(notes: Iterable[str]) -> ContinuationState:
    """Return the state in ``notes``; a new one if there is none or it is invalid."""
    note = next((note for note in notes if note.startswith(_NOTE)), "")
    if not note:
        return ContinuationState()
    try:
        stored: Any = json.loads(note[len(_NOTE) :])
        return ContinuationState(
            **{name: value for name, value in stored.items() if type(value) in _FIELD_TYPES.get(name, ())}
        )
    except (ValueError, AttributeError):
        return ContinuationState()


def store_continuation(notes: Iterable[str], continuation: ContinuationState) -> tuple[str, ...]:
    """Return ``notes`` with ``continuation``."""
    others = tuple(note for note in notes if not note.startswith(_NOTE))
    changed = {name: value for name, value in _values(continuation).items() if value != _DEFAULTS[name]}
    return (_NOTE + json.dumps(changed, separators=(",", ":")), *others) if changed else others


def track_event(continuation: ContinuationState, event: Event, now: float) -> ContinuationState:
    """Return the state after ``event``; the same object if nothing changes."""
    if event.source.agent_id:
        return continuation
    match event:
        case PromptSubmitted(origin=PromptOrigin.USER):
            return replace(
                continuation,
                continuations_since_prompt=0,
                turns_without_progress=0,
                consecutive_failures=0,
                progress_digest="",
                is_awaiting_answer=False,
                is_stopped=False,
                is_paused=_is_question(event),
            )
        case UserQuestionRequested():
            return replace(continuation, is_awaiting_answer=True)
        case ToolStarting() | SubagentRequested() if continuation.is_awaiting_answer or not continuation.has_used_tools:
            return replace(continuation, is_awaiting_answer=False, has_used_tools=True)
        case TurnInterrupted():
            return replace(continuation, is_paused=True)
        case TurnFailed():
            return replace(continuation, consecutive_failures=continuation.consecutive_failures + 1)
        case CompactionStarting() | SessionStarted(trigger="compact"):
            return replace(continuation, compacted_at=now)
        case _:
            return continuation


NO_TOOL_CALL = "no tool call since the last continuation"
"""Why a turn ends that was continued and brought only words."""


def blocking_reason(event: TurnEnding, context: PolicyContext, continuation: ContinuationState) -> str:
    """Return why this turn may end whatever is left to do; empty if it may be continued."""
    run = context.state.run
    if is_continuation_off(context.state):
        return "continuation is suspended"
    if run is not None and run.is_open:
        return "a workflow is running"
    conditions = (
        ("disabled by loop.enabled", not context.loop_limits.is_enabled),
        ("stopped until the next prompt", continuation.is_stopped),
        ("unrelated prompt or interruption", continuation.is_paused),
        ("the agent asked the user", continuation.is_awaiting_answer or _needs_answer(event, continuation)),
        ("plan mode", event.is_planning),
        ("background agents are running", bool(event.background_task_count)),
        ("just after a compaction", 0 <= context.now - continuation.compacted_at < AFTER_COMPACTION_SECONDS),
        (
            NO_TOOL_CALL,
            not continuation.has_used_tools and 0 <= context.now - continuation.last_continued_at < COOLDOWN_SECONDS,
        ),
    )
    return next((reason for reason, is_met in conditions if is_met), "")


def record_allowed_turn(continuation: ContinuationState) -> ContinuationState:
    """Return the state after a turn that was allowed to end."""
    return replace(continuation, is_paused=False, is_awaiting_answer=False)


def record_continuation(
    continuation: ContinuationState, now: float, progress_digest: str, turns_without_progress: int
) -> ContinuationState:
    """Return the state after a turn that was continued."""
    return replace(
        continuation,
        continuations=continuation.continuations + 1,
        continuations_since_prompt=continuation.continuations_since_prompt + 1,
        turns_without_progress=turns_without_progress,
        last_continued_at=now,
        progress_digest=progress_digest,
        consecutive_failures=0,
        has_used_tools=False,
    )


def _needs_answer(event: TurnEnding, continuation: ContinuationState) -> bool:
    """Return whether the turn ends in something for the user, or the agent asks again instead of working."""
    from upbeat.core.dialogue.endings import waits_for_user
    from upbeat.core.workflow.decide.loop import ends_in_question

    asks_again = continuation.continuations_since_prompt and not continuation.has_used_tools
    return waits_for_user(event.message) or bool(asks_again and ends_in_question(event.message))


def _is_question(event: PromptSubmitted) -> bool:
    """Return whether the prompt is a question; a statement is taken for an instruction about the work."""
    from upbeat.core.prompt.analysis import Intent
    from upbeat.core.prompt.classify import analyze_prompt
    from upbeat.core.prompt.quoted_spans import clip_prompt
    from upbeat.core.workflow.decide.loop import ends_in_question

    return (
        ends_in_question(event.prompt[-_MAX_SCANNED_CHARS:])
        or analyze_prompt(clip_prompt(event.prompt[:_MAX_SCANNED_CHARS])).likely_intent is Intent.DOCS
    )


def _values(continuation: ContinuationState) -> dict[str, Any]:
    return {part.name: getattr(continuation, part.name) for part in fields(continuation)}


_DEFAULTS = _values(ContinuationState())
_FIELD_TYPES = {name: (float, int) if isinstance(value, float) else (type(value),) for name, value in _DEFAULTS.items()}
