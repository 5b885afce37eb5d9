"""Tell the user at startup that upbeat is active."""

from __future__ import annotations

from upbeat.core.contract.effect import NotifyUser
from upbeat.core.contract.event import SessionStarted
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult


def _on_session_started(event: SessionStarted, context: PolicyContext) -> PolicyResult:
    if event.trigger != "startup":
        return NO_RESULT
    place = context.root.rstrip("/").rpartition("/")[2] or "/"
    loop = context.text("loop_on" if context.loop_limits.is_enabled else "loop_off")
    return PolicyResult((NotifyUser(context.text("text", place=place, loop=loop)),), "a session started")


POLICY = Policy(
    name="announce-startup",
    handlers={SessionStarted: Handler(_on_session_started, is_for_main_agent=True)},
    effects=(NotifyUser,),
    is_enabled_by_default=False,
    rank=95,
)
