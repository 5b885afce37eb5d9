"""Tell the caller which call resumes a subagent."""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import SubagentReturned
from upbeat.core.policy.definition import NO_RESULT, Handler, LocalizedText, Policy, PolicyContext, PolicyResult

_TEXT = LocalizedText(
    "To continue with this subagent (answer its question, correct it, give it more of the same work), call {call}: it "
    "still has its context. A new subagent starts from scratch.",
    "若要让这个子代理继续（回答它的问题、纠正、补充同类工作），请调用 {call}：它仍保留上下文；新的子代理要从零开始。",
)


def _on_subagent_returned(event: SubagentReturned, context: PolicyContext) -> PolicyResult:
    if event.has_failed or not event.resume_call:
        return NO_RESULT
    return PolicyResult(
        (InjectContext(_TEXT.localize(context.language).format(call=event.resume_call)),), "a subagent was started"
    )


POLICY = Policy(
    name="explain-subagent-resume",
    handlers={SubagentReturned: Handler(_on_subagent_returned)},
    effects=(InjectContext,),
    native_trait="explains_subagent_resume",
)
