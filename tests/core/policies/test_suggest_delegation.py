"""When whoever conducts a workflow is reminded of agents and skills."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_AGENT, Talk, call, finished

from upbeat.core.contract.event import Event, SubagentRequested, ToolKind
from upbeat.core.policies.suggest_delegation import CALL_THRESHOLD, POLICY
from upbeat.core.workflow.state import LoopState, RunStatus, SessionState, WorkflowRun, WorkflowStep

RUN = WorkflowRun("r", "standard", (WorkflowStep("DEV", "DEV", 0),))
EDIT = finished(call("Edit", ToolKind.EDIT))
DELEGATE = SubagentRequested(HERE, call("Agent", ToolKind.DELEGATE), "upbeat:developer", "do it")

SAYS_NOTHING: dict[str, tuple[SessionState, tuple[Event, ...]]] = {
    "no workflow": (SessionState(), (EDIT,) * 20),
    "a workflow that is over": (SessionState(run=replace(RUN, status=RunStatus.COMPLETE)), (EDIT,) * 20),
    "a user who talks of something else": (SessionState(run=RUN, loop=LoopState(is_paused=True)), (EDIT,) * 20),
    "fewer calls": (SessionState(run=RUN), (EDIT,) * (CALL_THRESHOLD - 1)),
    "work after a delegation": (SessionState(run=RUN), (DELEGATE, *(EDIT,) * 20)),
    "what an agent does": (SessionState(run=RUN), (finished(call("Edit", ToolKind.EDIT), source=IN_AGENT),) * 20),
    "the list of tasks": (SessionState(run=RUN), (finished(call("TodoWrite", ToolKind.TASK_LIST)),) * 20),
}


def talk_in(state: SessionState, language: str = "en") -> Talk:
    talk = Talk(POLICY, language=language)
    talk.state = state
    return talk


def say(talk: Talk, event: Event) -> object:
    """The effects; the run stays what it was."""
    run, loop = talk.state.run, talk.state.loop
    effects = talk.say(event)
    talk.state = replace(talk.state, run=run, loop=loop)
    return effects


@pytest.mark.parametrize(("state", "events"), SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_says_nothing_for(state: SessionState, events: tuple[Event, ...]) -> None:
    """Says nothing outside workflows, and nothing to who delegates."""
    talk = talk_in(state)

    assert [say(talk, event) for event in events] == [()] * len(events)


def test_is_off() -> None:
    """It is off until its user wants it."""
    assert not POLICY.is_enabled_by_default


@pytest.mark.parametrize(("language", "words"), [("en", "3 calls of your own"), ("zh", "已亲自操作 3 次")])
def test_says_once(language: str, words: str) -> None:
    """At the threshold it says so, in both languages, and never again."""
    talk = talk_in(SessionState(run=RUN), language)
    acts = (ToolKind.READ, ToolKind.SHELL, ToolKind.EDIT, *(ToolKind.SEARCH,) * 20)
    said = [say(talk, finished(call("x", act))) for act in acts]

    assert [index for index, effects in enumerate(said) if effects] == [CALL_THRESHOLD - 1]
    assert words in said[CALL_THRESHOLD - 1][0].text  # type: ignore[index]
