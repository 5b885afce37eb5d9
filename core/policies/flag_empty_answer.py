"""Do not let an empty answer of a subagent pass for completed work."""

from __future__ import annotations

import re

from upbeat.core.contract.effect import ContinueTurn, InjectContext
from upbeat.core.contract.event import SubagentEnding, SubagentReturned
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult

MAX_EMPTY_ANSWER_CHARS = 60
"""A longer answer is not checked for content."""

_EMPTY_ANSWERS = frozenset(
    [
        *("done", "all done", "task done", "task complete", "task completed", "completed", "complete", "finished"),
        *("ok", "okay", "understood", "success", "no response requested", "no content", "no output", "none", "null"),
        *("i am done", "im done", "the task is done", "the task is complete", "the task has been completed"),
        *("完成", "已完成", "任务完成", "任务已完成", "完成了", "好的", "好", "明白"),
        *("已处理", "無", "无", "任務已完成"),
    ]
)
_NON_WORD = re.compile(r"[\W_]+")


def is_empty_answer(message: str) -> bool:
    """Return whether an answer is empty or says only that the work is done."""
    if len(message) > MAX_EMPTY_ANSWER_CHARS:
        return not message.strip()
    words = _NON_WORD.sub(" ", message.replace("'", "").lower()).strip()
    return not words or words in _EMPTY_ANSWERS


def _on_subagent_ending(event: SubagentEnding, context: PolicyContext) -> PolicyResult:
    if event.was_continued or not is_empty_answer(event.message):
        return NO_RESULT
    return PolicyResult((ContinueTurn(context.text("agent")),), "a subagent is ending without a report")


def _on_subagent_returned(event: SubagentReturned, context: PolicyContext) -> PolicyResult:
    if event.has_failed or event.message is None or not is_empty_answer(event.message):
        return NO_RESULT
    return PolicyResult((InjectContext(context.text("caller")),), "a subagent returned an empty answer")


POLICY = Policy(
    name="flag-empty-answer",
    handlers={SubagentEnding: Handler(_on_subagent_ending), SubagentReturned: Handler(_on_subagent_returned)},
    effects=(ContinueTurn, InjectContext),
    rank=60,
)
