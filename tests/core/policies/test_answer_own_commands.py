"""Upbeat's own questions are answered without the model."""

from __future__ import annotations

import pytest
from policy_play import HERE, asked, said_by, silent

from upbeat.core.contract.effect import AnswerPrompt
from upbeat.core.contract.event import PromptSubmitted
from upbeat.core.policies.answer_own_commands import POLICY
from upbeat.core.policy.definition import PolicyContext
from upbeat.core.policy.queries import OwnReportQuery
from upbeat.core.workflow.state import SessionState

ORDINARY = ["/upbeat:auto add retries", "/upbeat:stop", "why?", "what does /upbeat:why do?", "/why", "upbeat:context"]
test_says_nothing_for = silent(
    [PromptSubmitted(HERE, prompt) for prompt in ORDINARY], lambda event: said_by(POLICY, event)
)


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("/upbeat:context", "context"),
        ("  $upbeat:why\n", "why"),
        ("/upbeat:status please", "status"),
        ("$upbeat:source-command-context", "context"),
    ],
)
def test_answers(prompt: str, name: str) -> None:
    """Each of the three commands is looked up, and the answer is for the user."""
    event = PromptSubmitted(HERE, prompt)
    handler = POLICY.handlers[PromptSubmitted]
    context = PolicyContext(query_results={OwnReportQuery(name): "the answer"})

    assert handler.queries
    assert (OwnReportQuery(name),) == handler.queries(event, SessionState())
    assert (AnswerPrompt("the answer"),) == asked(POLICY, event, context).effects


def test_without_an_answer_the_prompt_reaches_the_model() -> None:
    """Where the client would show nobody the answer, the model runs the command."""
    assert () == said_by(POLICY, PromptSubmitted(HERE, "/upbeat:why"))
