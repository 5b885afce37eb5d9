"""When the main agent of a workflow is reminded to delegate."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_AGENT, Talk, call, finished, silent

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

test_says_nothing_for = silent(SAYS_NOTHING, lambda case: Talk(POLICY, state=case[0]).say_all(case[1]))


@pytest.mark.parametrize(("language", "words"), [("en", "3 calls of your own"), ("zh", "已亲自操作 3 次")])
def test_says_once(language: str, words: str) -> None:
    """The suggestion is made once, at the threshold, in both languages."""
    talk = Talk(POLICY, language=language, state=SessionState(run=RUN))
    acts = (ToolKind.READ, ToolKind.SHELL, ToolKind.EDIT, *(ToolKind.SEARCH,) * 20)
    said = [talk.say(finished(call("x", act))) for act in acts]

    assert [index for index, effects in enumerate(said) if effects] == [CALL_THRESHOLD - 1]
    assert words in said[CALL_THRESHOLD - 1][0].text
