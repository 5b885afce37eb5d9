"""When the desktop tells that a turn is over."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_AGENT, view_of
from workflow_play import Play

from upbeat.core.contract.event import PromptSubmitted, TurnEnding
from upbeat.core.policies.errand import Errand, Notify
from upbeat.core.policies.notify_user import POLICY, SHORTEST_SECONDS
from upbeat.core.workflow.state import Page, SessionState

ENDS = TurnEnding(HERE, "Done.")
PLAY = Play()
PLAY.prompt("/upbeat:standard add retries")
TASKS = Page("finish-todo-list", ("task open # write tests",))
GOAL = Page("pursue-goal", ("goal ab12 900 all tests pass",))
QUIET = Page("silence-continuation", ("quiet",))


def done(
    event: TurnEnding = ENDS, state: SessionState | None = None, seconds: float = SHORTEST_SECONDS, language: str = "en"
) -> tuple[Errand, ...]:
    view = view_of(POLICY, notes=("1000",), state=state, at=1000 + seconds, language=language)
    return POLICY.on[TurnEnding](event, view).errands


SAYS_NOTHING = {
    "a turn in which its user still looks on": done(seconds=SHORTEST_SECONDS - 1),
    "agents in the background": done(replace(ENDS, running=1)),
    "an agent's own end": done(replace(ENDS, source=IN_AGENT)),
    "a workflow that runs": done(state=SessionState(run=PLAY.state.run)),
    "open tasks": done(state=SessionState(notebook=(TASKS,))),
    "a goal": done(state=SessionState(notebook=(GOAL,))),
}


@pytest.mark.parametrize("errands", SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_says_nothing_for(errands: tuple[Errand, ...]) -> None:
    """Nothing is shown while something goes on."""
    assert () == errands


def test_shows() -> None:
    """A turn that is over, one that asks, and one that is silenced with work left."""
    asks = replace(ENDS, message="Which one?")

    assert [(Notify("upbeat", "The agent is done in repo."),)] * 2 == [
        done(),
        done(state=SessionState(notebook=(TASKS, QUIET))),
    ]
    assert (Notify("upbeat", "The agent asks you something in repo."),) == done(asks, SessionState(notebook=(TASKS,)))
    assert (Notify("upbeat", "repo：代理已完成。"),) == done(language="zh")


def test_its_user_asks_for_it() -> None:
    """It is off by default, and needs to have seen the prompt."""
    view = view_of(POLICY, at=9999.0)

    assert (False, ()) == (POLICY.is_on, POLICY.on[TurnEnding](ENDS, view).errands)
    assert ("1000",) == POLICY.on[PromptSubmitted](PromptSubmitted(HERE, "add retries"), view_of(POLICY)).notes
