"""Answer ``/upbeat:context``, ``/upbeat:why`` and ``/upbeat:status`` without asking the model."""

from __future__ import annotations

import re

from upbeat.core.contract.effect import AnswerPrompt
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import OwnReportQuery, Query
from upbeat.core.workflow.decide.command import display_command
from upbeat.core.workflow.state import SessionState


def _queries(event: PromptSubmitted, _state: SessionState) -> tuple[Query, ...]:
    name = display_command(event.prompt)
    return (OwnReportQuery(name),) if name else ()


def _on_prompt_submitted(event: PromptSubmitted, context: PolicyContext) -> PolicyResult:
    """Return the answer; nothing where the client would not show it, so that the command reaches the model."""
    name = display_command(event.prompt)
    text = context.query_results.get(OwnReportQuery(name)) if name else None
    return PolicyResult((AnswerPrompt(text),), f"the user asked for {name}") if text else NO_RESULT


POLICY = Policy(
    name="answer-own-commands",
    handlers={
        PromptSubmitted: Handler(
            _on_prompt_submitted, _queries, origins=(PromptOrigin.USER,), text=re.compile(r"\A\s*[/$]upbeat:")
        )
    },
    effects=(AnswerPrompt,),
    is_for_hooks=True,
    rank=5,
)
