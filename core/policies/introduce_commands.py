"""Tell a new user, once, the three commands worth knowing."""

from __future__ import annotations

from upbeat.core.contract.effect import NotifyUser
from upbeat.core.contract.event import SessionStarted
from upbeat.core.policy.definition import (
    NO_RESULT,
    Handler,
    MarkIntroduced,
    Policy,
    PolicyContext,
    PolicyResult,
)
from upbeat.core.policy.queries import IsNewUserQuery, Query
from upbeat.core.workflow.state import SessionState


def _is_first_sight(event: SessionStarted) -> bool:
    return event.trigger == "startup" and not event.is_headless


def _queries(event: SessionStarted, _state: SessionState) -> tuple[Query, ...]:
    return (IsNewUserQuery(),) if _is_first_sight(event) else ()


def _on_session_started(event: SessionStarted, context: PolicyContext) -> PolicyResult:
    if not _is_first_sight(event) or not context.query_results.get(IsNewUserQuery()):
        return NO_RESULT
    text = context.text("text", mark="/" if context.client.expands_slash_commands else "$")
    return PolicyResult((NotifyUser(text),), "the user's first session", side_effects=(MarkIntroduced(),))


POLICY = Policy(
    name="introduce-commands",
    handlers={SessionStarted: Handler(_on_session_started, _queries, is_for_main_agent=True)},
    effects=(NotifyUser,),
    is_for_hooks=True,
    rank=94,
)
