"""The message at the start of a session."""

from __future__ import annotations

import pytest
from policy_play import HERE, IN_AGENT, IN_CODEX, ROOT, asked, said_by, silent

from upbeat.core.contract.effect import NotifyUser
from upbeat.core.contract.event import SessionStarted
from upbeat.core.policies.announce_startup import POLICY
from upbeat.core.policy.definition import PolicyContext
from upbeat.core.workflow.decision import LoopLimits

STARTED = SessionStarted(HERE, "startup")

SAYS_NOTHING = [SessionStarted(HERE, trigger) for trigger in ("resume", "clear", "compact", "fork", "")]
test_says_nothing_for = silent(
    [*SAYS_NOTHING, SessionStarted(IN_AGENT, "startup")], lambda event: said_by(POLICY, event)
)


@pytest.mark.parametrize("event", [STARTED, SessionStarted(IN_CODEX, "startup")])
def test_says(event: SessionStarted) -> None:
    """The user is notified in which repository upbeat is active, in both languages."""
    text = "upbeat is active in repo; unfinished turns may be continued. Run `upbeat why` to see what it does and why."
    [chinese] = said_by(POLICY, event, language="zh")

    assert (NotifyUser(text),) == said_by(POLICY, event)
    assert chinese.text.startswith("upbeat 已在 repo 启用；")


def test_says_if_turns_are_not_continued() -> None:
    """The message says so if turns are not continued."""
    [effect] = asked(POLICY, STARTED, PolicyContext(root=ROOT, loop_limits=LoopLimits(is_enabled=False))).effects

    assert "turns are not continued (loop.enabled)" in effect.text
