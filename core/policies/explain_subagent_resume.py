"""Tell the caller which call resumes a subagent."""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import SubagentReturned
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult


def _on_subagent_returned(event: SubagentReturned, context: PolicyContext) -> PolicyResult:
    if event.has_failed or not event.resume_call:
        return NO_RESULT
    return PolicyResult((InjectContext(context.text("text", call=event.resume_call)),), "a subagent was started")


POLICY = Policy(
    name="explain-subagent-resume",
    handlers={SubagentReturned: Handler(_on_subagent_returned)},
    effects=(InjectContext,),
    native_trait="explains_subagent_resume",
)
