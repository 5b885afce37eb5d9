"""Which feature a command selects, and the answers if none or several match."""

from __future__ import annotations

import pytest
from policy_play import HERE, queried, said_by

from upbeat.core.contract.effect import Effect, InjectContext, NotifyUser
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.policies.start_feature import POLICY
from upbeat.core.policy.queries import FeaturesByStatus, FeaturesQuery
from upbeat.core.workflow.state import SessionState

PLANS = FeaturesByStatus(("retry-limit", "retry-queue"), ("login", "retry-limit-docs"))

SAYS_NOTHING = [
    "start work on retry-limit",
    "/start-feature retry-limit",
    "/upbeat:start retry-limit",
    "/upbeat:quick x",
    "",
]


def said(prompt: str, plans: FeaturesByStatus = PLANS, language: str = "en") -> tuple[Effect, ...]:
    return said_by(POLICY, PromptSubmitted(HERE, prompt), language, found={FeaturesQuery(): plans})


@pytest.mark.parametrize("prompt", SAYS_NOTHING)
def test_says_nothing_for(prompt: str) -> None:
    """A prompt without the command has no effect and queries nothing."""
    assert ((), ()) == (said(prompt), queried(POLICY, PromptSubmitted(HERE, prompt), SessionState()))


def test_the_prompt_of_a_subagent_is_no_command() -> None:
    """The prompt of a subagent is not a command."""
    assert () == queried(
        POLICY, PromptSubmitted(HERE, "/upbeat:start-feature x", PromptOrigin.SUBAGENT), SessionState()
    )


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("retry-limit", "specs/features/in-progress/retry-limit`"),
        ("Retry Limit", "specs/features/in-progress/retry-limit`"),
        ("`queue`", "specs/features/in-progress/retry-queue`"),
        ("login", "`upbeat features start login`"),
        ("log", "specs/features/backlog/login`"),
    ],
)
def test_starts(wanted: str, words: str) -> None:
    """A single matching feature is started, by its whole name first, then by part of it."""
    [effect] = said(f"$upbeat:start-feature {wanted}")

    assert (InjectContext, True) == (type(effect), words in effect.text)


def test_without_a_name() -> None:
    """Without a name the only feature in progress is meant, else the only one in the backlog."""
    [one] = said("/upbeat:start-feature", FeaturesByStatus(("retry-limit",), ("login",)))
    [waits] = said("/upbeat:start-feature", FeaturesByStatus((), ("login",)))

    assert (True, True) == ("in-progress/retry-limit" in one.text, "backlog/login" in waits.text)


@pytest.mark.parametrize(
    ("prompt", "plans", "kind", "words"),
    [
        ("/upbeat:start-feature retry", PLANS, InjectContext, "`retry-limit`, `retry-queue`, `retry-limit-docs`. Ask"),
        ("/upbeat:start-feature", PLANS, InjectContext, "`retry-limit`, `retry-queue`. Ask"),
        ("/upbeat:start-feature search", PLANS, NotifyUser, "no feature `search`. Available: `retry-limit`"),
        ("/upbeat:start-feature", FeaturesByStatus(), NotifyUser, "upbeat features new"),
    ],
)
def test_lists_the_features(prompt: str, plans: FeaturesByStatus, kind: type, words: str) -> None:
    """If several match, the agent asks which; if none matches, the user is notified."""
    [effect] = said(prompt, plans)

    assert (kind, True) == (type(effect), words in effect.text)
    assert said(prompt, plans, "zh") != (effect,)
