"""Suggest a compaction to the user before the client has to compact in the middle of a turn.

Invariant: it advises the user between two turns and compacts nothing itself. Between two stages of a workflow it
does so earlier, because little is lost there.
"""

from __future__ import annotations

from upbeat.core.contract.effect import RequestCompaction
from upbeat.core.contract.event import Event, PromptOrigin, PromptSubmitted, TurnEnding
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ContextUsage, ContextUsageQuery, Query
from upbeat.core.workflow.state import SessionState, StepStatus

USAGE_THRESHOLD = 0.78
"""Share of the context window from which a compaction is suggested."""
STAGE_USAGE_THRESHOLD = 0.60
"""The same between two stages of a workflow."""

_NAME = "suggest-compaction"
_SUGGESTED = "suggested"
_SUGGESTED_AFTER_STAGE = "suggested after a stage"
_USAGE_QUERY = ContextUsageQuery()


def _queries(_event: Event, state: SessionState) -> tuple[Query, ...]:
    return () if _SUGGESTED in state.notes_of(_NAME) else (_USAGE_QUERY,)


def _is_between_stages(state: SessionState) -> bool:
    """Return whether a step of the running workflow has ended, others are left, and none is being worked on."""
    if not state.run or not state.run.is_running:
        return False
    return {StepStatus.DONE, StepStatus.PENDING} == {step.status for step in state.run.steps}


def _on_turn_boundary(_event: TurnEnding | PromptSubmitted, context: PolicyContext) -> PolicyResult:
    usage: ContextUsage | None = context.query_results.get(_USAGE_QUERY)
    if usage is None or _SUGGESTED in context.notes:
        return NO_RESULT
    if usage.fraction >= USAGE_THRESHOLD:
        key, note = "text", _SUGGESTED
    elif usage.fraction >= STAGE_USAGE_THRESHOLD and not context.notes and _is_between_stages(context.state):
        key, note = "after_stage", _SUGGESTED_AFTER_STAGE
    else:
        return NO_RESULT
    effect = RequestCompaction(context.text(key, **usage.fields))
    return PolicyResult((effect,), f"{usage.percent} % of the context window", (note,))


POLICY = Policy(
    name=_NAME,
    handlers={
        TurnEnding: Handler(_on_turn_boundary, _queries, is_for_main_agent=True),
        PromptSubmitted: Handler(_on_turn_boundary, _queries, origins=(PromptOrigin.USER,), is_for_main_agent=True),
    },
    effects=(RequestCompaction,),
    rank=75,
)
