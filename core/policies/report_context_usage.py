"""Tell an agent once how full its context window is.

Invariant: the numbers are the client's own, from its last answer. If the window size is unknown, nothing is said.
"""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import Event, PromptSubmitted, ToolFinished
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ContextUsage, ContextUsageQuery, Query
from upbeat.core.workflow.state import SessionState

USAGE_THRESHOLD = 0.70
"""Share of the context window from which usage is reported."""

_NAME = "report-context-usage"
_USAGE_QUERY = ContextUsageQuery()


def _reported_note(event: Event) -> str:
    """Return the note that the usage was reported to the agent of ``event``; each has its own window."""
    return f"reported {event.source.short_agent_id}"


def _queries(event: Event, state: SessionState) -> tuple[Query, ...]:
    return () if _reported_note(event) in state.notes_of(_NAME) else (_USAGE_QUERY,)


def _on_activity(event: ToolFinished | PromptSubmitted, context: PolicyContext) -> PolicyResult:
    usage: ContextUsage | None = context.query_results.get(_USAGE_QUERY)
    if usage is None or usage.fraction < USAGE_THRESHOLD or _reported_note(event) in context.notes:
        return NO_RESULT
    text = context.text("text", **usage.fields)
    return PolicyResult(
        (InjectContext(text),), f"{usage.percent} % of the context window", (*context.notes, _reported_note(event))
    )


POLICY = Policy(
    name=_NAME,
    handlers=dict.fromkeys((ToolFinished, PromptSubmitted), Handler(_on_activity, _queries)),
    effects=(InjectContext,),
    rank=75,
)
