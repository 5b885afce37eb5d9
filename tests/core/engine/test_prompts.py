"""A prompt's turn leaves room for the workflow, and is not prepared for text that nobody wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.context import repo_context
from fakes.runtime import fake_world
from fakes.shop import PROMPT
from policy_play import HERE

from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.engine.evaluate import EventContext
from upbeat.core.engine.prompts import decide_prompt
from upbeat.core.sanitize.truncate import TextLimit
from upbeat.core.workflow.state import NEW_SESSION


@pytest.mark.parametrize(
    ("origin", "reason"),
    [
        (PromptOrigin.USER, None),
        (PromptOrigin.WRAPPED, LimitCode.PREPARED_ELSEWHERE),
        (PromptOrigin.TASK_NOTIFICATION, LimitCode.NOT_A_USER_PROMPT),
    ],
)
def test_only_prompts_of_the_user_are_prepared(origin: PromptOrigin, reason: LimitCode | None) -> None:
    """The record says why another prompt was skipped."""
    event = replace(PromptSubmitted(HERE, PROMPT), origin=origin)
    context = EventContext(event, fake_world().runtime, repo_context(), 0.0)
    decision = decide_prompt(event, context, NEW_SESSION, TextLimit(10_000))

    assert reason == (decision.skip_reason or None)
    assert (reason is None) == (decision.report is not None)
