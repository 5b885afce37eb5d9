"""Suggest a compaction to the user before the client has to compact in the middle of a turn.

Invariant: it advises the user between two turns and compacts nothing itself.
"""

from __future__ import annotations

from upbeat.core.contract.effect import RequestCompaction
from upbeat.core.contract.event import Event, PromptOrigin, PromptSubmitted, TurnEnding
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ContextUsage, ContextUsageQuery, Query
from upbeat.core.workflow.state import SessionState

USAGE_THRESHOLD = 0.78
"""Share of the context window from which a compaction is suggested."""

_NAME = "suggest-compaction"
_SUGGESTED = "suggested"
_USAGE_QUERY = ContextUsageQuery()


def _queries(_event: Event, state: SessionState) -> tuple[Query, ...]:
    return () if state.notes_of(_NAME) else (_USAGE_QUERY,)


def _on_turn_boundary(_event: TurnEnding | PromptSubmitted, context: PolicyContext) -> PolicyResult:
    usage: ContextUsage | None = context.query_results.get(_USAGE_QUERY)
    if usage is None or usage.fraction < USAGE_THRESHOLD or context.notes:
        return NO_RESULT
    text = context.text("text", **usage.fields)
    return PolicyResult((RequestCompaction(text),), f"{usage.percent} % of the context window", (_SUGGESTED,))


POLICY = Policy(
    name=_NAME,
    handlers={
        TurnEnding: Handler(_on_turn_boundary, _queries, is_for_main_agent=True),
        PromptSubmitted: Handler(_on_turn_boundary, _queries, origins=(PromptOrigin.USER,), is_for_main_agent=True),
    },
    effects=(RequestCompaction,),
    rank=75,
)
