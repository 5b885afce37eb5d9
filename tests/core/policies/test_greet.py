"""When upbeat says that it is there."""

from __future__ import annotations

import pytest
from policy_play import HERE, IN_AGENT, IN_CODEX, ROOT, said_by, view_of

from upbeat.core.contract.effect import TellUser
from upbeat.core.contract.event import SessionStarted
from upbeat.core.policies.greet import POLICY
from upbeat.core.policies.policy import View
from upbeat.core.workflow.outcome import Caps

STARTED = SessionStarted(HERE, "startup")


@pytest.mark.parametrize(
    "event",
    [
        *(SessionStarted(HERE, how) for how in ("resume", "clear", "compact", "fork", "")),
        SessionStarted(IN_AGENT, "startup"),
    ],
)
def test_says_nothing_for(event: SessionStarted) -> None:
    """Nothing is said where a session goes on, nor in an agent."""
    assert () == said_by(POLICY, event)


@pytest.mark.parametrize("event", [STARTED, SessionStarted(IN_CODEX, "startup")])
def test_says(event: SessionStarted) -> None:
    """A person is told where it listens, in both languages."""
    text = "upbeat listens in repo; turns with work left may be sent on. `upbeat why` tells what it said and why."
    [chinese] = said_by(POLICY, event, language="zh")

    assert (TellUser(text),) == said_by(POLICY, event)
    assert chinese.text.startswith("upbeat 已在 repo 生效；")


def test_it_does_not_promise_what_is_off() -> None:
    """Where turns are not sent on it says so."""
    [effect] = POLICY.on[SessionStarted](STARTED, View(root=ROOT, caps=Caps(is_on=False))).effects

    assert "turns are not sent on (loop.enabled)" in effect.text


def test_its_user_asks_for_it() -> None:
    """It is off by default, and remembers nothing."""
    assert (False, None) == (POLICY.is_on, POLICY.on[SessionStarted](STARTED, view_of(POLICY)).notes)
