"""When a desktop notification is sent at the end of a turn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_AGENT, asked, view_of
from workflow_play import Play

from upbeat.core.contract.event import PromptSubmitted, TurnEnding
from upbeat.core.policies.notify_when_done import MIN_TURN_SECONDS, POLICY
from upbeat.core.policy.definition import Notify, SideEffect
from upbeat.core.workflow.state import PolicyNotes, SessionState

ENDS = TurnEnding(HERE, "Done.")
PLAY = Play()
PLAY.prompt("/upbeat:standard add retries")
TASKS = PolicyNotes("enforce-todo-completion", ("task open # write tests",))
GOAL = PolicyNotes("pursue-goal", ("goal ab12 900 all tests pass",))
QUIET = PolicyNotes("suspend-continuation", ("quiet",))


def done(
    event: TurnEnding = ENDS, state: SessionState | None = None, seconds: float = MIN_TURN_SECONDS, language: str = "en"
) -> tuple[SideEffect, ...]:
    view = view_of(POLICY, notes=("1000",), state=state, at=1000 + seconds, language=language)
    return asked(POLICY, event, view).side_effects


SAYS_NOTHING = {
    "a turn in which its user still looks on": done(seconds=MIN_TURN_SECONDS - 1),
    "agents in the background": done(replace(ENDS, background_task_count=1)),
    "an agent's own end": done(replace(ENDS, source=IN_AGENT)),
    "a workflow that runs": done(state=SessionState(run=PLAY.state.run)),
    "open tasks": done(state=SessionState(policy_notes=(TASKS,))),
    "a goal": done(state=SessionState(policy_notes=(GOAL,))),
}


@pytest.mark.parametrize("side_effects", SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_says_nothing_for(side_effects: tuple[SideEffect, ...]) -> None:
    """Nothing is shown while something goes on."""
    assert () == side_effects


def test_shows() -> None:
    """A turn that ends, one that asks, and one with suspended work left send a notification."""
    asks = replace(ENDS, message="Which one?")

    assert [(Notify("upbeat", "The agent in repo is done."),)] * 2 == [
        done(),
        done(state=SessionState(policy_notes=(TASKS, QUIET))),
    ]
    assert (Notify("upbeat", "The agent in repo has a question."),) == done(asks, SessionState(policy_notes=(TASKS,)))
    assert (Notify("upbeat", "repo：智能体已完成。"),) == done(language="zh")


def test_needs_the_prompt() -> None:
    """A turn whose prompt was not seen sends no notification."""
    view = view_of(POLICY, at=9999.0)

    assert (False, ()) == (POLICY.is_enabled_by_default, asked(POLICY, ENDS, view).side_effects)
    assert ("1000",) == asked(POLICY, PromptSubmitted(HERE, "add retries"), view_of(POLICY)).notes
