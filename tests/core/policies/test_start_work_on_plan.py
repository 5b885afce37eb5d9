"""Which feature a user means, and what is said when none or several are meant."""

from __future__ import annotations

import pytest
from policy_play import HERE, said_by

from upbeat.core.contract.effect import Effect, Inject, TellUser
from upbeat.core.contract.event import Origin, PromptSubmitted
from upbeat.core.policies.look import Features, Plans
from upbeat.core.policies.start_work_on_plan import POLICY
from upbeat.core.workflow.state import SessionState

PLANS = Plans(("retry-limit", "retry-queue"), ("login", "retry-limit-docs"))

SAYS_NOTHING = [
    "start work on retry-limit",
    "/start-work retry-limit",
    "/upbeat:start retry-limit",
    "/upbeat:quick x",
    "",
]


def said(prompt: str, plans: Plans = PLANS, language: str = "en") -> tuple[Effect, ...]:
    return said_by(POLICY, PromptSubmitted(HERE, prompt), language, found={Features(): plans})


@pytest.mark.parametrize("prompt", SAYS_NOTHING)
def test_says_nothing_for(prompt: str) -> None:
    """Without the command nothing is said, and nothing looked up."""
    assert ((), ()) == (said(prompt), POLICY.looks(PromptSubmitted(HERE, prompt), SessionState()))


def test_an_agents_prompt_is_no_command() -> None:
    """Only the user takes up a plan."""
    assert () == POLICY.looks(PromptSubmitted(HERE, "/upbeat:start-work x", Origin.SUBAGENT), SessionState())


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("retry-limit", "specs/features/in-progress/retry-limit`"),
        ("Retry Limit", "specs/features/in-progress/retry-limit`"),
        ("`queue`", "specs/features/in-progress/retry-queue`"),
        ("login", "`upbeat specs start login`"),
        ("log", "specs/features/backlog/login`"),
    ],
)
def test_takes_up(wanted: str, words: str) -> None:
    """One feature that is meant is taken up: by its whole name first, then by part of it."""
    [effect] = said(f"$upbeat:start-work {wanted}")

    assert (Inject, True) == (type(effect), words in effect.text)


def test_without_a_name_the_one_in_progress_is_meant() -> None:
    """Of those in progress, and where there is none of those that wait."""
    [one] = said("/upbeat:start-work", Plans(("retry-limit",), ("login",)))
    [waits] = said("/upbeat:start-work", Plans((), ("login",)))

    assert (True, True) == ("in-progress/retry-limit" in one.text, "backlog/login" in waits.text)


@pytest.mark.parametrize(
    ("prompt", "plans", "kind", "words"),
    [
        ("/upbeat:start-work retry", PLANS, Inject, "`retry-limit`, `retry-queue`, `retry-limit-docs`. Ask"),
        ("/upbeat:start-work", PLANS, Inject, "`retry-limit`, `retry-queue`. Ask"),
        ("/upbeat:start-work search", PLANS, TellUser, "no feature `search`. There are: `retry-limit`"),
        ("/upbeat:start-work", Plans(), TellUser, "upbeat specs new"),
    ],
)
def test_says_what_there_is(prompt: str, plans: Plans, kind: type, words: str) -> None:
    """Of several the agent asks which; without one the person is told what there is; both in either language."""
    [effect] = said(prompt, plans)

    assert (kind, True) == (type(effect), words in effect.text)
    assert said(prompt, plans, "zh") != (effect,)
